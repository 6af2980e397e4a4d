// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.block.BlockLayout;
import io.s3e.block.ObjectVersion;
import io.s3e.client.ObjectClient;
import io.s3e.columnar.StreamPlanner;
import io.s3e.fetch.Fetcher;
import io.s3e.fetch.HeadFetch;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.ReaderProgress;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.IsolatedListener;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.Ahead;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.ReaderHabit;
import io.s3e.stream.Announcement;
import io.s3e.stream.BlockReader;
import io.s3e.stream.BoundedExecutor;
import io.s3e.stream.S3EInputStream;
import io.s3e.stream.StreamFactory;
import io.s3e.stream.StreamSource;
import java.util.concurrent.Executor;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/** Builds the streams of one tenant and owns what they share beside the fetcher. */
final class EngineStreams {
  /** The ranges that wait for memory at once; the others wait for their turn. */
  private static final int WAITING_RANGES = 32;

  private final S3EConfig config;
  private final PrefetchLimits limits;
  private final StreamSource source;
  private final Engine engine;

  EngineStreams(
      S3EConfig config, Fetcher fetcher, ObjectClient client, HeadFetch heads, Engine engine) {
    this.engine = engine;
    this.config = config;
    int longest = Math.max(client.limits().copyRequestBytes(), client.limits().lentSlotBytes());
    PrefetchLimits ofClient =
        PrefetchLimits.defaults(config.blockBytes(), Math.min(config.requestBytes(), longest));
    long most = config.maxWindowBytes();
    this.limits = most == S3EConfig.AUTOMATIC ? ofClient : ofClient.withWindowsUpTo(most);
    // Two, so that none waits behind another: to copy waits for nothing of S3E's, but it runs the
    // application's code, which allocates buffers and hears of the ends of ranges.
    int processors = Runtime.getRuntime().availableProcessors();
    Executor copying = new BoundedExecutor(engine.vectored, processors);
    Executor waiting = new BoundedExecutor(engine.vectored, WAITING_RANGES);
    this.source =
        new StreamSource(fetcher, heads, copying, waiting, config.prefetch(), engine.askers);
  }

  S3EInputStream open(ObjectVersion version, OpenOptions options) {
    return StreamFactory.open(reader(version, options), options.announced());
  }

  /** Fetches the end of an object that will be opened; null if there is no room for a guess. */
  @Nullable Announcement announce(ObjectVersion version, OpenOptions options) {
    return StreamFactory.announce(reader(version, options));
  }

  private BlockReader reader(ObjectVersion version, OpenOptions options) {
    BlockLayout layout = new BlockLayout(version.size(), config.blockBytes());
    StreamListener listener = IsolatedListener.of(options.listener());
    ObjLongConsumer<EngineMetrics.Counter> counts =
        ObjectHandle.counts(source.fetcher().tenant.metrics, listener);
    ReaderHabit habit = StreamPlanner.habitOf(engine.layouts, version.object());
    StreamPlanner planner = planner(version, layout, options, habit, counts);
    ReaderProgress progress = new ReaderProgress(planner.pattern(), habit);
    ObjectHandle handle =
        new ObjectHandle(
            version, layout, options.headers(), options.context(), listener, counts, progress);
    if (options.size() < 0) {
      // The store was asked for it.
      boolean unused = handle.pinTotal(version.size());
    }
    handle.cancelledBy(options.cancelled());
    long number = engine.streams.incrementAndGet();
    handle.readBy(source.fetcher().tenant.holder, number, options.label());
    source.fetcher().opened(handle);
    return new BlockReader(source, handle, planner, new Ahead(layout, counts));
  }

  private StreamPlanner planner(
      ObjectVersion version,
      BlockLayout layout,
      OpenOptions options,
      ReaderHabit habit,
      ObjLongConsumer<EngineMetrics.Counter> counts) {
    // Where the reader of a compressed footer finds the codecs of the application.
    ClassLoader codecs = Thread.currentThread().getContextClassLoader();
    return new StreamPlanner(
        new ReadPlanner(layout, options.policy(), options.split(), ofHabit(habit, options)),
        layout,
        limits,
        engine.layouts,
        options.past(),
        version,
        options.split() == null ? options.splits() : options::split,
        config.requestBytes(),
        codecs == null ? EngineStreams.class.getClassLoader() : codecs,
        config.columnar(),
        counts);
  }

  /** The limits of one that will read in order as those have done who did so beside it. */
  private PrefetchLimits ofHabit(ReaderHabit habit, OpenOptions options) {
    if (options.split() == null && options.policy() == ReadPolicy.ADAPTIVE) {
      return limits;
    }
    if (habit.isBrief() && options.policy() != ReadPolicy.WHOLE_FILE) {
      return limits.ofBriefReader();
    }
    return habit.isSlow() ? limits.ofSlowReader() : limits;
  }
}
