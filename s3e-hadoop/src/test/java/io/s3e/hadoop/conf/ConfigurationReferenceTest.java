package io.s3e.hadoop.conf;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Needs the source tree, so it runs in this module only. */
@Tag("source-tree")
class ConfigurationReferenceTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "CONFIGURATION.md");

  /** Written anew with {@code -Ds3e.docs.write=true}. */
  @Test
  void documentIsUpToDate() throws Exception {
    if (Boolean.getBoolean("s3e.docs.write")) {
      ConfigurationReference.main(new String[] {DOCUMENT.toString()});
    }
    assertThat(Files.readString(DOCUMENT))
        .as("docs/CONFIGURATION.md is generated from S3EKeys; CONTRIBUTING.md says how")
        .isEqualTo(ConfigurationReference.markdown());
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
