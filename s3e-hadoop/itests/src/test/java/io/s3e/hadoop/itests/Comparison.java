// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.itests;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The outcomes of the same tests with S3A and with S3E, side by side. */
final class Comparison {
  /** How the two outcomes of a test stand to each other and to the reviewed list. */
  enum Verdict {
    /** Both passed. */
    BOTH_PASSED,
    /** Both were skipped, or failed by the same exception: the test says nothing about S3E. */
    NEITHER_PASSED,
    /** They differ as the reviewed list says. */
    REVIEWED,
    /** They differ and the list does not say so. */
    NOT_REVIEWED,
    /** They do not differ and the list says that they do. */
    NO_LONGER_DIFFERS
  }

  /** One test; {@code text} tells both outcomes, or the reason of a reviewed difference. */
  record Compared(String test, Outcome control, Outcome subject, Verdict verdict, String text) {}

  private final Map<String, Outcome> control;
  private final Map<String, Outcome> subject;
  private final List<Compared> tests = new ArrayList<>();

  Comparison(
      Map<String, Outcome> control,
      Map<String, Outcome> subject,
      Map<String, ReviewedDifference> reviewed,
      Collection<String> classes) {
    this.control = control;
    this.subject = subject;
    Set<String> names = new TreeSet<>(control.keySet());
    names.addAll(subject.keySet());
    Set<String> ran = classes.stream().map(Selection::simpleName).collect(Collectors.toSet());
    reviewed.keySet().stream()
        .filter(test -> ran.contains(test.replaceAll("[\\[.].*", "")))
        .forEach(names::add);
    for (String name : names) {
      tests.add(
          compare(
              name,
              control.getOrDefault(name, Outcome.ABSENT),
              subject.getOrDefault(name, Outcome.ABSENT),
              reviewed.get(name)));
    }
  }

  /** In the order of their names. */
  List<Compared> tests() {
    return tests;
  }

  private static Compared compare(
      String test, Outcome control, Outcome subject, ReviewedDifference line) {
    boolean equal = control.result().equals(subject.result());
    boolean covered = line != null && line.covers(control, subject);
    Verdict verdict;
    if (!equal) {
      verdict = covered ? Verdict.REVIEWED : Verdict.NOT_REVIEWED;
    } else if (line != null && !covered) {
      verdict = Verdict.NO_LONGER_DIFFERS;
    } else {
      verdict = control.equals(Outcome.PASSED) ? Verdict.BOTH_PASSED : Verdict.NEITHER_PASSED;
    }
    String text =
        verdict == Verdict.REVIEWED
            ? line.reason()
            : "S3A " + describe(control) + "; S3E " + describe(subject);
    return new Compared(test, control, subject, verdict, text);
  }

  private static String describe(Outcome outcome) {
    return outcome.message().isEmpty()
        ? outcome.result()
        : outcome.result() + ": " + outcome.message();
  }

  /** The counts of both sides, then the tests that differ or fail with both. */
  String table() {
    StringBuilder table =
        new StringBuilder(
            String.format("%-8s %8s %8s %8s %8s%n", "", "tests", "passed", "failed", "skipped"));
    appendCounts(table, Side.CONTROL, control.values());
    appendCounts(table, Side.SUBJECT, subject.values());
    append(table, "differ, as reviewed", test -> test.verdict() == Verdict.REVIEWED);
    append(table, "differ, not reviewed", test -> test.verdict() == Verdict.NOT_REVIEWED);
    append(
        table, "reviewed, no longer differ", test -> test.verdict() == Verdict.NO_LONGER_DIFFERS);
    append(
        table,
        "fail with both",
        test -> test.verdict() == Verdict.NEITHER_PASSED && test.control().isFailure());
    return table.toString();
  }

  private void append(StringBuilder table, String title, Predicate<Compared> which) {
    List<Compared> found = tests.stream().filter(which).toList();
    table.append(String.format("%n%s: %d%n", title, found.size()));
    for (Compared test : found) {
      table.append(
          String.format(
              "  %s: S3A %s, S3E %s%n      %s%n",
              test.test(), test.control().result(), test.subject().result(), test.text()));
    }
  }

  private static void appendCounts(StringBuilder table, Side side, Collection<Outcome> outcomes) {
    long passed = outcomes.stream().filter(Outcome.PASSED::equals).count();
    long failed = outcomes.stream().filter(Outcome::isFailure).count();
    table.append(
        String.format(
            "%-8s %8d %8d %8d %8d%n",
            side.label(), outcomes.size(), passed, failed, outcomes.size() - passed - failed));
  }
}
