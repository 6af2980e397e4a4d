// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class RunDirectoryTest {

  @Test
  void aRelativeParentServesAsWell() throws Exception {
    Path parent = Path.of("target", "run-directory");

    try (RunDirectory directory = new RunDirectory(parent)) {
      assertThat(directory.objects()).isAbsolute().isDirectory();
      assertThat(directory.objects().toString()).contains(parent.toString());
    }
    assertThat(parent).isEmptyDirectory();
  }
}
