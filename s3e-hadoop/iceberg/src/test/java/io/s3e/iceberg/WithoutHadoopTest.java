// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import io.s3e.testing.StoredContent;
import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.iceberg.common.DynConstructors;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.SeekableInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A JVM whose class path has neither Hadoop nor Parquet reads by S3E. */
@Slow
class WithoutHadoopTest {
  private static final int SIZE = 5_000_000;
  private static final String LOCATION = HostileStore.location("data/file");

  @Test
  void aJvmWithoutHadoopReads() throws Exception {
    assertReads(S3EFileIO.class);
  }

  /** Iceberg's resolver needs Hadoop up to 1.11. */
  @Test
  @Tag("iceberg-1.11")
  void itsResolverReads() throws Exception {
    assertReads(S3EResolvingFileIO.class);
  }

  private static void assertReads(Class<? extends FileIO> type) throws Exception {
    List<String> classPath =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("hadoop") || entry.contains("s3e-hadoop"))
            .filter(entry -> !entry.contains("parquet"))
            .toList();
    try (HostileStore store = new HostileStore()) {
      StoredContent content = store.put("data/file", SIZE, 5);
      byte[] bytes = new byte[SIZE];
      content.copy(0, bytes, 0, SIZE);
      CRC32C expected = new CRC32C();
      expected.update(bytes);
      try (ForkedJvm jvm =
          ForkedJvm.of(Reader.class.getName())
              .options("-Xmx128m")
              .classPath(classPath)
              .start(store.server.endpoint().toString(), type.getName())) {
        assertThat(jvm.await("read ")).isEqualTo(expected.getValue() + " by crt");
        assertThat(jvm.await("Hadoop ")).isEqualTo("is absent");
      }
    }
  }

  /** The JVM's program. */
  static final class Reader {
    private Reader() {}

    public static void main(String[] arguments) throws Exception {
      Map<String, String> properties =
          Map.of(
              "s3.endpoint", arguments[0],
              "s3.path-style-access", "true",
              "s3.access-key-id", "catalogs",
              "s3.secret-access-key", "secret",
              "client.region", "us-east-1");
      CRC32C sum = new CRC32C();
      // As CatalogUtil makes it.
      try (FileIO io =
          DynConstructors.builder(FileIO.class)
              .impl(arguments[1])
              .<FileIO>buildChecked()
              .newInstance()) {
        io.initialize(properties);
        try (SeekableInputStream in = io.newInputFile(LOCATION, SIZE).newStream()) {
          sum.update(in.readAllBytes());
        }
        S3EFileIO reads = io instanceof S3EFileIO s3 ? s3 : ((S3EResolvingFileIO) io).reads();
        String client = StreamTenants.tenant(reads, LOCATION).client().name();
        System.out.println("read " + sum.getValue() + " by " + client.substring(0, 3));
      }
      try {
        Class.forName("org.apache.hadoop.conf.Configuration");
        System.out.println("Hadoop is there");
      } catch (ClassNotFoundException e) {
        System.out.println("Hadoop is absent");
      }
    }
  }
}
