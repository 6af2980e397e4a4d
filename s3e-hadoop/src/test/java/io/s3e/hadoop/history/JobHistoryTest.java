// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.columnar.PlaceFacts;
import io.s3e.hadoop.conf.HistorySetting;
import io.s3e.hadoop.conf.HistorySetting.Mode;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Slow;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobHistoryTest {
  /** As in a driver that lives for months: tables and executors come and go. */
  @Test
  void whatItHoldsIsBounded(@TempDir Path directory) throws Exception {
    HistorySetting setting =
        new HistorySetting(Mode.OBSERVE, directory.toUri().toString(), "j", "");
    int most = 3 * JobFacts.MOST_TABLES + JobTables.MOST_REPORTS;
    HistoryStore kept =
        new HistoryStore(new org.apache.hadoop.fs.Path(setting.directory()), conf());
    try (JobHistory history = Objects.requireNonNull(JobHistory.join(setting, conf()))) {
      for (int i = 0; i < 2 * most; i++) {
        OpenedFile unused = history.open(new ObjectRef("b", "table-" + i + "/file"));
      }
      for (int i = 0; i < 1_500; i++) {
        history.take("executor-" + i, report(i));
      }
      assertThat(history.tables.held()).isLessThanOrEqualTo(most);
      history.write();
    }
    List<JobFacts.Run> runs = kept.read("j").facts().runs();
    assertThat(runs).as("what each executor has told, and the driver").hasSize(1_501);
  }

  /** As executors of one application report: all of the same tables. */
  @Test
  @Slow
  void tablesThatManyReportAreHeldOnce(@TempDir Path directory) throws Exception {
    HistorySetting setting =
        new HistorySetting(Mode.OBSERVE, directory.toUri().toString(), "j", "");
    try (JobHistory driver = Objects.requireNonNull(JobHistory.join(setting, conf()))) {
      for (int i = 0; i < 1_000; i++) {
        driver.take("executor-" + i, report(i, 100));
      }
      assertThat(driver.tables.held()).as("a run of each, and the tables").isEqualTo(1_000 + 100);
      driver.take("executor-7", report(7, 100));
      assertThat(driver.tables.held()).as("once more").isEqualTo(1_000 + 100);
      driver.write();
    }
    JobFacts kept =
        new HistoryStore(new org.apache.hadoop.fs.Path(setting.directory()), conf())
            .read("j")
            .facts();
    assertThat(kept.tables()).hasSize(100).allMatch(table -> table.scans().size() == 2);
    assertThat(kept.runs()).hasSize(1_001);
    assertThat(kept.comparison().with().tasks()).isEqualTo(1_000);
  }

  /** Not all tables that an executor ever opened, every five seconds of its life. */
  @Test
  void aReportTellsOfTablesWhatIsNewAndFromTimeToTimeAll(@TempDir Path directory) throws Exception {
    HistorySetting setting =
        new HistorySetting(Mode.OBSERVE, directory.toUri().toString(), "executors", "");
    byte[] nothing = HistoryFile.encode(JobFacts.none("j"));
    try (JobHistory executor =
        Objects.requireNonNull(JobHistory.joinLeavingStore(setting, conf(), () -> nothing))) {
      Map<String, PlaceFacts> known = new HashMap<>();
      for (int i = 0; i < 500; i++) {
        OpenedFile unused = executor.open(new ObjectRef("b", "table-" + i + "/file"));
        known.put("b/table-" + i, new PlaceFacts(100 + i, List.of(), List.of()));
      }
      executor.tables.learn(known);
      assertThat(HistoryFile.decode(executor.report()).tables()).hasSize(500);
      executor.tables.learn(known);
      byte[] second = executor.report();
      assertThat(second).as("nothing is new").hasSizeLessThan(1_000);
      assertThat(HistoryFile.decode(second).tables()).isEmpty();
      assertThat(HistoryFile.decode(second).runs()).hasSize(1);

      known.put("b/table-7", new PlaceFacts(9_999, List.of(), List.of()));
      executor.tables.learn(known);
      assertThat(HistoryFile.decode(executor.report()).tables())
          .hasSize(1)
          .allMatch(table -> table.place().equals("b/table-7") && table.footerBytes() == 9_999);

      List<Integer> later = new ArrayList<>();
      for (int i = 0; i < JobTables.REPORTS_TO_WHOLE; i++) {
        later.add(HistoryFile.decode(executor.report()).tables().size());
      }
      assertThat(later)
          .as("one that is whole makes good those that are lost")
          .containsOnlyOnce(500);
      assertThat(later.stream().mapToInt(tables -> tables).sum()).isEqualTo(500);
    }
  }

  /** As in a notebook: Hadoop keeps the file systems of its first SparkContext. */
  @Test
  void whatIsReadByAFileSystemOfAnEarlierJobIsTheRunningJobs(@TempDir Path directory)
      throws Exception {
    List<String> jobs = List.of("first", "second", "third");
    try (JobHistory ofFiles =
        Objects.requireNonNull(JobHistory.join(job("first", directory), conf()))) {
      for (String job : jobs) {
        try (JobHistory driver =
            Objects.requireNonNull(JobHistory.join(job(job, directory), conf()))) {
          OpenedFile unused = ofFiles.open(new ObjectRef("b", "table-of-" + job + "/file"));
          PlaceFacts learnt = new PlaceFacts(100, List.of(), List.of());
          driver.tables.learn(
              jobs.stream().collect(Collectors.toMap(of -> "b/table-of-" + of, of -> learnt)));
          driver.write();
        }
      }
    }
    HistoryStore kept =
        new HistoryStore(
            new org.apache.hadoop.fs.Path(job("first", directory).directory()), conf());
    for (String job : jobs) {
      assertThat(kept.read(job).facts().tables())
          .extracting(TableFacts::place)
          .containsExactly("b/table-of-" + job);
    }
  }

  /** Whose credentials reach the directory is nothing that another user may have a part in. */
  @Test
  void fileSystemsOfEachUserShareAHistory(@TempDir Path directory) throws Exception {
    HistorySetting setting = job("j", directory);
    UserGroupInformation alice = UserGroupInformation.createRemoteUser("alice");
    UserGroupInformation aliceToo = UserGroupInformation.createRemoteUser("alice");
    UserGroupInformation bob = UserGroupInformation.createRemoteUser("bob");
    try (JobHistory one = joined(alice, setting);
        JobHistory two = joined(bob, setting);
        JobHistory three = joined(aliceToo, setting)) {
      assertThat(two).isNotSameAs(one);
      assertThat(three).isSameAs(one);
    }
  }

  /** As beside Spark's plugin, which collects what all of them have read. */
  @Test
  void fileSystemsOfAllUsersShareTheHistoryOfAnApplication(@TempDir Path directory)
      throws Exception {
    HistorySetting setting = job("j", directory);
    try (JobHistory driver = Objects.requireNonNull(JobHistory.join(setting, conf()));
        JobHistory one = joined(UserGroupInformation.createRemoteUser("alice"), setting);
        JobHistory two = joined(UserGroupInformation.createRemoteUser("bob"), setting)) {
      assertThat(one).isSameAs(driver);
      assertThat(two).isSameAs(driver);
    }
  }

  /** A file system may be there before the plugin is, whose history is for all users. */
  @Test
  void anApplicationsHistoryIsForAllUsersWhoeverHasOneBefore(@TempDir Path directory)
      throws Exception {
    HistorySetting setting = job("j", directory);
    try (JobHistory before = joined(UserGroupInformation.getCurrentUser(), setting);
        JobHistory driver = Objects.requireNonNull(JobHistory.join(setting, conf()));
        JobHistory users = joined(UserGroupInformation.getCurrentUser(), setting);
        JobHistory others = joined(UserGroupInformation.createRemoteUser("bob"), setting)) {
      assertThat(driver).isNotSameAs(before);
      assertThat(users).isSameAs(driver);
      assertThat(others).isSameAs(driver);
    }
  }

  /** Whoever may write the directory chooses the names of files, and what lies in them. */
  @Test
  void whatAFileThatCannotBeReadSaysIsToldOnOneLine(@TempDir Path directory) throws Exception {
    HistorySetting setting =
        new HistorySetting(Mode.ON, directory.toUri().toString(), "j", "run of j");
    String forged = "{\"job\":\"j\",\"runs\":[{\"millis\":\"1\\n26-11-30 forged\\u001b[2J\"}]}";
    Path ofJob = Files.createDirectories(directory.resolve(JobName.directory("j")));
    Files.writeString(
        ofJob.resolve("history-1\n26-11-30 forged\u001b[2J.json"), HistoryFile.text(forged));
    try (CapturedLog log = new CapturedLog();
        JobHistory history = Objects.requireNonNull(JobHistory.join(setting, conf()))) {
      assertThat(HistoryFile.decode(history.known()).runs()).isEmpty();
      assertThat(log.await("forged"))
          .hasSize(1)
          .first()
          .asString()
          .contains("WARN", "history-1?26-11-30 forged?[2J.json", "1?26-11-30 forged?[2J")
          .doesNotContain("\u001b");
    }
  }

  /** As where nobody's credentials reach the directory. */
  @Test
  void whatTheHistoriesOfAllUsersMeetIsToldOnce(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("histories"), "no directory");
    HistorySetting setting = new HistorySetting(Mode.ON, file.toUri().toString(), "j", "run of j");
    try (CapturedLog log = new CapturedLog();
        JobHistory one = joined(UserGroupInformation.createRemoteUser("alice"), setting);
        JobHistory two = joined(UserGroupInformation.createRemoteUser("bob"), setting)) {
      assertThat(two).isNotSameAs(one);
      for (JobHistory each : List.of(one, two)) {
        OpenedFile unused = each.open(new ObjectRef("b", "table/file"));
        each.tables.learn(Map.of("b/table", new PlaceFacts(100, List.of(), List.of())));
        each.write();
      }
      assertThat(log.lines("WARN")).hasSize(1);
    }
  }

  private static JobHistory joined(UserGroupInformation user, HistorySetting setting)
      throws Exception {
    FileSystem files = FileSystem.getLocal(conf());
    PrivilegedExceptionAction<JobHistory> join = () -> JobHistory.join(setting, conf(), files);
    return Objects.requireNonNull(user.doAs(join));
  }

  private static HistorySetting job(String name, Path directory) {
    return new HistorySetting(Mode.OBSERVE, directory.toUri().toString(), name, "run of " + name);
  }

  private static Configuration conf() {
    return new Configuration(false);
  }

  private static byte[] report(int executor) throws Exception {
    return report(executor, 1);
  }

  /** Half of them have read other columns than the others. */
  private static byte[] report(int executor, int count) throws Exception {
    JobFacts.Run run =
        new JobFacts.Run("r", "p" + executor, 1 + executor, Blocked.task(1), Blocked.NONE);
    TableFacts.Scan scan = new TableFacts.Scan(1, executor % 2 == 0 ? "03" : "05");
    List<TableFacts> tables =
        IntStream.range(0, count)
            .mapToObj(i -> new TableFacts("b/t" + i, 1, 100, List.of(), List.of(scan)))
            .toList();
    return HistoryFile.encode(new JobFacts("j", "", List.of(run), tables));
  }
}
