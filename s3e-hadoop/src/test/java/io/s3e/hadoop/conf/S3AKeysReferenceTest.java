// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import io.s3e.hadoop.GeneratedPage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Needs the source tree, so it runs in this module only. */
@Tag("source-tree")
class S3AKeysReferenceTest {
  @Test
  void documentIsUpToDate() throws Exception {
    GeneratedPage.isUpToDate("S3A-KEYS.md", "S3AKeys", S3AKeysReference.markdown());
  }
}
