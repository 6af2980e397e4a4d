// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Cascading: its local planner with Hadoop's taps, which is what the registry has of it. */
class CascadingTest {
  @TempDir private static Path directory;
  private static Store store;
  private static int outputs;

  @BeforeAll
  static void put() throws Exception {
    store = Store.start(directory);
    store.put("text/words.txt", Texts.text(4_000_000, 3));
  }

  @AfterAll
  static void stop() throws Exception {
    store.close();
  }

  @Test
  void countsWords() throws Exception {
    EngineHome cascading = EngineHome.of("cascading");
    Path job = cascading.job("cascading");
    Row.compare(
        "Cascading",
        "wordcount, text",
        stream -> {
          String output = "out/" + ++outputs;
          Outcome outcome =
              EngineProcess.of(cascading, "io.s3e.jobs.WordCount", stream, store, "wordcount")
                  .jar(job)
                  .run(Store.ROOT + "text", Store.ROOT + output);
          return outcome.withDigest(store.digestOfParts(output));
        });
  }
}
