// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import io.s3e.testing.FuzzCorpus;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("source-tree")
class FuzzCorpusTest {
  @Test
  void settings() throws IOException {
    FuzzCorpus.run(AdapterConfigFuzz.class, AdapterConfigFuzz::fuzzerTestOneInput);
  }
}
