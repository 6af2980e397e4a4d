// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/RELIABILITY.md} names tests that exist and has a place for every table. {@value
 * #FIGURES} names a directory of {@link Report}'s files: their tables are written to the page.
 */
@Tag("source-tree")
class ReliabilityPageTest {
  private static final String FIGURES = "s3e.docs.reliability";
  private static final Path PAGE = Path.of("..", "docs", "RELIABILITY.md");
  private static final Pattern TEST = Pattern.compile("`([A-Z]\\w+Test)(?:\\.(\\w+))?`");

  @Test
  void everyPromiseHasTestsThatExist() throws IOException {
    Map<String, String> sources = new HashMap<>();
    for (String module : new String[] {"s3e-core", "s3e-hadoop"}) {
      try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "test", "java"))) {
        for (Path file : files.filter(path -> path.toString().endsWith("Test.java")).toList()) {
          String name = file.getFileName().toString().replace(".java", "");
          sources.merge(name, Files.readString(file), String::concat);
        }
      }
    }
    Files.readAllLines(PAGE).stream()
        .dropWhile(line -> !line.startsWith("| promise"))
        .skip(2)
        .takeWhile(line -> line.startsWith("|"))
        .forEach(
            line -> {
              Matcher tests = TEST.matcher(line);
              assertThat(tests.find()).as(line).isTrue();
              do {
                String source = sources.get(tests.group(1));
                assertThat(source).as(tests.group()).isNotNull();
                if (tests.group(2) != null) {
                  assertThat(source).contains(" " + tests.group(2) + "(");
                }
              } while (tests.find());
            });
  }

  @Test
  void everyTableHasItsPlace() throws IOException {
    String page = Files.readString(PAGE);
    String figures = System.getProperty(FIGURES);
    if (figures != null) {
      for (Map.Entry<String, String> table : Report.tables(Path.of(figures)).entrySet()) {
        int from = page.indexOf(begin(table.getKey())) + begin(table.getKey()).length();
        int to = page.indexOf(end(table.getKey()));
        page = page.substring(0, from) + "\n" + table.getValue() + page.substring(to);
      }
      Files.writeString(PAGE, page);
    }
    assertThat(page).contains(begin("matrix"), end("matrix"));
    for (Group group : Group.values()) {
      assertThat(page).contains(begin(group.key()), end(group.key()));
    }
  }

  private static String begin(String table) {
    return "<!-- " + table + " -->";
  }

  private static String end(String table) {
    return "<!-- /" + table + " -->";
  }
}
