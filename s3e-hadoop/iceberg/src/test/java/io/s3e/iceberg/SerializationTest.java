// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import static org.assertj.core.api.Assertions.assertThat;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import io.s3e.S3E;
import io.s3e.testing.Slow;
import io.s3e.testing.StoredContent;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.SeekableInputStream;
import org.apache.iceberg.io.StorageCredential;
import org.apache.iceberg.util.SerializableSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.objenesis.strategy.StdInstantiatorStrategy;

/**
 * A file IO that has read goes to another process, with its properties and credentials. Kryo alone
 * cannot write the client factory of Iceberg 1.9.
 */
@Tag("iceberg-1.11")
class SerializationTest {
  private static final int SIZE = 1 << 20;

  enum By {
    JAVA {
      @Override
      Object written(Object io) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
          out.writeObject(io);
        }
        try (ObjectInputStream in =
            new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
          return in.readObject();
        }
      }
    },
    KRYO {
      @Override
      Object written(Object io) {
        Kryo kryo = new Kryo();
        kryo.setInstantiatorStrategy(
            new Kryo.DefaultInstantiatorStrategy(new StdInstantiatorStrategy()));
        Output out = new Output(1 << 10, 1 << 20);
        kryo.writeClassAndObject(out, io);
        return kryo.readClassAndObject(new Input(out.toBytes()));
      }
    };

    abstract Object written(Object io) throws Exception;

    <F extends FileIO> F copy(F io) throws Exception {
      @SuppressWarnings("unchecked")
      F copy = (F) written(io);
      return copy;
    }
  }

  @Slow
  @ParameterizedTest
  @EnumSource
  void theCopyReadsAfterTheOriginalIsClosed(By by) throws Exception {
    try (HostileStore store = new HostileStore()) {
      StoredContent content = store.put("one/file", SIZE, 1);
      byte[] expected = new byte[SIZE];
      content.copy(0, expected, 0, expected.length);
      S3EFileIO io = new S3EFileIO();
      io.setCredentials(
          List.of(
              StorageCredential.create(
                  HostileStore.location("one/"),
                  Map.of(
                      "s3.access-key-id", "vended",
                      "s3.secret-access-key", "secret",
                      "s3.session-token", "token"))));
      store.open(io, "s3e.prefetch.window.max", "8M");
      assertThat(read(io)).isEqualTo(expected);
      S3EFileIO copy = by.copy(io);
      io.close();
      store.server.forgetRequests();
      try (copy) {
        assertThat(copy.properties()).isEqualTo(io.properties());
        assertThat(copy.credentials()).isEqualTo(io.credentials());
        assertThat(read(copy)).isEqualTo(expected);
        assertThat(StreamTenants.tenant(copy, HostileStore.location("one/file")).config())
            .extracting(config -> config.maxWindowBytes())
            .isEqualTo(8L << 20);
      }
      assertThat(store.server.gets()).isNotEmpty();
    }
  }

  /** Nobody closes it: the finalizer of S3FileIO takes it for closed. */
  @ParameterizedTest
  @EnumSource
  @Slow
  void theCopyOfAClosedOneLeavesNoTenant(By by) throws Exception {
    try (HostileStore store = new HostileStore()) {
      store.put("one/file", SIZE, 1);
      S3EFileIO io = store.open(new S3EFileIO());
      io.close();
      S3EFileIO copy = by.copy(io);
      assertThat(read(copy)).hasSize(SIZE);
      S3E tenant = StreamTenants.tenant(copy, HostileStore.location("one/file"));
      assertThat(StreamTenants.isClosed(tenant)).isTrue();
    }
  }

  /** With what it has made for another scheme, too. */
  @ParameterizedTest
  @EnumSource
  @Slow
  void theCopyOfAResolverReads(By by, @TempDir Path directory) throws Exception {
    Path local = Files.write(directory.resolve("local"), new byte[] {1, 2, 3});
    try (HostileStore store = new HostileStore()) {
      store.put("one/file", SIZE, 1);
      S3EResolvingFileIO io = new S3EResolvingFileIO();
      io.setCredentials(
          List.of(
              StorageCredential.create(
                  HostileStore.location("one/"),
                  Map.of("s3.access-key-id", "vended", "s3.secret-access-key", "secret"))));
      store.open(io, "s3e.prefetch.window.max", "8M");
      io.serializeConfWith(unused -> new LocalConf());
      byte[] expected = read(io);
      assertThat(io.newInputFile(local.toUri().toString()).getLength()).isEqualTo(3);
      S3EResolvingFileIO copy = by.copy(io);
      io.close();
      store.server.forgetRequests();
      try (copy) {
        assertThat(copy.properties()).isEqualTo(io.properties());
        assertThat(read(copy)).isEqualTo(expected);
        assertThat(store.signers("one")).containsExactly("vended");
        assertThat(StreamTenants.tenant(copy.reads(), HostileStore.location("one/file")).config())
            .extracting(config -> config.maxWindowBytes())
            .isEqualTo(8L << 20);
        assertThat(copy.newInputFile(local.toUri().toString()).getLength()).isEqualTo(3);
      }
      assertThat(store.server.gets())
          .isNotEmpty()
          .allMatch(request -> String.valueOf(request.header("User-Agent")).contains("S3E/"));
    }
  }

  /** As Spark has one, which Kryo can write. */
  static final class LocalConf implements SerializableSupplier<Configuration> {
    private static final long serialVersionUID = 1L;

    @Override
    public Configuration get() {
      return new Configuration(false);
    }
  }

  private static byte[] read(FileIO io) throws IOException {
    try (SeekableInputStream in =
        io.newInputFile(HostileStore.location("one/file"), SIZE).newStream()) {
      return in.readAllBytes();
    }
  }
}
