// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stores;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.hadoop.S3EFileSystem;
import io.s3e.testserver.S3TestServer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract over stores of others; docs/STORES.md has a row for each. */
@Tag("stores")
class StoresTest {

  /** A store in a process of its own. */
  abstract static class ByProgram extends StoreContract {
    private StoreProgram program;

    abstract StoreProgram run(Path work) throws Exception;

    @Override
    URI start(Path work) throws Exception {
      program = run(work);
      return program.endpoint();
    }

    @Override
    void stop() throws Exception {
      if (program != null) {
        program.close();
      }
    }
  }

  @Nested
  class Minio extends ByProgram {
    @Override
    StoreProgram run(Path work) throws Exception {
      return StoreProgram.start(
          "minio",
          work,
          Map.of(
              "MINIO_ROOT_USER",
              S3TestServer.ACCESS_KEY,
              "MINIO_ROOT_PASSWORD",
              S3TestServer.SECRET_KEY,
              "MINIO_DOMAIN",
              "localhost",
              "MINIO_BROWSER",
              "off"),
          "server",
          "--address",
          "127.0.0.1:PORT",
          "DATA");
    }

    @Override
    boolean has(Trait trait) {
      return true;
    }
  }

  @Nested
  class Versitygw extends ByProgram {
    @Override
    StoreProgram run(Path work) throws Exception {
      return StoreProgram.start(
          "versitygw",
          work,
          Map.of(),
          "--port",
          "127.0.0.1:PORT",
          "--access",
          S3TestServer.ACCESS_KEY,
          "--secret",
          S3TestServer.SECRET_KEY,
          "--virtual-domain",
          "localhost",
          "--keep-alive",
          "--quiet",
          "posix",
          "DATA");
    }

    @Override
    boolean has(Trait trait) {
      return true;
    }
  }

  @Nested
  class Moto extends ByProgram {
    @Override
    StoreProgram run(Path work) throws Exception {
      return StoreProgram.start("moto_server", work, Map.of(), "-H", "127.0.0.1", "-p", "PORT");
    }

    @Override
    boolean has(Trait trait) {
      return trait == Trait.HONOURS_IF_MATCH;
    }
  }

  /** Master, volume, filer and gateway in one process. */
  @Nested
  class SeaweedFs extends ByProgram {
    @Override
    StoreProgram run(Path work) throws Exception {
      return StoreProgram.start(
          "weed",
          work,
          Map.of(
              "AWS_ACCESS_KEY_ID",
              S3TestServer.ACCESS_KEY,
              "AWS_SECRET_ACCESS_KEY",
              S3TestServer.SECRET_KEY),
          "server",
          "-ip=127.0.0.1",
          "-ip.bind=127.0.0.1",
          "-dir=DATA",
          "-s3",
          "-s3.port=PORT",
          "-s3.port.grpc=PORT1",
          "-s3.domainName=localhost",
          "-s3.port.iceberg=0",
          "-master.port=PORT2",
          "-master.port.grpc=PORT3",
          "-master.volumeSizeLimitMB=64",
          "-volume.port=PORT4",
          "-volume.port.grpc=PORT5",
          "-volume.max=50",
          "-filer.port=PORT6",
          "-filer.port.grpc=PORT7");
    }

    @Override
    boolean has(Trait trait) {
      return true;
    }
  }

  @Nested
  class S3Mock extends ByProgram {
    @Override
    StoreProgram run(Path work) throws Exception {
      return StoreProgram.start("s3mock", work, Map.of(), "PORT", "DATA");
    }

    @Override
    boolean has(Trait trait) {
      return trait == Trait.HONOURS_IF_MATCH;
    }
  }

  /** S3Proxy in this JVM, with objects on the heap. */
  @Nested
  class S3Proxy extends StoreContract {
    private S3TestServer server;

    @Override
    URI start(Path work) throws Exception {
      server = S3TestServer.inMemory();
      return server.endpoint();
    }

    @Override
    void stop() throws Exception {
      server.close();
    }

    @Override
    boolean has(Trait trait) {
      return trait != Trait.VIRTUAL_HOSTS;
    }
  }

  /** S3Proxy over a folder: it has no ETag for a file that was laid there by hand. */
  @Test
  void aFileWithoutAnEtagIsReadByS3AsClient(@TempDir Path directory) throws Exception {
    byte[] data = new byte[3_000_000];
    new Random(9).nextBytes(data);
    Path bucket = Files.createDirectories(directory.resolve(StoreContract.BUCKET));
    Files.write(bucket.resolve("by-hand"), data);
    try (S3TestServer server = S3TestServer.onDisk(directory)) {
      Configuration conf = StoreContract.configuration(server.endpoint());
      conf.setBoolean("fs.s3a.change.detection.version.required", false);
      org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path("/by-hand");
      try (S3EFileSystem fs = StoreContract.open(conf);
          FSDataInputStream in = fs.open(path)) {
        assertArrayEquals(data, in.readAllBytes());
        assertThat(fs.hasPathCapability(path, "fs.s3a.s3e.client.s3a")).isTrue();
      }
    }
  }
}
