// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Flink's FileSource over Hadoop's file systems, in one JVM. */
class FlinkTest {
  private static final int FILES = 3;

  @TempDir private static Path directory;
  private static Store store;

  @BeforeAll
  static void put() throws Exception {
    store = Store.start(directory);
    for (int file = 0; file < FILES; file++) {
      store.put("text/" + file + ".txt", Texts.text(2_000_000, 10 + file));
    }
  }

  @AfterAll
  static void stop() throws Exception {
    store.close();
  }

  @Test
  void fileSourceReadsLines() throws Exception {
    EngineHome flink = EngineHome.of("flink");
    Path job = flink.job("flink");
    Row.compare(
        "Flink",
        "FileSource, " + FILES + " text files",
        stream -> {
          Outcome outcome =
              EngineProcess.of(flink, "io.s3e.jobs.LineDigest", stream, store, "file source")
                  .jar(job)
                  .options("-Xmx1g", "--add-opens=java.base/java.util=ALL-UNNAMED")
                  .run(Store.ROOT + "text");
          List<String> said =
              outcome.said().stream().filter(line -> line.contains(" lines, checksums ")).toList();
          assertThat(said).as(String.join("\n", outcome.output())).hasSize(1);
          return outcome.withDigest(said.get(0));
        });
  }
}
