// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.history.JobFacts.Run;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JobFactsTest {
  /** So that writers need no lock: in whatever order, and however often. */
  @Test
  void orderAndRepetitionOfMergesAreNoDifferenceToRuns() {
    for (long seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      JobFacts one = SomeFacts.of(random, "j");
      JobFacts two = SomeFacts.of(random, "j");
      JobFacts three = SomeFacts.of(random, "j");
      JobFacts all = one.with(two).with(three);
      assertThat(three.with(one).with(two).runs()).as("seed %d", seed).isEqualTo(all.runs());
      assertThat(all.with(two)).as("seed %d", seed).isEqualTo(all);
      assertThat(all.with(all)).as("seed %d", seed).isEqualTo(all);
    }
  }

  /** They are whoever's who may write the directory, and are logged and shown on terminals. */
  @Test
  void whyItIsOffIsToldOnOneLineWithoutControlCharacters() {
    String forged = "worse\r\n26/11/30 INFO All is well\t\u001b[2J\u2028\u202e\u0085 é 12 %";
    assertThat(new JobFacts("j", forged, List.of(), List.of()).off())
        .isEqualTo("worse??26/11/30 INFO All is well??[2J??? é 12 %");
  }

  @Test
  void partThatTellsMoreTakesThePlaceOfWhatItToldBefore() {
    Run before = run("r", "p", 5, 3, 1);
    Run after = run("r", "p", 6, 7, 2);
    for (JobFacts both : List.of(job(before).with(job(after)), job(after).with(job(before)))) {
      assertThat(both.runs()).containsExactly(after);
    }
  }

  @Test
  void tenRunsStayWithAllTheirParts() {
    List<Run> runs = new ArrayList<>();
    for (int run = 0; run < 25; run++) {
      for (int part = 0; part < 3; part++) {
        runs.add(run("r" + run, "p" + part, run, 1, 1));
      }
    }
    JobFacts facts = new JobFacts("j", "", runs, List.of());
    assertThat(facts.runs()).hasSize(30).allMatch(run -> run.millis() >= 15);
  }

  @Test
  void whatWasLearntLaterStandsForATable() {
    TableFacts before = table(1, 100, shape(10), shape(20));
    TableFacts after = table(2, 200, shape(20), shape(30));
    for (JobFacts both :
        List.of(tables(before).with(tables(after)), tables(after).with(tables(before)))) {
      assertThat(both.tables()).containsExactly(table(2, 200, shape(10), shape(20), shape(30)));
    }
  }

  /** Data of files was read, and they are not alike any more. */
  @Test
  void filesThatAreNoLongerAlikeAreForgotten() {
    TableFacts before = table(1, 100, shape(10), shape(20));
    TableFacts after =
        new TableFacts("b/t", 2, 100, List.of(), List.of(new TableFacts.Scan(1, "03")));
    assertThat(tables(before).with(tables(after)).tables().get(0).files()).isEmpty();
    TableFacts footersAlone = new TableFacts("b/t", 2, 100, List.of(), List.of());
    assertThat(tables(before).with(tables(footersAlone)).tables().get(0).files()).hasSize(2);
  }

  /** Reports of executors are added as they come, some with what others have told before. */
  @Test
  void aTableThatIsAddedAgainAddsNothing() {
    for (long seed = 0; seed < 1000; seed++) {
      Random random = new Random(seed);
      TableFacts one = atTime(random.nextInt(3), SomeFacts.table(random, "b/t"));
      TableFacts two = atTime(random.nextInt(3), SomeFacts.table(random, "b/t"));
      TableFacts both = one.with(two);
      assertThat(both.with(two)).as("seed %d", seed).isEqualTo(both);
      assertThat(both.with(one)).as("seed %d", seed).isEqualTo(both);
      assertThat(both.with(both)).as("seed %d", seed).isEqualTo(both);
    }
  }

  /** A clock that was ahead once would have the last word until its date has come. */
  @Test
  void whatIsOfADateToComeIsTheOldest() {
    long now = System.currentTimeMillis();
    long ahead = now + Duration.ofDays(1_000).toMillis();
    List<Run> runs = new ArrayList<>();
    for (int run = 0; run < 10; run++) {
      runs.add(run("ahead" + run, "p", ahead + run, 1, 1));
    }
    Run late = run("late", "p", now, 1, 1);
    JobFacts facts = new JobFacts("j", "", runs, List.of()).with(job(late));
    assertThat(facts.runs()).hasSize(10).endsWith(late);

    TableFacts wrong = table(ahead, 100, shape(10), shape(20));
    TableFacts right = table(now, 200, shape(20), shape(30));
    for (JobFacts both :
        List.of(tables(wrong).with(tables(right)), tables(right).with(tables(wrong)))) {
      assertThat(both.tables()).containsExactly(table(now, 200, shape(10), shape(20), shape(30)));
    }
  }

  /** Of hosts whose clocks differ a little. */
  @Test
  void aMomentAheadIsStillTheLatest() {
    long now = System.currentTimeMillis();
    TableFacts before = table(now, 100);
    TableFacts after = table(now + 60_000, 200);
    assertThat(before.with(after)).isEqualTo(after).isEqualTo(after.with(before));
  }

  private static TableFacts atTime(long millis, TableFacts table) {
    return new TableFacts(table.place(), millis, table.footerBytes(), table.files(), table.scans());
  }

  private static TableFacts table(long millis, long footer, TableFacts.Shape... files) {
    return new TableFacts("b/t", millis, footer, List.of(files), List.of());
  }

  private static TableFacts.Shape shape(long start) {
    return new TableFacts.Shape(1000, 900, List.of(start, start + 5));
  }

  private static JobFacts tables(TableFacts table) {
    return new JobFacts("j", "", List.of(), List.of(table));
  }

  private static JobFacts job(Run run) {
    return new JobFacts("j", "", List.of(run), List.of());
  }

  private static Run run(String id, String part, long millis, int with, int without) {
    return new Run(id, part, millis, tasks(with, 1), tasks(without, 1));
  }

  /** So many tasks that were blocked about so long, half of them longer. */
  static Blocked tasks(int count, double seconds) {
    Blocked sum = Blocked.NONE;
    for (int i = 0; i < count; i++) {
      sum = sum.plus(Blocked.task(seconds * (i % 2 == 0 ? 0.75 : 1.25)));
    }
    return sum;
  }

  private static JobFacts judged(Run... runs) {
    return new JobFacts("j", "", List.of(runs), List.of()).judged();
  }

  @Test
  void whatHelpsStaysOn() {
    assertThat(judged(new Run("r", "p", 1, tasks(400, 0.7), tasks(40, 1))).off()).isEmpty();
  }

  @Test
  void nothingIsSaidBeforeThereAreEnoughControls() {
    assertThat(judged(new Run("r", "p", 1, tasks(400, 3), tasks(29, 1))).off()).isEmpty();
  }

  @Test
  void whatDoesNotHelpGoesOffOverAllRuns() {
    Run one = new Run("r1", "p", 1, tasks(200, 1), tasks(20, 1));
    Run two = new Run("r2", "p", 2, tasks(200, 1), tasks(20, 1));
    assertThat(judged(one).off()).isEmpty();
    assertThat(judged(one, two).off())
        .startsWith("it does not help: blocked +0 %")
        .endsWith("400 tasks with, 40 without");
  }

  /** The other runs are so much better that all together still are. */
  @Test
  void oneRunThatIsMuchWorseRollsBack() {
    Run worse = new Run("r1", "p", 1, tasks(200, 1.3), tasks(40, 1));
    Run better = new Run("r2", "p", 2, tasks(4000, 0.3), tasks(400, 1));
    assertThat(new JobFacts("j", "", List.of(worse, better), List.of()).comparison().isBetter())
        .isTrue();
    assertThat(judged(worse, better).off()).startsWith("run r1 was worse: blocked +30 %");
  }

  @Test
  void whatIsOffStaysOffForAllWhoMerge() {
    JobFacts off = new JobFacts("j", "why", List.of(), List.of());
    JobFacts on = job(new Run("r", "p", 1, tasks(400, 0.5), tasks(40, 1)));
    assertThat(on.with(off).judged().off()).isEqualTo("why");
    assertThat(off.with(on).judged().off()).isEqualTo("why");
  }
}
