package io.s3e.hadoop.conf;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Needs the source tree, so it runs in this module only. */
@Tag("source-tree")
class S3AKeysReferenceTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "S3A-KEYS.md");

  /** Written anew with {@code -Ds3e.docs.write=true}. */
  @Test
  void documentIsUpToDate() throws Exception {
    if (Boolean.getBoolean("s3e.docs.write")) {
      S3AKeysReference.main(new String[] {DOCUMENT.toString()});
    }
    assertThat(Files.readString(DOCUMENT))
        .as("docs/S3A-KEYS.md is generated from S3AKeys; CONTRIBUTING.md says how")
        .isEqualTo(S3AKeysReference.markdown());
  }
}
