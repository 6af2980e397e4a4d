// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.testing.FuzzCorpus;
import io.s3e.testing.Slow;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class FuzzCorpusTest {
  @Test
  @Slow
  void filesOfASharedCache() throws IOException {
    FuzzCorpus.run(CacheFilesFuzz.class, CacheFilesFuzz::fuzzerTestOneInput);
  }
}
