// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.GeneratedPage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Needs the source tree, so it runs in this module only. */
@Tag("source-tree")
class ConfigurationReferenceTest {
  @Test
  void documentIsUpToDate() throws Exception {
    GeneratedPage.isUpToDate("CONFIGURATION.md", "S3EKeys", ConfigurationReference.markdown());
  }

  @Test
  void everyKeyIsNamedAndDescribed() {
    assertThat(S3EKeys.ALL).extracting(ConfigKey::name).doesNotHaveDuplicates();
    for (ConfigKey<?> key : S3EKeys.ALL) {
      assertThat(key.name()).startsWith("fs.s3a.s3e.");
      assertThat(key.description()).endsWith(".");
      assertThat(key.accepted()).isNotEmpty();
    }
  }
}
