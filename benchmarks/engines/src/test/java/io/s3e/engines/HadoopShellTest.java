// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code hadoop fs}. */
class HadoopShellTest {
  private static final String SHELL = "org.apache.hadoop.fs.FsShell";
  private static final byte[] CONTENT = new byte[5 << 20];

  @TempDir private static Path directory;
  private static Store store;
  private static EngineHome hadoop;

  @BeforeAll
  static void put() throws Exception {
    hadoop = EngineHome.of("hadoop");
    store = Store.start(directory);
    new Random(1).nextBytes(CONTENT);
    store.put("in/bytes", CONTENT);
    store.put("in/lines", "one\ntwo\nthree\n".getBytes(StandardCharsets.US_ASCII));
  }

  @AfterAll
  static void stop() throws Exception {
    store.close();
  }

  @Test
  void catWritesTheObject() throws Exception {
    Row row =
        Row.compare(
            "hadoop fs",
            "-cat",
            stream -> {
              Outcome outcome =
                  EngineProcess.of(hadoop, SHELL, stream, store, "cat")
                      .run("-cat", Store.ROOT + "in/lines");
              return outcome.withDigest(Store.digest(outcome.said()));
            });
    assertThat(row.s3e().said()).containsSequence("one", "two", "three");
  }

  @Test
  @Tag("quick")
  void getWritesTheFile() throws Exception {
    Row.compare(
        "hadoop fs",
        "-get",
        stream -> {
          EngineProcess shell = EngineProcess.of(hadoop, SHELL, stream, store, "get");
          Outcome outcome = shell.run("-get", Store.ROOT + "in/bytes", "bytes");
          byte[] got = Files.readAllBytes(shell.directory().resolve("bytes"));
          assertThat(got).isEqualTo(CONTENT);
          return outcome.withDigest(HexFormat.of().formatHex(Store.sha256().digest(got)));
        });
  }

  @Test
  @Tag("quick")
  void fileContextReadsIt() throws Exception {
    Row.compare(
        "FileContext",
        "read",
        stream -> {
          Outcome outcome =
              EngineProcess.of(hadoop, "io.s3e.jobs.Digest", stream, store, "file context")
                  .jar(hadoop.job("filecontext"))
                  .run(Store.ROOT + "in/bytes");
          return outcome.withDigest(Store.digest(outcome.said()));
        });
  }
}
