// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No table of docs/ that a command writes is without a line, and silent about it. */
class GeneratedTablesTest {

  /** Between {@code <!-- name -->} and {@code <!-- /name -->}. */
  private static final Pattern TABLE =
      Pattern.compile(
          "^<!-- ([a-z-]+) -->\\R(.*?)^<!-- /\\1 -->", Pattern.MULTILINE | Pattern.DOTALL);

  /** What stands in the place of lines that nobody has measured yet, with the command for it. */
  private static final Pattern OPENLY_EMPTY =
      Pattern.compile("Not measured at this commit: `[^`]+`\\.\\s*");

  private static final int HEAD_LINES = 2;

  private static List<MatchResult> tables(String page) {
    return TABLE.matcher(page).results().toList();
  }

  private static boolean isFilled(String table) {
    return table.lines().filter(line -> line.startsWith("|")).count() > HEAD_LINES
        || OPENLY_EMPTY.matcher(table).matches();
  }

  @Test
  void everyOneHasALineOrSaysThatItHasNone() throws IOException {
    int found = 0;
    try (Stream<Path> files = Files.walk(Path.of("..", "docs"))) {
      for (Path page : files.filter(file -> file.toString().endsWith(".md")).toList()) {
        for (MatchResult table : tables(Files.readString(page))) {
          found++;
          assertThat(isFilled(table.group(2))).as(page + ", table " + table.group(1)).isTrue();
        }
      }
    }
    assertThat(found).as("tables of docs/").isGreaterThan(5);
  }

  @Test
  void anEmptyOneIsFoundOut() {
    assertThat(tables("a\n<!-- b -->\n<!-- /b -->\n")).hasSize(1);
    assertThat(isFilled("")).isFalse();
    assertThat(isFilled("| a |\n| --- |\n")).isFalse();
    assertThat(isFilled("| a |\n| --- |\n| 1 |\n")).isTrue();
    assertThat(isFilled("Not measured at this commit: `./mvnw test`.\n")).isTrue();
    assertThat(isFilled("Not measured at this commit.\n")).isFalse();
  }
}
