// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.ArchitecturePage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/ARCHITECTURE.md names no class that is not there. */
class ArchitecturePageTest {
  private static final Path ROOT = Path.of("..");

  /** Names on the page that are not S3E's. */
  private static final Set<String> OTHERS =
      Set.of("S3AFileSystem", "S3FileIO", "MiB", "KiB", "GiB");

  private static final Pattern TYPE = Pattern.compile("\\b(?:class|interface|enum|record) (\\w+)");

  @Test
  void everyClassIsThere() throws IOException {
    Set<String> named = new TreeSet<>(ArchitecturePage.read().classNames());
    assertThat(named).hasSizeGreaterThan(60);
    named.removeAll(OTHERS);
    assertThat(types()).containsAll(named);
  }

  private static Set<String> types() throws IOException {
    List<Path> sources;
    try (Stream<Path> files = Files.walk(ROOT)) {
      sources =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .filter(file -> !file.toString().contains("/target/"))
              .toList();
    }
    Set<String> types = new TreeSet<>();
    for (Path source : sources) {
      for (Matcher type = TYPE.matcher(Files.readString(source)); type.find(); ) {
        types.add(type.group(1));
      }
    }
    return types;
  }
}
