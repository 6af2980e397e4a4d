// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.jvm.Background;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsBinding;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsStore;
import org.apache.spark.TaskContext$;
import org.junit.jupiter.api.Test;

class TaskAccountTest {
  private static IOStatisticsStore stream(long read, long fromDisk, long fromS3) {
    IOStatisticsStore store =
        IOStatisticsBinding.iostatisticsStore()
            .withCounters("stream_read_bytes", "s3e_cache_hit_bytes", "s3e_fetched_bytes")
            .build();
    store.setCounter("stream_read_bytes", read);
    store.setCounter("s3e_cache_hit_bytes", fromDisk);
    store.setCounter("s3e_fetched_bytes", fromS3);
    return store;
  }

  @Test
  void aStreamIsCountedOnceWhetherItEndsBeforeItsTaskOrAfter() {
    List<ReadCounts> late = new ArrayList<>();
    TaskAccount account = new TaskAccount(new StageAttempt(1, 0), 1_000, 300, late::add);
    account.aggregate(stream(100, 0, 120));
    account.aggregate(stream(50, 10, 10));
    assertThat(account.aggregate(null)).isFalse();

    ReadCounts task = account.end(3_500, 800);
    assertThat(task.tasks()).isEqualTo(1);
    assertThat(task.taskNanos()).isEqualTo(2_500);
    assertThat(task.taskCpuNanos()).isEqualTo(500);
    assertThat(task.bytesRead()).isEqualTo(150);
    assertThat(task.bytesFromDisk()).isEqualTo(10);
    assertThat(task.bytesFromS3()).isEqualTo(130);
    // What neither the disk nor S3 was asked for.
    assertThat(task.bytesFromMemory()).isEqualTo(10);
    assertThat(late).isEmpty();

    account.aggregate(stream(7, 0, 7));
    assertThat(late).hasSize(1);
    assertThat(late.get(0).tasks()).isZero();
    assertThat(late.get(0).bytesRead()).isEqualTo(7);
  }

  private static IOStatisticsSnapshot prefetched(long bytes, long used) {
    IOStatisticsSnapshot counts = new IOStatisticsSnapshot();
    counts.counters().put("s3e_fetched_bytes", bytes);
    counts.counters().put("s3e_prefetched_bytes", bytes);
    counts.counters().put("s3e_prefetch_used_bytes", used);
    return counts;
  }

  /** The GET of a file that was announced has counters of its own. */
  @Test
  void whatAnotherStreamOfTheTaskHasFetchedIsNotFromMemory() {
    List<ReadCounts> late = new ArrayList<>();
    TaskAccount account = new TaskAccount(new StageAttempt(1, 0), 1_000, 300, late::add);
    ScanAccount scan = new ScanAccount();
    for (ReadTally each : List.of(account, scan)) {
      each.aggregate(prefetched(100, 100));
      each.aggregate(stream(60, 0, 0));
    }
    assertThat(scan.sum().bytesFromMemory()).isZero();
    assertThat(account.end(3_500, 800).bytesFromMemory()).isZero();

    // A range of a vectored read that came in the moment of the close; then one from memory.
    account.aggregate(stream(40, 0, 0));
    account.aggregate(stream(7, 0, 0));
    assertThat(late).extracting(ReadCounts::bytesFromMemory).containsExactly(0L, 7L);
  }

  @Test
  void whatIsPrefetchedAndNotReadLeavesReadsFromMemoryAsTheyAre() {
    List<ReadCounts> late = new ArrayList<>();
    TaskAccount account = new TaskAccount(new StageAttempt(1, 0), 1_000, 300, late::add);
    account.aggregate(stream(100, 0, 0));
    account.aggregate(prefetched(300, 20));
    ReadCounts task = account.end(3_500, 800);
    assertThat(task.bytesFromMemory()).isEqualTo(80);

    // By another task, whose bytes from memory they are.
    account.aggregate(prefetched(0, 50));
    account.aggregate(prefetched(200, 0));
    account.aggregate(stream(10, 0, 10));
    ReadCounts sum = late.stream().reduce(task, ReadCounts::plus);
    assertThat(sum.bytesFromMemory()).isEqualTo(80);
    assertThat(sum.bytesRead()).isEqualTo(110);
    assertThat(sum.prefetchWastedBytes()).isEqualTo(430);
  }

  /** A stream that ends late tells of much that reports have no count of. */
  @Test
  void whatCountsNothingAfterTheTaskIsNotReported() throws Exception {
    List<ReadCounts> reported = new CopyOnWriteArrayList<>();
    TaskAccounts accounts = TaskAccounts.open((stage, counts, task) -> reported.add(counts));
    ReadTally tally;
    try (accounts) {
      tally = ofTaskThatHasEnded(accounts);
      tally.aggregate(new IOStatisticsSnapshot());
    }
    // What is late is reported at the end.
    assertThat(reported).extracting(ReadCounts::tasks).containsExactly(1L);

    tally.aggregate(stream(7, 0, 7));
    accounts.close();
    assertThat(reported).extracting(ReadCounts::bytesRead).containsExactly(0L, 7L);
  }

  /** Nothing of the application that happens to be first stays with a thread that goes on. */
  @Test
  void theThreadOfLateReportsIsOfNobodyAndEnds() throws Exception {
    List<Thread> threads = new CopyOnWriteArrayList<>();
    TaskAccounts accounts =
        TaskAccounts.open(
            (stage, counts, task) -> {
              if (task == null) {
                threads.add(Thread.currentThread());
              }
            });
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (accounts;
        URLClassLoader ofApplication = new URLClassLoader(new URL[0], before)) {
      Thread.currentThread().setContextClassLoader(ofApplication);
      ofTaskThatHasEnded(accounts).aggregate(stream(7, 0, 7));
      awaitTrue("a late report", Duration.ofSeconds(30), () -> !threads.isEmpty());
      assertThat(threads.get(0).getName()).isEqualTo("s3e-late-reports");
      assertThat(threads.get(0).getContextClassLoader()).isNotSameAs(ofApplication);
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
    assertThat(Background.await(threads.get(0), 30_000)).isTrue();
  }

  private static ReadTally ofTaskThatHasEnded(TaskAccounts accounts) throws Exception {
    Method ofThisThread = TaskAccounts.class.getDeclaredMethod("ofThisThread");
    ofThisThread.setAccessible(true);
    TaskContext$.MODULE$.setTaskContext(TaskContext$.MODULE$.empty());
    try {
      accounts.taskStarted();
      ReadTally tally = (ReadTally) ofThisThread.invoke(accounts);
      accounts.taskEnded();
      return tally;
    } finally {
      TaskContext$.MODULE$.unset();
    }
  }

  /**
   * Whether it leaves memory or stays there: what nobody has read is unread, until somebody does.
   */
  @Test
  void aBlockThatIsReadAfterTheCloseIsUnreadNoMore() {
    List<ReadCounts> late = new ArrayList<>();
    TaskAccount account = new TaskAccount(new StageAttempt(1, 0), 1_000, 300, late::add);
    IOStatisticsSnapshot stream = new IOStatisticsSnapshot();
    stream.counters().put("s3e_prefetched_bytes", 100L);
    stream.counters().put("s3e_prefetch_used_bytes", 30L);
    stream.counters().put("s3e_prefetch_wasted_bytes", 20L);
    account.aggregate(stream);
    ReadCounts task = account.end(3_500, 800);
    assertThat(task.prefetchWastedBytes()).isEqualTo(70);

    IOStatisticsSnapshot used = new IOStatisticsSnapshot();
    used.counters().put("s3e_prefetch_used_bytes", 40L);
    account.aggregate(used);
    IOStatisticsSnapshot dropped = new IOStatisticsSnapshot();
    dropped.counters().put("s3e_prefetch_wasted_bytes", 10L);
    account.aggregate(dropped);
    ReadCounts sum = late.stream().reduce(task, ReadCounts::plus);
    assertThat(sum.prefetchedBytes()).isEqualTo(100);
    assertThat(sum.prefetchWastedBytes()).isEqualTo(30);
  }
}
