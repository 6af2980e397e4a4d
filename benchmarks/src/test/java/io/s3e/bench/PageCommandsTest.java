// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.bench.workload.WorkloadKind;
import io.s3e.cli.S3eCommand;
import io.s3e.cli.StandardStreams;
import io.s3e.testing.Slow;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Commands of the command line on the pages: each has the options that it is shown with, and
 * workloads and engines of such names. Most would run for minutes, so none is run here.
 */
class PageCommandsTest {
  private static final Pattern COMMANDS =
      Pattern.compile("^ *```bash\n(.*?)^ *```$", Pattern.MULTILINE | Pattern.DOTALL);
  private static final Pattern VARIABLE = Pattern.compile("^s3e=\"(.*)\"$");
  private static final Pattern OF_COMMAND_LINE =
      Pattern.compile(
          "^(?:benchmarks/bin/)?s3e |^(?:java -jar )?benchmarks/target/s3e-benchmarks\\.jar ?");
  private static final Pattern FIGURES_OF = Pattern.compile("`(--(?:workloads|preset)[^`]*)`");

  static List<Arguments> commands() throws IOException {
    List<Arguments> commands = new ArrayList<>();
    try (Stream<Path> pages = Files.walk(Path.of("../docs"))) {
      for (Path page :
          Stream.concat(Stream.of(Path.of("../README.md")), pages.sorted())
              .filter(path -> path.toString().endsWith(".md"))
              .toList()) {
        String text = Files.readString(page);
        lines(text).forEach(line -> commands.add(Arguments.of(page.getFileName(), line)));
        if (page.endsWith("BENCHMARKS.md")) {
          Matcher figures = FIGURES_OF.matcher(text);
          while (figures.find()) {
            String options = figures.group(1).replace('\n', ' ');
            commands.add(Arguments.of(page.getFileName(), "bench " + options));
          }
        }
      }
    }
    return commands;
  }

  /** Arguments of each command of the command line, as the page has them. */
  private static List<String> lines(String page) {
    List<String> lines = new ArrayList<>();
    Matcher block = COMMANDS.matcher(page);
    while (block.find()) {
      String variable = "";
      for (String written : block.group(1).replace("\\\n", " ").split("\n")) {
        for (String part : written.strip().replaceAll("\\s+#.*|^#.*", "").split(" && ")) {
          Matcher sets = VARIABLE.matcher(part);
          if (sets.find()) {
            variable = sets.group(1);
          }
          Matcher command = OF_COMMAND_LINE.matcher(part.replace("$s3e", variable));
          if (command.find()) {
            lines.add(command.replaceFirst("").strip());
          }
        }
      }
    }
    return lines;
  }

  @Slow
  @ParameterizedTest
  @MethodSource("commands")
  void hasItsOptions(Path page, String command) {
    String[] words =
        Arrays.stream((command + " --help").split(" +"))
            .filter(word -> !word.isEmpty())
            .toArray(String[]::new);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream streams = new PrintStream(out, true, UTF_8);

    int code =
        S3eCommand.execute(
            new StandardStreams(InputStream.nullInputStream(), streams, streams, false), words);

    assertThat(code).as("%s: %s%n%s", page, command, out.toString(UTF_8)).isZero();
    List<String> unknown = new ArrayList<>(values(words, "--workloads"));
    unknown.removeIf(name -> !WorkloadKind.named(name).isEmpty());
    assertThat(unknown).as("workloads that are not there").isEmpty();
    List<String> set = values(words, "--set").stream().map(entry -> entry.split(":")[0]).toList();
    for (String engine : values(words, "--engines")) {
      assertThat(Engine.of(engine, set.contains(engine) ? Map.of("key", "value") : Map.of()))
          .isNotNull();
    }
  }

  private static List<String> values(String[] words, String option) {
    return Arrays.stream(words)
        .filter(word -> word.startsWith(option + "="))
        .flatMap(word -> Arrays.stream(word.substring(option.length() + 1).split(",")))
        .collect(Collectors.toList());
  }

  @Test
  void pagesHaveCommands() throws IOException {
    assertThat(commands().stream().map(arguments -> arguments.get()[0].toString()))
        .contains("README.md", "BENCHMARKS.md", "COMMAND-LINE.md", "EXPLAIN.md", "ICEBERG.md")
        .hasSizeGreaterThan(40);
  }
}
