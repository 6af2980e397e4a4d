// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.testing.FuzzCorpus;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class FuzzCorpusTest {
  @Test
  void headsOfAnswers() throws IOException {
    FuzzCorpus.run(ContentRangeFuzz.class, ContentRangeFuzz::fuzzerTestOneInput);
  }
}
