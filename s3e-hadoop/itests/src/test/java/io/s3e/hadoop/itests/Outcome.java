// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.itests;

/**
 * The end of a test. {@code result} is {@code passed}, {@code skipped}, {@code failed(Exception)}
 * with the simple name of what was thrown, or {@code absent}; {@code message} is the first line
 * that it said about that.
 */
record Outcome(String result, String message) {
  static final Outcome PASSED = new Outcome("passed", "");

  /** The test is known from the other side only. */
  static final Outcome ABSENT = new Outcome("absent", "");

  /** The class did not end in its time, or ended its JVM. */
  static final Outcome CUT_OFF =
      new Outcome("failed(CutOff)", "the JVM ended before the class did");

  static Outcome skipped(String reason) {
    return new Outcome("skipped", firstLine(reason));
  }

  static Outcome failed(Throwable failure) {
    return new Outcome(
        "failed(" + failure.getClass().getSimpleName() + ")",
        firstLine(String.valueOf(failure.getMessage())));
  }

  boolean isFailure() {
    return result.startsWith("failed");
  }

  private static String firstLine(String text) {
    String line = text.strip().replace('\t', ' ').lines().findFirst().orElse("");
    return line.length() <= 300 ? line : line.substring(0, 300);
  }
}
