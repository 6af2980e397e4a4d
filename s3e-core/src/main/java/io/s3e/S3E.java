// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientProvider;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.columnar.LayoutMemory;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.fault.FaultPolicy;
import io.s3e.fetch.FetchConfig;
import io.s3e.fetch.Fetcher;
import io.s3e.fetch.GetLedger;
import io.s3e.fetch.HeadFetch;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.fetch.Tenant;
import io.s3e.memory.Account;
import io.s3e.metrics.EngineMetrics;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.Announcement;
import io.s3e.stream.S3EInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A tenant of this JVM's engine: one client with its credentials, and the streams that are opened
 * on it. Any thread.
 *
 * <pre>{@code
 * try (S3E s3e = S3E.create(S3EConfig.DEFAULTS, AwsClients.crt(settings));
 *     S3EInputStream in = s3e.open(new ObjectRef("bucket", "key"))) {
 *   in.readFullyAt(offset, bytes, 0, bytes.length);
 * }
 * }</pre>
 *
 * <p><b>The engine.</b> Memory, blocks, connections and the cache on local disk belong to an
 * engine, which all tenants of a {@link MemoryBudget} share: as a rule that is one for the JVM. The
 * first tenant makes it and sets what is the JVM's (memory budget, block size, place of the disk
 * cache). After the last one has {@linkplain #close closed}, the JVM's engine waits half a minute
 * for the next one; then it ends. Bytes that one tenant has fetched are served to another once S3
 * has answered the other for that version, with its own credentials.
 */
public final class S3E implements AutoCloseable {
  private final S3EConfig config;
  private final Engine engine;
  private final EngineClients.Client made;
  private final ObjectClient client;
  private final Account account;

  /** The holder of blocks: all tenants that read the same store, or this one. */
  private final Object sharing;

  private final CompletableFuture<@Nullable DiskCache> disk;
  private final Fetcher fetcher;
  private final HeadFetch heads;
  private final EngineStreams streams;
  private final AtomicBoolean closed = new AtomicBoolean();

  private S3E(
      S3EConfig asked,
      Engine engine,
      ClientProvider provider,
      EngineDisk.Opener disks,
      LongSupplier nanoClock) {
    this.engine = engine;
    long most = asked.maxWindowBytes();
    this.config =
        asked.toBuilder()
            .blockBytes(engine.blockBytes)
            .requestBytes(Math.max(asked.requestBytes(), engine.blockBytes))
            .memoryBytes(engine.budget.limit())
            .maxWindowBytes(most == S3EConfig.AUTOMATIC ? most : Math.max(most, engine.blockBytes))
            .build();
    this.made = engine.clients.make(provider, config.requestBytes(), config.blockBytes());
    int unused = engine.fetchers.incrementAndGet();
    this.client = made.client();
    this.account = engine.services.admission().account(made.carrier());
    Fetcher begun = null;
    try {
      this.sharing = config.store() == null ? new Object() : config.store();
      EngineMetrics metrics = new EngineMetrics(engine.diskMetrics);
      FetchConfig fetching =
          new FetchConfig(
              config.blockBytes(),
              config.requestBytes(),
              FaultPolicy.from(config.retryBase()),
              config.stallTimeout(),
              config.readTimeout(),
              config.accessMaxAge(),
              config.store());
      Tenant tenant = new Tenant(fetching, client, engine.services, account, metrics, nanoClock);
      begun = new Fetcher(tenant);
      this.fetcher = begun;
      // Beside the first reads, which need none of it.
      this.disk =
          engine
              .disk
              .open(config.diskCache(), disks)
              .thenApply(
                  cache -> {
                    if (cache != null) {
                      tenant.attach(cache, config.diskCache(), this::ownsDisk);
                    }
                    return cache;
                  });
      this.heads = new HeadFetch(tenant);
      this.streams = new EngineStreams(config, fetcher, client, heads, engine);
    } catch (RuntimeException | Error e) {
      account.close();
      try (client) {
        if (begun != null) {
          begun.close();
        }
      } catch (RuntimeException | Error closing) {
        e.addSuppressed(closing);
      }
      engine.clients.release(made);
      throw e;
    }
  }

  /** Whether all that is on disk was fetched by this tenant. */
  private boolean ownsDisk() {
    return config.diskCache().scope() == DiskCacheConfig.Scope.PRIVATE
        && engine.fetchers.get() == 1;
  }

  /**
   * A tenant of the JVM's engine.
   *
   * @throws IllegalStateException if the budget has fewer than two blocks
   */
  public static S3E create(S3EConfig config, ClientProvider client) {
    return create(config, Engine.join(config), client, DiskCache::open, System::nanoTime);
  }

  /** A tenant of the engine of that budget, which is apart from the JVM's. */
  public static S3E create(S3EConfig config, MemoryBudget budget, ClientProvider client) {
    Engine engine = Engine.join(config, budget, Duration.ZERO);
    return create(config, engine, client, DiskCache::open, System::nanoTime);
  }

  /** A tenant that has joined that engine; its proofs of access age by {@code nanoClock}. */
  static S3E create(
      S3EConfig config,
      Engine engine,
      ClientProvider client,
      EngineDisk.Opener disks,
      LongSupplier nanoClock) {
    try {
      return new S3E(config, engine, client, disks, nanoClock);
    } catch (RuntimeException | Error e) {
      engine.leave();
      throw e;
    }
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
      throw new IOException("Cannot open " + object + ": S3E is closed");
    }
    return streams.open(version(object, options), options);
  }

  /**
   * Says that an object will be opened soon: fetches its last 64 KiB, or all of it up to 1 MiB, as
   * a guess. Sends one GET, does not wait, and fails in silence. An opening with {@linkplain
   * OpenOptions#withAnnounced the announcement} finds what came, and can do without a HEAD.
   *
   * @param options with the size of an object that is not empty, and without an ETag
   * @return null if nothing is fetched: there is no room for a guess, prefetch is off, or this is
   *     closed
   * @throws IllegalArgumentException if the options tell no size, a size of 0, or a version
   */
  public @Nullable Announcement announce(ObjectRef object, OpenOptions options) {
    if (options.size() <= 0 || options.etag() != null) {
      String told = " with size " + options.size() + " and ETag " + options.etag();
      throw new IllegalArgumentException(
          "Cannot announce " + object + told + ": expected a size of 1 or more, and no ETag");
    }
    ObjectVersion version = ObjectVersion.unidentified(object, options.size(), options.versionId());
    return closed.get() ? null : streams.announce(version, options);
  }

  /**
   * Writes a range to a channel, in order, with many GETs in flight.
   *
   * @param range which bytes; null for the whole object
   * @return how many bytes
   * @throws java.io.EOFException if the range goes behind the end of the object
   */
  public long transfer(
      ObjectRef object,
      OpenOptions options,
      @Nullable ByteRange range,
      WritableByteChannel target,
      ProgressListener progress)
      throws IOException {
    // The download says itself what it will read; a guess beside it could only be wrong.
    try (S3EInputStream in = open(object, options.withPolicy(ReadPolicy.RANDOM))) {
      ByteRange bytes = range == null ? new ByteRange(0, in.size()) : range;
      Download.transfer(in, bytes, memoryLimit(), target, progress);
      return bytes.length();
    }
  }

  private ObjectVersion version(ObjectRef object, OpenOptions options) throws IOException {
    long size = options.size();
    String etag = etag(options);
    String versionId = options.versionId();
    if (size < 0) {
      ObjectHead head = head(object, options);
      size = head.size();
      if (etag == null) {
        etag = head.etag();
      } else if (head.etag() != null && !etag.equals(head.etag())) {
        String now = object + " has ETag " + head.etag() + ", not " + etag;
        throw new ObjectChangedException(now, null);
      }
      // An id needs a right of its own to read by. The ETag names the version as well.
      versionId = versionId == null && etag == null ? head.versionId() : versionId;
    }
    return etag == null
        ? ObjectVersion.unidentified(object, size, versionId)
        : ObjectVersion.identified(object, size, etag, versionId).heldFor(sharing);
  }

  /** The version to read: the caller's, else the announced one where the caller tells its size. */
  private static @Nullable String etag(OpenOptions options) {
    Announcement announced = options.announced();
    return options.etag() == null && announced != null && announced.size() == options.size()
        ? announced.etag()
        : options.etag();
  }

  private ObjectHead head(ObjectRef object, OpenOptions options) throws IOException {
    try {
      return heads.head(
          new HeadRequest(object, options.versionId(), options.headers(), options.context()));
    } catch (RequestFailure e) {
      if (e.kind() == RequestFailure.Kind.NOT_FOUND) {
        throw (IOException) new FileNotFoundException("No such object: " + object).initCause(e);
      }
      throw new IOException("Cannot open " + object + ": " + e.getMessage(), e);
    }
  }

  /** The work of this tenant so far. */
  public EngineMetrics metrics() {
    return fetcher.tenant.metrics;
  }

  /** What streams of the engine have learnt of files, by all tenants. */
  public LayoutMemory learnt() {
    return engine.layouts;
  }

  /** The latest GETs of the engine, by all tenants. */
  public GetLedger gets() {
    return engine.services.ledger();
  }

  /** Bytes of the memory budget that this tenant's GETs were granted and still hold. */
  public long memoryBytes() {
    return closed.get() ? 0 : account.heldBytes() + made.ownedBytes();
  }

  /** The use of the engine's cache on local disk; null if there is none, or none yet. */
  public @Nullable DiskUse diskUse() {
    DiskCache cache = disk.getNow(null);
    return cache == null ? null : new DiskUse(cache.bytes(), cache.capacityBytes());
  }

  /**
   * Runs {@code then} when it is known whether this tenant has a cache on local disk: at once, or
   * on the thread that opens it.
   */
  public void whenDiskCacheIsOpen(Runnable then) {
    CompletableFuture<Void> unused = disk.thenRun(then);
  }

  /** The configuration as it applies: what is the JVM's is the engine's. */
  public S3EConfig config() {
    DiskCache cache = disk.getNow(null);
    if (cache == null) {
      return config;
    }
    DiskCacheConfig own = config.diskCache();
    DiskCacheConfig.Builder applied = cache.config().toBuilder().mode(own.mode());
    return config.toBuilder().diskCache(applied.hybridBytes(own.hybridBytes()).build()).build();
  }

  /** The most memory that all tenants of the engine may hold together, in bytes. */
  public long memoryLimit() {
    return engine.budget.limit();
  }

  /** The client that the tenant reads with. */
  public ObjectClient client() {
    return client;
  }

  /**
   * Fails what is being read, cancels what is in flight, waits a bounded time for the client to
   * end, and gives back what only this tenant needs. Idempotent.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try (fetcher;
        client) {
      // And again at last: an answer of a moment ago may come into memory behind this look.
      fetcher.close();
    } finally {
      try {
        engine.clients.release(made);
      } finally {
        engine.leave();
      }
    }
  }
}
