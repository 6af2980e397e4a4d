// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * How large the core is, and which of its classes need each other in a circle: such classes can
 * only be read together. The bounds only fall; a change that raises one says what that buys.
 */
class ShapeTest {
  /** Circles of classes that are one thing; the header of the first class of each says why. */
  private static final Set<Set<String>> ALLOWED =
      Set.of(
          Set.of("memory.Block", "memory.Slab"),
          Set.of("fault.Gate", "fault.GateRate"),
          Set.of("client.fallback.FallbackClient", "client.fallback.FastGet"));

  private static final int LONG_CLASS_LINES = 400;
  private static final int MOST_LONG_CLASSES = 2;
  private static final int MOST_LINES = 32_030;
  private static final int MOST_DISK_LINES = 4_000;
  private static final double LEAST_COMMENTS = 0.19;

  /** The line that the formatter writes into each file; it counts for nothing. */
  private static final String LICENCE = "// SPDX-License-Identifier:";

  private static final Path SOURCES = Path.of("src/main/java");
  private static final Pattern ARROW =
      Pattern.compile("\\s+io\\.s3e\\.([\\w.]+)\\S*\\s+-> io\\.s3e\\.([\\w.]+)\\S*.*");

  @Test
  void circlesOfClassesAreNamed() throws Exception {
    Set<Set<String>> others = new HashSet<>(circles(arrows()));
    assertThat(others).as("a pair that is a circle no more leaves the list").containsAll(ALLOWED);
    others.removeAll(ALLOWED);
    assertThat(others).as("circles without an essay").isEmpty();
  }

  @Test
  void classesAreShortAndTheCoreIsSmall() throws IOException {
    Map<String, Integer> longClasses = new TreeMap<>();
    int lines = 0;
    int ofDisk = 0;
    int comments = 0;
    for (Path source : sources()) {
      List<String> text =
          Files.readAllLines(source).stream().filter(line -> !line.startsWith(LICENCE)).toList();
      lines += text.size();
      ofDisk += source.getParent().endsWith("disk") ? text.size() : 0;
      comments += (int) text.stream().filter(ShapeTest::isComment).count();
      if (text.size() > LONG_CLASS_LINES) {
        longClasses.put(SOURCES.relativize(source).toString(), text.size());
      }
    }
    assertThat(longClasses)
        .as("longer than %s lines", LONG_CLASS_LINES)
        .hasSizeLessThanOrEqualTo(MOST_LONG_CLASSES);
    assertThat(lines).as("lines of the core").isBetween(10_000, MOST_LINES);
    assertThat(ofDisk).as("lines of the cache on disk").isBetween(1_000, MOST_DISK_LINES);
    assertThat((double) comments / lines).as("comments").isGreaterThan(LEAST_COMMENTS);
  }

  private static boolean isComment(String line) {
    String text = line.strip();
    return text.startsWith("//") || text.startsWith("/*") || text.startsWith("*");
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
  }

  /** The classes that each class names, nested classes counted as the one that they are in. */
  private static Map<String, Set<String>> arrows() throws Exception {
    Path classes = Path.of(S3E.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    StringWriter out = new StringWriter();
    Optional<ToolProvider> jdeps = ToolProvider.findFirst("jdeps");
    assumeTrue(jdeps.isPresent(), "this Java has no jdeps: it is a runtime, and no JDK");
    int status =
        jdeps
            .get()
            .run(
                new PrintWriter(out),
                new PrintWriter(System.err),
                "-verbose:class",
                "-filter:none",
                classes.toString());
    assertThat(status).as("jdeps").isZero();
    Map<String, Set<String>> arrows = new TreeMap<>();
    for (String line : out.toString().split("\\R")) {
      Matcher arrow = ARROW.matcher(line);
      if (arrow.matches() && !arrow.group(1).equals(arrow.group(2))) {
        arrows.computeIfAbsent(arrow.group(1), name -> new TreeSet<>()).add(arrow.group(2));
      }
    }
    assertThat(arrows).hasSizeGreaterThan(100);
    return arrows;
  }

  /** Sets of two classes or more of which each needs each other one, by whatever way. */
  private static Set<Set<String>> circles(Map<String, Set<String>> arrows) {
    Map<String, Set<String>> needed = new TreeMap<>();
    arrows.keySet().forEach(name -> needed.put(name, reachable(name, arrows)));
    Set<Set<String>> circles = new HashSet<>();
    for (Map.Entry<String, Set<String>> each : needed.entrySet()) {
      Set<String> circle = new TreeSet<>();
      for (String other : each.getValue()) {
        if (needed.getOrDefault(other, Set.of()).contains(each.getKey())) {
          circle.add(other);
        }
      }
      if (!circle.isEmpty()) {
        circles.add(circle);
      }
    }
    return circles;
  }

  private static Set<String> reachable(String from, Map<String, Set<String>> arrows) {
    Set<String> found = new TreeSet<>();
    Deque<String> open = new ArrayDeque<>(arrows.getOrDefault(from, Set.of()));
    while (!open.isEmpty()) {
      String next = open.remove();
      if (found.add(next)) {
        open.addAll(arrows.getOrDefault(next, Set.of()));
      }
    }
    return found;
  }
}
