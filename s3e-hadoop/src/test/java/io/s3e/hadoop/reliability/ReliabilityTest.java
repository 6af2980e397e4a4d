// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Bad days: every fault, every way to read and every client, beside S3A's streams.
 *
 * <p>A build takes some jobs of S3E's, other ones each time ({@value Seed#PROPERTY} repeats them).
 * {@value #COMMAND} runs what is named there instead: {@code all} is the matrix of faults, {@code
 * storms} are all scenarios with figures, and a scenario's group runs by its own name; several are
 * separated by commas. {@value #SUBJECTS} names the streams. JSON and tables lie in {@code
 * target/reliability} afterwards.
 */
@Tag("source-tree")
@EnabledOnOs(OS.LINUX)
@Slow
class ReliabilityTest {
  private static final String COMMAND = "s3e.test.reliability";
  private static final String SUBJECTS = "s3e.test.reliability.subjects";

  private static final int JOBS_OF_A_BUILD = 40;
  private static final int CHANGES_OF_A_BUILD = 16;
  private static final int BROKEN_CONNECTIONS = 600;
  private static final int AT_ONCE_IN_A_BUILD = 4;

  /** Files, by all clients in all ways. */
  private static final int JUNK_READS = Integer.getInteger("s3e.test.junk.reads", 120);

  private static final int AT_ONCE = 8;

  /**
   * Longer than anything that S3E promises, and far shorter than S3A's 200 s for one silent GET.
   */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** For a reader of the build's, on a machine with other work. */
  private static final Duration MOST_WAIT = Duration.ofMinutes(5);

  @TempDir private static Path directory;

  @Test
  void s3eEndsWellWhateverTheFault() throws Exception {
    assumeTrue(command().isEmpty());
    List<Matrix.Job> jobs =
        Matrix.jobs(FaultCase.all(), Stream.of(Subject.values()).filter(Subject::isS3E).toList());
    Collections.shuffle(jobs, new Random(Seed.ofBuilds()));
    List<Matrix.Job> some = new ArrayList<>(jobs.subList(0, JOBS_OF_A_BUILD));
    List<Outcome> outcomes = new Matrix(directory, LIMIT).run(some, AT_ONCE_IN_A_BUILD);
    assertThat(violations(outcomes)).isEmpty();
  }

  @Test
  void noReadFailsOverHundredsOfBrokenConnections() throws Exception {
    assumeTrue(command().isEmpty());
    long seed = Seed.ofBuilds();
    Matrix matrix = new Matrix(directory, LIMIT);
    List<Subject> clients = Stream.of(Subject.values()).filter(Subject::isS3E).toList();
    int faults = BROKEN_CONNECTIONS / (clients.size() * ReadStyle.values().length);
    List<Future<?>> readers = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    try {
      for (Subject client : clients) {
        for (ReadStyle style : ReadStyle.values()) {
          readers.add(
              threads.submit(
                  () -> {
                    RandomFaults.read(client, style, matrix.content(style), faults, seed);
                    return null;
                  }));
        }
      }
      for (Future<?> reader : readers) {
        reader.get(MOST_WAIT.toSeconds(), TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aBodyOfAnotherLengthIsNeverData() throws Exception {
    assumeTrue(command().isEmpty());
    long seed = Seed.ofBuilds();
    List<Subject> clients = Stream.of(Subject.values()).filter(Subject::isS3E).toList();
    List<ReadStyle> styles =
        List.of(ReadStyle.SEQUENTIAL, ReadStyle.POSITIONED, ReadStyle.VECTORED);
    int files = JUNK_READS / (clients.size() * styles.size());
    int failed = 0;
    for (Subject client : clients) {
      for (ReadStyle style : styles) {
        failed += JunkBodies.read(client, style, files, seed);
      }
    }
    // By chance, one in some thousand GETs meets eight such bodies in a row.
    assertThat(failed).as("files that could not be read").isLessThanOrEqualTo(JUNK_READS / 100);
  }

  @Test
  void aChangedObjectIsNeverShortOrMixed() throws Exception {
    assumeTrue(command().isEmpty());
    List<Changes.Case> cases =
        new ArrayList<>(
            Changes.Case.all().stream().filter(changed -> !changed.mode().mayMix()).toList());
    Collections.shuffle(cases, new Random(Seed.ofBuilds()));
    for (Changes.Case changed : cases.subList(0, CHANGES_OF_A_BUILD)) {
      assertThat(Changes.run(Subject.S3E, changed))
          .as("%s", changed)
          .extracting(Changes.Ended::verdict)
          .isIn(Verdict.RIGHT, Verdict.CLEAR_ERROR);
    }
  }

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void runsWhatTheCommandNames() throws Exception {
    assumeTrue(!command().isEmpty());
    for (String name : command()) {
      if (name.equals("all")) {
        matrix();
      } else {
        List<Group> groups =
            Stream.of(Group.values())
                .filter(group -> name.equals("storms") || name.equals(group.key()))
                .toList();
        assertThat(groups).as("what -D%s names: %s", COMMAND, name).isNotEmpty();
        for (Group group : groups) {
          scenarios(group);
        }
      }
    }
  }

  private static List<String> command() {
    String command = System.getProperty(COMMAND, "");
    return command.isEmpty() ? List.of() : List.of(command.split(","));
  }

  private static List<Subject> subjects(Subject... unlessNamed) {
    String named = System.getProperty(SUBJECTS);
    return named == null
        ? List.of(unlessNamed)
        : Arrays.stream(named.split(",")).map(Subject::valueOf).toList();
  }

  private static void matrix() throws Exception {
    List<Matrix.Job> jobs = Matrix.jobs(FaultCase.all(), subjects(Subject.values()));
    List<Outcome> outcomes = new Matrix(directory, LIMIT).run(jobs, AT_ONCE);
    Report.writeOutcomes(outcomes);
    System.out.println(Report.table(outcomes));
    assertThat(violations(outcomes)).isEmpty();
  }

  private static void scenarios(Group group) throws Exception {
    List<Figures> figures = new ArrayList<>();
    for (Subject subject : subjects(Subject.S3E, Subject.CLASSIC)) {
      figures.addAll(group.run(subject, directory));
      Report.writeFigures(group, figures);
    }
    System.out.println(group.title() + "\n" + Report.figureTable(figures, List.of()));
  }

  /** Outcomes of S3E's that its promises do not allow. */
  private static List<String> violations(List<Outcome> outcomes) {
    List<FaultCase> faults = FaultCase.all();
    return outcomes.stream()
        .filter(one -> one.subject().isS3E())
        .filter(
            one -> {
              FaultCase fault =
                  faults.stream().filter(each -> each.name().equals(one.fault())).findFirst().get();
              return !fault.accepted().contains(one.verdict()) || one.gets() > fault.mostGets();
            })
        .map(Outcome::toString)
        .collect(Collectors.toList());
  }
}
