// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.conf.HistorySetting;
import io.s3e.hadoop.conf.HistorySetting.Mode;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobHistoryTest {
  /** As in a driver that lives for months: tables and executors come and go. */
  @Test
  void whatItHoldsIsBounded(@TempDir Path directory) throws Exception {
    HistorySetting setting =
        new HistorySetting(Mode.OBSERVE, directory.toUri().toString(), "j", "");
    int most = 2 * JobFacts.MOST_TABLES + JobHistory.MOST_REPORTS;
    HistoryStore kept =
        new HistoryStore(new org.apache.hadoop.fs.Path(setting.directory()), conf());
    try (JobHistory history = Objects.requireNonNull(JobHistory.join(setting, conf()))) {
      for (int i = 0; i < 2 * most; i++) {
        OpenedFile unused = history.open(new ObjectRef("b", "table-" + i + "/file"));
      }
      for (int i = 0; i < 1_500; i++) {
        history.take("executor-" + i, report(i));
      }
      assertThat(history.held()).isLessThanOrEqualTo(most);
      history.write();
    }
    List<JobFacts.Run> runs = kept.read("j").runs();
    assertThat(runs).as("what each executor has told, and the driver").hasSize(1_501);
  }

  private static Configuration conf() {
    return new Configuration(false);
  }

  private static byte[] report(int executor) throws Exception {
    JobFacts.Run run =
        new JobFacts.Run("r", "p" + executor, 1 + executor, Blocked.task(1), Blocked.NONE);
    TableFacts table =
        new TableFacts("b/t", 1, 100, List.of(), List.of(new TableFacts.Scan(1, "03")));
    return HistoryFile.encode(new JobFacts("j", "", List.of(run), List.of(table)));
  }
}
