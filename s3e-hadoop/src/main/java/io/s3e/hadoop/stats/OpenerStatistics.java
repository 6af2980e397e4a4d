// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import java.util.function.Supplier;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsAggregator;
import org.apache.hadoop.fs.statistics.IOStatisticsContext;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.StoreStatisticNames;
import org.jspecify.annotations.Nullable;

/**
 * Where the counts of a stream go when it is closed: to Hadoop's statistics of the thread that
 * opened it, and to the account that a framework keeps for the work of that thread. Any thread.
 *
 * <p>An account is asked for when a file is opened, on the thread that opens it, and given the
 * counts when the stream is closed, by whichever thread closes it, perhaps long after the work has
 * ended. What happens to the stream's bytes afterwards is given to the account alone, one counter
 * at a time: Hadoop's thread may do something else by then. HEADs go to the account as they are
 * sent.
 */
public final class OpenerStatistics {
  private static volatile @Nullable Supplier<@Nullable IOStatisticsAggregator> accounts;

  private final @Nullable IOStatisticsAggregator thread;
  private final @Nullable IOStatisticsAggregator account;

  private OpenerStatistics(
      @Nullable IOStatisticsAggregator thread, @Nullable IOStatisticsAggregator account) {
    this.thread = thread;
    this.account = account;
  }

  /**
   * Has the accounts of a framework kept, in place of those of any before.
   *
   * @param ofThread the account for what the calling thread opens; null answers leave a stream out,
   *     and null in place of it leaves out all
   */
  public static void keepAccounts(@Nullable Supplier<@Nullable IOStatisticsAggregator> ofThread) {
    accounts = ofThread;
  }

  /** For a stream that the calling thread opens. */
  public static OpenerStatistics ofThisThread() {
    return new OpenerStatistics(
        IOStatisticsContext.getCurrentIOStatisticsContext().getAggregator(), account());
  }

  /** The account alone: Hadoop has no statistics of threads before 3.3.5. */
  public static OpenerStatistics ofAccount() {
    return new OpenerStatistics(null, account());
  }

  private static @Nullable IOStatisticsAggregator account() {
    Supplier<@Nullable IOStatisticsAggregator> kept = accounts;
    return kept == null ? null : kept.get();
  }

  /** For a stream that no framework has an account for. */
  public static OpenerStatistics of(IOStatisticsAggregator thread) {
    return new OpenerStatistics(thread, null);
  }

  /**
   * The calling thread is about to send a HEAD to find or to open a file: S3A's, which counts those
   * of the file system alone.
   */
  public static void countHead() {
    ofAccount().toAccount(StoreStatisticNames.ACTION_HTTP_HEAD_REQUEST, 1);
  }

  /** For Hadoop's statistics of the thread, once for each stream. */
  void toThread(IOStatistics counts) {
    if (thread != null) {
      thread.aggregate(counts);
    }
  }

  /**
   * For the account, all counters of a stream, once and before {@link #toAccount(String, long)}.
   */
  void toAccount(IOStatistics counts) {
    if (account != null) {
      account.aggregate(counts);
    }
  }

  /** For the account: a counter of a stream has grown since. */
  void toAccount(String counter, long amount) {
    if (account != null) {
      account.aggregate(counter(counter, amount));
    }
  }

  private static IOStatistics counter(String name, long amount) {
    IOStatisticsSnapshot counts = new IOStatisticsSnapshot();
    counts.counters().put(name, amount);
    return counts;
  }
}
