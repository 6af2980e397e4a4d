// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.itests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.s3e.hadoop.itests.Comparison.Compared;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The integration tests of hadoop-aws, run with S3A and with S3E: for each of them, one test here.
 * It passes where the test passes with both; it is skipped, and says why, where the difference is a
 * reviewed one or where the test does not pass with S3A either; else it fails.
 */
class HadoopIntegrationTest {
  @TestFactory
  Stream<DynamicTest> endsWithS3EAsWithS3A() throws Exception {
    List<String> classes = Selection.classes(System.getProperty("itests"));
    Path directory = Path.of(System.getProperty("itests.directory"));
    // Each has a JVM, a server and a directory of its own.
    ExecutorService sides = Executors.newFixedThreadPool(2);
    Future<SortedMap<String, Outcome>> control =
        sides.submit(() -> ForkedTests.run(Side.CONTROL, classes, directory.resolve("s3a")));
    Future<SortedMap<String, Outcome>> subject =
        sides.submit(() -> ForkedTests.run(Side.SUBJECT, classes, directory.resolve("s3e")));
    sides.shutdown();
    Comparison comparison =
        new Comparison(control.get(), subject.get(), ReviewedDifference.load(), classes);
    assertThat(comparison.tests()).as("tests of %s", classes).isNotEmpty();
    Files.writeString(directory.resolve("comparison.txt"), comparison.table());
    System.out.println(comparison.table());
    return comparison.tests().stream().map(test -> dynamicTest(test.test(), () -> judge(test)));
  }

  private static void judge(Compared test) {
    String message = test.test() + " " + test.verdict() + ": " + test.text();
    switch (test.verdict()) {
      case BOTH_PASSED -> {}
      case NEITHER_PASSED, REVIEWED -> abort(message);
      case NOT_REVIEWED, NO_LONGER_DIFFERS -> fail(message);
    }
  }
}
