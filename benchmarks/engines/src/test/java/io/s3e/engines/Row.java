// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;

/**
 * One job of one engine, run with S3A and with S3E. {@link #compare} holds S3E to the control: the
 * same result, the same exit code, an exit as fast, an input metric that tells what the control's
 * readers were given, and no warning that the control has not.
 */
public record Row(String engine, String job, Outcome control, Outcome s3e) {

  private static final Duration STRICT = Duration.ofSeconds(1);

  /** As above, on a machine with other work: far below the 10 s that a wait for the CRT takes. */
  private static final Duration LENIENT = Duration.ofSeconds(5);

  /** A job by one of the streams, with its digest and, where the engine tells one, its input. */
  @FunctionalInterface
  public interface Job {
    Outcome run(Stream stream) throws Exception;
  }

  /** Runs the job with both, writes the row of the report, and asserts. */
  public static Row compare(String engine, String job, Job work) throws Exception {
    Outcome control = work.run(Stream.CLASSIC);
    Row row = new Row(engine, job, control, work.run(Stream.S3E));
    Report.add(row);
    row.assertEqual();
    row.assertInput(control.given());
    return row;
  }

  /**
   * As above, for an engine that asks for other bytes when its reads end elsewhere, and so in every
   * run: a third one counts what S3E's readers are given, and its own metric is held to that.
   */
  public static Row compareWithOwnInput(String engine, String job, Job work) throws Exception {
    Row row = new Row(engine, job, work.run(Stream.CLASSIC), work.run(Stream.S3E));
    Report.add(row);
    row.assertEqual();
    Outcome counted = work.run(Stream.COUNTED_S3E);
    assertThat(counted.digest()).as("digest of a counted run, %s", job).isEqualTo(row.s3e.digest());
    assertThat(counted.input()).as("input metric of a counted run").isEqualTo(counted.given());
    return row;
  }

  /**
   * As above in two runs: what S3E's readers are given is counted in the run that is held to the
   * control, so that S3E's class is the counting one there.
   */
  public static Row compareCounted(String engine, String job, Job work) throws Exception {
    Row row = new Row(engine, job, work.run(Stream.CLASSIC), work.run(Stream.COUNTED_S3E));
    Report.add(row);
    row.assertEqual();
    row.assertInput(row.s3e.given());
    return row;
  }

  /** How much longer than with S3A a process may take to end. */
  static Duration exitMargin() {
    return Harness.STRICT ? STRICT : LENIENT;
  }

  private void assertEqual() {
    String name = engine + ", " + job;
    assertThat(control.exitCode()).as("S3A's exit code, %s: %s", name, tail(control)).isZero();
    assertThat(s3e.exitCode()).as("exit code, %s: %s", name, tail(s3e)).isZero();
    assertThat(control.digest()).as("digest of S3A, %s", name).isNotEmpty();
    assertThat(s3e.digest()).as("digest, %s", name).isEqualTo(control.digest());
    assertThat(control.traffic().getsByS3E()).as("GETs by S3E in the control, %s", name).isZero();
    assertThat(s3e.traffic().getsByS3E()).as("GETs by S3E, %s", name).isPositive();
    assertThat(unexpectedWarnings()).as("warnings, %s", name).isEmpty();
    Duration most = control.exitTime().plus(exitMargin());
    assertThat(s3e.exitTime())
        .as("exit time, %s; S3A took %s", name, control.exitTime())
        .isLessThanOrEqualTo(most);
  }

  /** An engine that has an input metric tells by it what its readers were given. */
  private void assertInput(OptionalLong given) {
    if (s3e.input().isPresent()) {
      assertThat(s3e.input())
          .as("input metric, %s, %s; given to readers: %s", engine, job, given)
          .isEqualTo(given);
    }
  }

  private List<String> unexpectedWarnings() {
    return ExpectedWarnings.unexpected(s3e.warnings(), control.warnings());
  }

  private static String tail(Outcome outcome) {
    List<String> lines = outcome.output();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 60), lines.size()));
  }
}
