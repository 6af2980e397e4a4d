// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.block.ByteRange;
import io.s3e.client.ClientProvider;
import io.s3e.hadoop.cache.EngineFactory;
import io.s3e.hadoop.client.OpenEngines;
import io.s3e.hadoop.client.ReadEngine;
import io.s3e.hadoop.hadoop33.Reads;
import io.s3e.hadoop.spark.SparkTask;
import io.s3e.hadoop.stats.JoinedStatistics;
import io.s3e.hadoop.stats.OpenerStatistics;
import io.s3e.hadoop.stats.StreamWork;
import io.s3e.hadoop.stream.OpenHints;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.ReadPolicy;
import java.io.Closeable;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.StreamStatisticNames;
import org.apache.hadoop.util.StringUtils;
import org.jspecify.annotations.Nullable;

/**
 * The JVM's engine and the accounts of a framework, for the reads of one file system on Hadoop 3.3.
 *
 * @param owner what to call the file system in messages
 * @param left the engine, until it is closed
 * @param onFallback counts; leads to no file system
 */
record HostOnHadoop33(
    String owner,
    EngineFactory factory,
    AtomicReference<ReadEngine.@Nullable Made> left,
    Runnable onFallback)
    implements Reads.Host {
  @Override
  public S3E create(Closeable reads, String store, @Nullable String secret, ClientProvider client)
      throws IOException {
    S3E made = factory.create(owner, store, secret, client);
    left.set(new ReadEngine.Made(made, () -> {}));
    ReadEngine.endForgotten(reads, left);
    OpenEngines.opened(reads, made);
    return made;
  }

  @Override
  public void closed(Closeable reads) {
    left.set(null);
    OpenEngines.closed(reads);
  }

  @Override
  public Reads.Account account() {
    return new StreamAccount(OpenerStatistics.ofAccount());
  }

  @Override
  public ReadPolicy policy(String names) {
    ReadPolicy known = OpenHints.firstKnown(StringUtils.getTrimmedStringCollection(names));
    return known == null ? ReadPolicy.ADAPTIVE : known;
  }

  @Override
  public OpenOptions ofTask(Path path, Configuration options, OpenOptions told) {
    ByteRange byOpener = OpenHints.split(options);
    ByteRange split = byOpener == null ? SparkTask.splitOf(path) : byOpener;
    OpenOptions known = split == null ? told.withSplits(SparkTask.splits(path)) : told;
    return known.withSplit(split).withCancelled(SparkTask.isPossible() ? SparkTask::killed : null);
  }

  @Override
  public @Nullable String label() {
    return SparkTask.label();
  }

  @Override
  public void fellBack() {
    onFallback.run();
  }

  private static final class StreamAccount extends StreamWork implements Reads.Account {
    private final OpenerStatistics opener;
    private volatile Runnable onGet = () -> {};

    StreamAccount(OpenerStatistics opener) {
      this.opener = opener;
    }

    @Override
    public StreamListener listener(Runnable get) {
      onGet = get;
      return this;
    }

    @Override
    public void onGetSent(long offset, long bytes, boolean prefetch) {
      onGet.run();
    }

    @Override
    public void end(@Nullable IOStatistics ofS3a, long bytesByS3e) {
      IOStatistics theirs = ofS3a == null ? new IOStatisticsSnapshot() : ofS3a;
      // What S3A's stream has read was not read by S3E, nor from memory.
      Map<String, Long> own = Map.of(StreamStatisticNames.STREAM_READ_BYTES, bytesByS3e);
      tell(opener, new JoinedStatistics(theirs, () -> own, Map::of));
    }
  }
}
