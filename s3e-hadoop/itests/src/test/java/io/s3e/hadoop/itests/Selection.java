// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.itests;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The test classes that a run is asked for by the property {@code itests}. */
final class Selection {
  private Selection() {}

  /**
   * {@code all}, the name of a list among the resources, or simple names of classes; a name that
   * ends with a star stands for each class that begins so.
   */
  static List<String> classes(String itests) throws IOException {
    List<String> all = all();
    if (itests.equals("all")) {
      return all;
    }
    List<String> names =
        itests.endsWith(".txt") ? Lines.of(itests) : Arrays.asList(itests.split(","));
    return names.stream().flatMap(name -> named(all, name)).distinct().toList();
  }

  static String simpleName(String testClass) {
    return testClass.substring(testClass.lastIndexOf('.') + 1);
  }

  private static Stream<String> named(List<String> classes, String name) {
    if (!name.endsWith("*")) {
      return Stream.of(only(classes, name));
    }
    String begin = name.substring(0, name.length() - 1);
    return classes.stream().filter(testClass -> simpleName(testClass).startsWith(begin));
  }

  private static String only(List<String> classes, String name) {
    return classes.stream()
        .filter(testClass -> simpleName(testClass).equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("No such test class: " + name));
  }

  /** Hadoop's integration tests that were compiled, without those in {@code left-out.tsv}. */
  private static List<String> all() throws IOException {
    Path root = Path.of(System.getProperty("itests.classes"));
    try (Stream<Path> files = Files.walk(root)) {
      List<String> classes =
          files
              .map(file -> root.relativize(file).toString())
              .filter(file -> file.matches(".*/ITest[^$]*\\.class"))
              .map(file -> file.replace(".class", "").replace('/', '.'))
              .sorted()
              .collect(Collectors.toCollection(ArrayList::new));
      for (String line : Lines.of("left-out.tsv")) {
        classes.remove(only(classes, line.split("\t")[0]));
      }
      return classes;
    }
  }
}
