package io.s3e.hadoop.stats;

import java.util.function.Supplier;
import org.apache.hadoop.fs.statistics.IOStatisticsAggregator;
import org.apache.hadoop.fs.statistics.IOStatisticsContext;
import org.jspecify.annotations.Nullable;

/**
 * Where the counts of a stream go when it is closed: to Hadoop's statistics of the thread that
 * opened it, and to the account that a framework keeps for the work of that thread. Any thread.
 *
 * <p>An account is asked for when a file is opened, on the thread that opens it, and given the
 * counts once, when the stream is closed, by whichever thread closes it, perhaps long after the
 * work has ended.
 */
public final class OpenerStatistics {
  private static volatile @Nullable Supplier<@Nullable IOStatisticsAggregator> accounts;

  private OpenerStatistics() {}

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
  public static IOStatisticsAggregator ofThisThread() {
    IOStatisticsAggregator thread =
        IOStatisticsContext.getCurrentIOStatisticsContext().getAggregator();
    Supplier<@Nullable IOStatisticsAggregator> kept = accounts;
    IOStatisticsAggregator account = kept == null ? null : kept.get();
    return account == null
        ? thread
        : counts -> {
          account.aggregate(counts);
          return thread.aggregate(counts);
        };
  }
}
