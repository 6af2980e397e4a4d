// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.itests;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.itests.Comparison.Compared;
import io.s3e.hadoop.itests.Comparison.Verdict;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  private static final Outcome FAILED = Outcome.failed(new IOException("no"));
  private static final Map<String, ReviewedDifference> ONE_LINE =
      Map.of(
          "ITestA.test",
          new ReviewedDifference(
              List.of("passed"), List.of("skipped", "failed(IOException)"), "a reason"));

  @Test
  void tellsEqualOutcomes() {
    assertThat(verdict(Outcome.PASSED, Outcome.PASSED, Map.of())).isEqualTo(Verdict.BOTH_PASSED);
    assertThat(verdict(FAILED, FAILED, Map.of())).isEqualTo(Verdict.NEITHER_PASSED);
  }

  @Test
  void failsADifferenceWithoutALine() {
    assertThat(verdict(Outcome.PASSED, FAILED, Map.of())).isEqualTo(Verdict.NOT_REVIEWED);
    assertThat(verdict(FAILED, Outcome.PASSED, Map.of())).isEqualTo(Verdict.NOT_REVIEWED);
    assertThat(verdict(FAILED, Outcome.failed(new RuntimeException("no")), Map.of()))
        .isEqualTo(Verdict.NOT_REVIEWED);
  }

  @Test
  void acceptsTheResultsThatALineNamesAndNoOthers() {
    assertThat(verdict(Outcome.PASSED, FAILED, ONE_LINE)).isEqualTo(Verdict.REVIEWED);
    assertThat(verdict(Outcome.PASSED, Outcome.skipped(""), ONE_LINE)).isEqualTo(Verdict.REVIEWED);
    assertThat(verdict(Outcome.PASSED, Outcome.ABSENT, ONE_LINE)).isEqualTo(Verdict.NOT_REVIEWED);
  }

  @Test
  void failsALineThatIsNoLongerTrue() {
    assertThat(verdict(Outcome.PASSED, Outcome.PASSED, ONE_LINE))
        .isEqualTo(Verdict.NO_LONGER_DIFFERS);
    List<Compared> neverRan =
        new Comparison(Map.of(), Map.of(), ONE_LINE, List.of("org.ITestA")).tests();
    assertThat(neverRan).extracting(Compared::verdict).containsOnly(Verdict.NO_LONGER_DIFFERS);
    assertThat(new Comparison(Map.of(), Map.of(), ONE_LINE, List.of("org.ITestB")).tests())
        .isEmpty();
  }

  @Test
  void everyReviewedLineHasItsFourFields() throws IOException {
    assertThat(ReviewedDifference.load().values())
        .allSatisfy(line -> assertThat(line.reason()).isNotBlank());
  }

  private static Verdict verdict(
      Outcome control, Outcome subject, Map<String, ReviewedDifference> reviewed) {
    return new Comparison(
            Map.of("ITestA.test", control),
            Map.of("ITestA.test", subject),
            reviewed,
            List.of("org.ITestA"))
        .tests()
        .get(0)
        .verdict();
  }
}
