package io.s3e;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientProvider;
import io.s3e.client.ClientProvider.ClientMemory;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.disk.DiskCache;
import io.s3e.fetch.Fetcher;
import io.s3e.metrics.EngineMetrics;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * An engine: one client, its share of the memory budget, and the blocks in memory, shared by all
 * streams opened on it. Any thread.
 *
 * <pre>{@code
 * try (S3E engine = S3E.create(S3EConfig.DEFAULTS, AwsClients.provider(ClientKind.AUTO, settings));
 *     S3EInputStream in = engine.open(new ObjectRef("bucket", "key"))) {
 *   in.readFullyAt(offset, bytes, 0, bytes.length);
 * }
 * }</pre>
 *
 * <p><b>Memory.</b> An engine takes its part of the JVM's {@link MemoryBudget} when it is created:
 * a part that its client owns (five eighths if it is the first), and pooled buffers as they are
 * needed, for which engines make room for each other. Both are given back by {@link #close}.
 */
public final class S3E implements AutoCloseable {
  /**
   * Clients leave an eighth of the JVM's budget to pooled buffers, however many engines there are.
   */
  private static final int POOLS_SHARE = 8;

  /**
   * Of what is left above that, the part for the client's memory. It carries what is in flight; the
   * rest holds short reads and what was read. Five eighths of the whole budget for the first
   * engine.
   */
  private static final int CLIENT_PART = 5;

  private static final int CLIENT_OF = 7;

  private final S3EConfig config;
  private final MemoryBudget budget;
  private final ObjectClient client;
  private final EngineDisk disk;
  private final BlockPool pool;
  private final Fetcher fetcher;
  private final EngineStreams streams;
  private final EngineMetrics metrics = new EngineMetrics();
  private final AtomicBoolean closed = new AtomicBoolean();

  private S3E(
      S3EConfig config, MemoryBudget budget, ClientProvider provider, EngineDisk.Opener disks) {
    this.config = config;
    this.budget = budget;
    long forPools = budget.limit() / POOLS_SHARE;
    budget.reclaim(forPools, null);
    this.disk = EngineDisk.open(config.diskCache(), disks, budget, forPools, metrics.disk());
    boolean complete = false;
    try {
      this.client = client(config, budget, provider, forPools);
      this.pool = pool(config, budget, client);
      complete = true;
    } finally {
      if (!complete) {
        disk.close();
      }
    }
    this.fetcher =
        new Fetcher(
            new Fetcher.FetchConfig(
                config.blockBytes(),
                config.requestBytes(),
                config.maxAttempts(),
                config.retryBase(),
                config.retryCap(),
                config.stallTimeout()),
            client,
            budget,
            pool,
            metrics,
            disk.cache());
    this.streams = new EngineStreams(config, fetcher, client);
  }

  /**
   * Makes the client. Its part of the budget is reserved before, because another engine may be made
   * at the same time, and what it does not own is given back.
   */
  private static ObjectClient client(
      S3EConfig config, MemoryBudget budget, ClientProvider provider, long forPools) {
    long granted;
    do {
      granted = Math.max(0, budget.available() - forPools) / CLIENT_OF * CLIENT_PART;
    } while (!budget.tryReserve(granted));
    long owned = 0;
    try {
      ObjectClient client =
          provider.create(new ClientMemory(granted, config.requestBytes(), config.blockBytes()));
      long wanted = client.limits().ownedBytes();
      if (wanted > granted) {
        client.close();
        throw new IllegalStateException(
            "client "
                + client.name()
                + " owns "
                + wanted
                + " bytes of memory, more than the "
                + granted
                + " bytes of the budget that it was granted");
      }
      owned = wanted;
      return client;
    } finally {
      budget.release(granted - owned);
    }
  }

  /** Makes the pool of what is left; closes the client if that is too little. */
  private static BlockPool pool(S3EConfig config, MemoryBudget budget, ObjectClient client) {
    long owned = client.limits().ownedBytes();
    long blocks = budget.available() / config.blockBytes();
    if (blocks >= 2) {
      return new BlockPool(budget, config.blockBytes(), (int) Math.min(Integer.MAX_VALUE, blocks));
    }
    client.close();
    budget.release(owned);
    throw new IllegalStateException(
        "memory budget of "
            + budget.limit()
            + " bytes has "
            + blocks * config.blockBytes()
            + " bytes left beside the "
            + owned
            + " bytes of client "
            + client.name()
            + ", fewer than two blocks of "
            + config.blockBytes()
            + " bytes: raise the budget or lower the block size");
  }

  /**
   * An engine within the JVM's memory budget, which the first engine's configuration sets.
   *
   * @throws IllegalStateException if the budget has less than two blocks left
   * @throws java.io.UncheckedIOException if a directory of the disk cache must not be trusted
   */
  public static S3E create(S3EConfig config, ClientProvider client) {
    return create(config, MemoryBudget.ofJvm(config.effectiveMemoryBytes()), client);
  }

  /** An engine within a budget of its own choice. */
  public static S3E create(S3EConfig config, MemoryBudget budget, ClientProvider client) {
    return create(config, budget, client, DiskCache::open);
  }

  static S3E create(
      S3EConfig config, MemoryBudget budget, ClientProvider client, EngineDisk.Opener disks) {
    return new S3E(config, budget, client, disks);
  }

  /** Opens an object of unknown size; asks the store for it. */
  public S3EInputStream open(ObjectRef object) throws IOException {
    return open(object, OpenOptions.DEFAULTS);
  }

  /**
   * Opens an object. Asks the store for size and version only if the options do not tell the size;
   * otherwise nothing is sent before the first read.
   *
   * @throws FileNotFoundException if there is no such object
   */
  public S3EInputStream open(ObjectRef object, OpenOptions options) throws IOException {
    if (closed.get()) {
      throw new IOException("Cannot open " + object + ": the engine is closed");
    }
    return streams.open(version(object, options), options);
  }

  /**
   * Reads a range into {@code target} from its position on, with many GETs in flight.
   *
   * @param range which bytes; null for the whole object
   * @return how many bytes
   * @throws java.io.EOFException if the range goes behind the end of the object
   */
  public long read(
      ObjectRef object,
      OpenOptions options,
      @Nullable ByteRange range,
      ByteBuffer target,
      ProgressListener progress)
      throws IOException {
    return transfer(object, options, range, progress, download -> download.to(target));
  }

  /**
   * Writes a range to a file, with many GETs in flight. The file appears, and replaces what has its
   * name, only when it is whole. Otherwise as {@link #read}.
   */
  public long download(
      ObjectRef object,
      OpenOptions options,
      @Nullable ByteRange range,
      Path target,
      ProgressListener progress)
      throws IOException {
    return transfer(object, options, range, progress, download -> download.to(target));
  }

  /**
   * Writes a range to a channel, in order, with many GETs in flight. Otherwise as {@link #read}.
   */
  public long transfer(
      ObjectRef object,
      OpenOptions options,
      @Nullable ByteRange range,
      WritableByteChannel target,
      ProgressListener progress)
      throws IOException {
    return transfer(object, options, range, progress, download -> download.to(target));
  }

  private interface Delivery {
    void deliver(Download download) throws IOException;
  }

  private long transfer(
      ObjectRef object,
      OpenOptions options,
      @Nullable ByteRange range,
      ProgressListener progress,
      Delivery delivery)
      throws IOException {
    // The download says itself what it will read; a guess beside it could only be wrong.
    try (S3EInputStream in = open(object, options.withPolicy(ReadPolicy.RANDOM))) {
      ByteRange bytes = range == null ? new ByteRange(0, in.size()) : range;
      delivery.deliver(new Download(in, bytes, config.effectiveMemoryBytes(), progress));
      return bytes.length();
    }
  }

  private ObjectVersion version(ObjectRef object, OpenOptions options) throws IOException {
    if (options.size() >= 0) {
      return version(object, options.size(), options.etag(), options.versionId());
    }
    ObjectHead head = head(object, options);
    String etag = options.etag() == null ? head.etag() : options.etag();
    String versionId = options.versionId() == null ? head.versionId() : options.versionId();
    return version(object, head.size(), etag, versionId);
  }

  private static ObjectVersion version(
      ObjectRef object, long size, @Nullable String etag, @Nullable String versionId) {
    return etag == null
        ? ObjectVersion.unidentified(object, size, versionId)
        : ObjectVersion.identified(object, size, etag, versionId);
  }

  private ObjectHead head(ObjectRef object, OpenOptions options) throws IOException {
    try {
      return streams.head(
          new HeadRequest(object, options.versionId(), options.headers(), options.context()));
    } catch (RequestFailure e) {
      if (e.kind() == RequestFailure.Kind.NOT_FOUND) {
        throw (IOException) new FileNotFoundException("No such object: " + object).initCause(e);
      }
      throw new IOException("Cannot open " + object + ": " + e.getMessage(), e);
    }
  }

  /** What this engine has done so far. */
  public EngineMetrics metrics() {
    return metrics;
  }

  /** Bytes that the engine holds of the JVM's memory budget now: its client's and its pool's. */
  public long memoryBytes() {
    return closed.get() ? 0 : client.limits().ownedBytes() + pool.reservedBytes();
  }

  /** The cache on local disk; null if there is none. */
  public @Nullable DiskCache diskCache() {
    return disk.cache();
  }

  public S3EConfig config() {
    return config;
  }

  /** The most memory that this engine and all that share its budget may hold, in bytes. */
  public long memoryLimit() {
    return budget.limit();
  }

  /** The client that the engine reads with. */
  public ObjectClient client() {
    return client;
  }

  /**
   * Fails what is being read, cancels what is in flight, waits a bounded time for the client to
   * end, and gives all memory back. Idempotent.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    streams.close();
    fetcher.close();
    client.close();
    disk.close();
    budget.release(client.limits().ownedBytes());
    pool.close();
  }
}
