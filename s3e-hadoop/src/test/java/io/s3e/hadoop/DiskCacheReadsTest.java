// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.Engines;
import io.s3e.hadoop.client.OpenEngines;
import io.s3e.metrics.DiskMetrics;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.alias.CredentialProvider;
import org.apache.hadoop.security.alias.CredentialProviderFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The cache on disk behind Hadoop's file system. */
@Tag("any-hadoop")
@Timeout(120)
class DiskCacheReadsTest {
  private static final int SIZE = 3 << 20;
  private static final org.apache.hadoop.fs.Path FILE =
      new org.apache.hadoop.fs.Path("/disk-cache/file");
  private static final String SECRET = Base64.getEncoder().encodeToString(new byte[32]);

  @TempDir private Path temp;

  private RecordingProxy proxy;
  private Configuration conf;
  private final byte[] data = S3AReads.random(SIZE);

  @BeforeEach
  void startProxy() throws Exception {
    proxy = new RecordingProxy(S3AServer.endpoint());
    conf = S3AReads.small(S3AServer.s3e(proxy.endpoint()));
    conf.set("fs.s3a.s3e.cache.mode", "disk");
    conf.set("fs.s3a.s3e.cache.dirs", temp.toString());
  }

  @AfterEach
  void stopProxy() throws Exception {
    Engines.endIdle();
    proxy.close();
  }

  private FileSystem written() throws IOException {
    FileSystem fs = S3AReads.open(conf);
    try (FSDataOutputStream out = fs.create(FILE, true)) {
      out.write(data);
    }
    proxy.clear();
    return fs;
  }

  private void requireReads(FileSystem fs) throws IOException {
    try (FSDataInputStream in = fs.open(FILE)) {
      byte[] read = new byte[SIZE];
      in.readFully(read);
      assertArrayEquals(data, read);
    }
  }

  private static Map<String, Long> counters(FileSystem fs) {
    return ((S3EFileSystem) fs).getIOStatistics().counters();
  }

  private static long gauge(FileSystem fs, String name) {
    return ((S3EFileSystem) fs).getIOStatistics().gauges().get(name);
  }

  private long regionBytes() throws IOException {
    try (Stream<Path> all = Files.walk(temp)) {
      return all.filter(path -> path.toString().endsWith(".region"))
          .mapToLong(path -> path.toFile().length())
          .sum();
    }
  }

  private static void awaitWritten(FileSystem fs, long bytes) throws InterruptedException {
    awaitTrue(
        bytes + " bytes are written", () -> counters(fs).get("s3e_cache_written_bytes") >= bytes);
  }

  private static long writtenByAll() {
    return OpenEngines.work().metrics().disk().get(DiskMetrics.Counter.WRITTEN_BYTES);
  }

  @Test
  void whatOneFileSystemFetchedAnotherOfTheHostReadsFromDisk() throws Exception {
    conf.set("fs.s3a.s3e.cache.scope", "host");
    conf.set("fs.s3a.s3e.cache.encryption", "true");
    conf.set("fs.s3a.s3e.cache.key", SECRET);
    try (FileSystem fs = written()) {
      requireReads(fs);
      awaitWritten(fs, SIZE);
    }
    assertThat(regionBytes()).as("they outlive the file system").isGreaterThanOrEqualTo(SIZE);
    proxy.clear();
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf);
        FSDataInputStream in = fs.open(FILE)) {
      // The cache is opened, and its logs are read, beside the first reads; this one is to find
      // both.
      awaitTrue(() -> !log.lines("cache in memory and ").isEmpty());
      awaitTrue(() -> gauge(fs, "s3e_cache_bytes") >= SIZE);
      byte[] read = new byte[SIZE];
      in.readFully(read);
      assertArrayEquals(data, read);
      assertThat(counters(fs).get("s3e_cache_hit_bytes")).isGreaterThanOrEqualTo(SIZE / 2);
      awaitTrue(
          () ->
              in.getIOStatistics()
                  .counters()
                  .get("s3e_cache_hit_bytes")
                  .equals(counters(fs).get("s3e_cache_hit_bytes")));
      assertThat(counters(fs).get("s3e_cache_corruptions")).isZero();
    }
    assertThat(proxy.reads("file")).as("one GET shows that it may read").isNotEmpty();
  }

  /** An engine that waits for its next user keeps its cache, which goes on counting. */
  @Test
  void theSumOfAllEnginesHasEachWrittenByteOnceWhileFileSystemsComeAndGo() throws Exception {
    conf.set("fs.s3a.s3e.cache.scope", "host");
    conf.set("fs.s3a.s3e.cache.encryption", "true");
    conf.set("fs.s3a.s3e.cache.key", SECRET);
    long ofOthers;
    try (FileSystem fs = written()) {
      requireReads(fs);
      awaitWritten(fs, SIZE);
      ofOthers = writtenByAll() - counters(fs).get("s3e_cache_written_bytes");
    }
    for (int next = 0; next < 2; next++) {
      assertThat(writtenByAll()).isGreaterThanOrEqualTo(ofOthers + SIZE);
      try (FileSystem fs = S3AReads.open(conf)) {
        requireReads(fs);
        assertThat(counters(fs).get("s3e_cache_written_bytes")).isGreaterThanOrEqualTo(SIZE);
        awaitTrue(
            "each byte counts once",
            () -> writtenByAll() - counters(fs).get("s3e_cache_written_bytes") == ofOthers);
      }
    }
  }

  @Test
  void customersKeysKeepEverythingOffTheDisk() throws Exception {
    conf.set("fs.s3a.s3e.cache.scope", "host");
    conf.set("fs.s3a.encryption.algorithm", "SSE-C");
    conf.set("fs.s3a.encryption.key", SECRET);
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = written()) {
      requireReads(fs);
      assertThat(log.lines("goes to local disk: objects are encrypted by SSE-C")).hasSize(1);
    }
    assertThat(temp.toFile().list()).isEmpty();
  }

  /** The SPI shows no file system, but what S3A has found of each object. */
  @Tag("stream-spi")
  @Test
  @Slow
  void customersKeysInACredentialProviderKeepEverythingOffTheFactorysDisk() throws Exception {
    Path disk = Files.createDirectory(temp.resolve("disk"));
    conf = S3AReads.small(S3AServer.factoryAlone(proxy.endpoint()));
    conf.set("fs.s3a.s3e.cache.mode", "disk");
    conf.set("fs.s3a.s3e.cache.scope", "host");
    conf.set("fs.s3a.s3e.cache.dirs", disk.toString());
    String provider = "localjceks://file" + temp.resolve("keys.jceks");
    conf.set("hadoop.security.credential.provider.path", provider);
    CredentialProvider keys = CredentialProviderFactory.getProviders(conf).get(0);
    keys.createCredentialEntry("fs.s3a.encryption.algorithm", "SSE-C".toCharArray());
    keys.createCredentialEntry("fs.s3a.encryption.key", SECRET.toCharArray());
    keys.flush();
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = written()) {
      requireReads(fs);
      assertThat(log.lines("goes to local disk: objects are encrypted by SSE-C")).hasSize(1);
    }
    assertThat(disk.toFile().list()).isEmpty();
  }

  @Test
  void withoutAUsableDirectoryReadsGoOn() throws Exception {
    conf.set("fs.s3a.s3e.cache.dirs", temp.resolve("missing").toString());
    try (FileSystem fs = written()) {
      requireReads(fs);
      assertThat(counters(fs)).containsEntry("s3e_cache_writes", 0L);
    }
  }

  @Test
  void aDirectoryThatMustNotBeTrustedIsDoneWithout() throws Exception {
    conf.set("fs.s3a.s3e.cache.scope", "host");
    openToOthers();
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = written()) {
      requireReads(fs);
      awaitTrue(() -> !log.lines("cache in memory only").isEmpty());
      assertThat(log.lines("No cache on local disk"))
          .hasSize(1)
          .first()
          .asString()
          .contains("WARN", temp.toString());
    }
  }

  /** The directory that S3E would make stands there already, as a link to somewhere else. */
  private void openToOthers() throws IOException {
    Path elsewhere = Files.createDirectory(temp.resolve("elsewhere"));
    Path mine = temp.resolve("s3e-cache-" + System.getProperty("user.name"));
    Files.createSymbolicLink(mine, elsewhere);
    assertThat(Arrays.asList(Files.isSymbolicLink(mine), Files.isDirectory(mine)))
        .containsOnly(true);
  }
}
