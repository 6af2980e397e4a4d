// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.S3E;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.FileInfo;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.PositionOutputStream;
import org.apache.iceberg.io.SeekableInputStream;
import org.apache.iceberg.io.StorageCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A catalog's file IO for tables on S3, which S3E reads, and elsewhere. */
class ResolvingTest {
  private static final String KEY = "data/file";
  private static final byte[] CONTENT = {1, 2, 3};

  private HostileStore store;

  @BeforeEach
  void open() throws IOException {
    store = new HostileStore();
    store.put(KEY, CONTENT);
  }

  @AfterEach
  void close() throws IOException {
    store.close();
  }

  /** As a catalog makes it. */
  private static S3EResolvingFileIO load(Map<String, String> properties) {
    return (S3EResolvingFileIO)
        CatalogUtil.loadFileIO(
            S3EResolvingFileIO.class.getName(), properties, new Configuration(false));
  }

  private static byte[] read(InputFile file) throws IOException {
    try (SeekableInputStream in = file.newStream()) {
      return in.readAllBytes();
    }
  }

  private static void write(FileIO io, String location) throws IOException {
    try (PositionOutputStream out = io.newOutputFile(location).create()) {
      out.write(CONTENT);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"s3", "s3a", "s3n"})
  void filesOnS3AreReadByS3e(String scheme) throws IOException {
    String location = scheme + "://" + HostileStore.BUCKET + "/" + KEY;
    try (S3EResolvingFileIO io = load(store.properties())) {
      assertThat(read(io.newInputFile(location, CONTENT.length))).isEqualTo(CONTENT);
      InputFile unmeasured = io.newInputFile(location);
      assertThat(unmeasured.getLength()).isEqualTo(CONTENT.length);
      assertThat(read(unmeasured)).isEqualTo(CONTENT);
      assertThat(store.server.gets())
          .isNotEmpty()
          .allMatch(request -> String.valueOf(request.header("User-Agent")).contains("S3E/"));
    }
  }

  /** One after the other and back, by one file IO. */
  @Test
  void filesOfOtherSchemesAreReadByWhatIcebergHasForThem(@TempDir Path directory) throws Exception {
    String local = directory.resolve("local").toUri().toString();
    try (Store written = new Store();
        S3EResolvingFileIO io = load(written.properties())) {
      for (String location : List.of(Store.location("written/a"), local)) {
        boolean isS3 = location.startsWith("s3:");
        write(io, location);
        InputFile file = io.newInputFile(location, CONTENT.length);
        assertThat(file instanceof S3EInputFile).as(location).isEqualTo(isS3);
        assertThat(read(file)).isEqualTo(CONTENT);
        assertThat(read(io.newInputFile(location))).isEqualTo(CONTENT);
        String prefix = location.substring(0, location.lastIndexOf('/'));
        assertThat(StreamSupport.stream(io.listPrefix(prefix).spliterator(), false))
            .extracting(FileInfo::size)
            .contains((long) CONTENT.length);
      }
      io.deleteFiles(List.of(Store.location("written/a"), local));
      assertThat(io.newInputFile(local).exists()).isFalse();
      assertThat(io.newInputFile(Store.location("written/a")).exists()).isFalse();
    }
  }

  @Test
  void allFilesOnS3AreOfOneTenantWhichIsClosedWithIt() throws IOException {
    String location = HostileStore.location(KEY);
    S3EResolvingFileIO io = load(store.properties());
    assertThat(read(io.newInputFile(location, CONTENT.length))).isEqualTo(CONTENT);
    S3EFileIO reads = io.reads();
    S3E tenant = StreamTenants.tenant(reads, location);
    assertThat(read(io.newInputFile(location, CONTENT.length))).isEqualTo(CONTENT);
    assertThat(io.reads()).isSameAs(reads);
    assertThat(StreamTenants.tenant(reads, location)).isSameAs(tenant);
    io.close();
    assertThat(StreamTenants.isClosed(tenant)).isTrue();

    store.open(io, "s3e.client", "s3fileio");
    assertThat(read(io.newInputFile(location, CONTENT.length))).isEqualTo(CONTENT);
    assertThat(StreamTenants.tenant(io.reads(), location).client().name()).isEqualTo("iceberg");
    io.close();
  }

  /** Up to 1.9 Iceberg has one client for all prefixes, which signs with the catalog's. */
  @Test
  @Tag("iceberg-1.11")
  void vendedCredentialsSignAndAreSetAnew() throws IOException {
    S3EResolvingFileIO io = new S3EResolvingFileIO();
    // As a catalog does it: before there are properties.
    io.setCredentials(List.of(vended("firsts")));
    try (io) {
      store.open(io);
      for (String each : List.of("firsts", "seconds")) {
        io.setCredentials(List.of(vended(each)));
        store.server.forgetRequests();
        assertThat(read(io.newInputFile(HostileStore.location(KEY), CONTENT.length)))
            .isEqualTo(CONTENT);
        assertThat(store.signers("data")).containsExactly(each);
      }
    }
  }

  private static StorageCredential vended(String keyId) {
    return StorageCredential.create(
        HostileStore.location("data/"),
        Map.of("s3.access-key-id", keyId, "s3.secret-access-key", "secret"));
  }

  @Test
  void aBadValueIsToldWhenItIsMadeAndAnUnknownPropertyOnce() throws IOException {
    assertThatThrownBy(() -> load(store.properties("s3e.memory.budget", "much")))
        .hasMessageContaining("s3e.memory.budget is \"much\"");
    // Another in each run: one JVM tells of it once.
    String name = "s3e.memory.buget-" + System.nanoTime();
    try (CapturedLog log = new CapturedLog();
        S3EResolvingFileIO io = load(store.properties(name, "64M"))) {
      assertThat(read(io.newInputFile(HostileStore.location(KEY), CONTENT.length)))
          .isEqualTo(CONTENT);
      assertThat(log.lines(name + " is no property")).hasSize(1);
    }
  }

  /** Its finalizer would close what they read by. */
  @Test
  @Slow
  void aStreamKeepsItsFileIoOpen() throws Exception {
    WeakReference<?>[] forgotten = new WeakReference<?>[1];
    try (SeekableInputStream in = streamOfAForgottenIo(forgotten)) {
      Store.collectGarbage();
      assertThat(forgotten[0].get()).isNotNull();
      assertThat(in.readAllBytes()).isEqualTo(CONTENT);
    }
  }

  private SeekableInputStream streamOfAForgottenIo(WeakReference<?>[] forgotten) {
    S3EResolvingFileIO io = load(store.properties());
    forgotten[0] = new WeakReference<>(io);
    return io.newInputFile(HostileStore.location(KEY), CONTENT.length).newStream();
  }
}
