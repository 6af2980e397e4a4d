package io.s3e.fetch;

import io.s3e.block.BlockId;
import io.s3e.block.BlockRange;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.disk.DiskCache;
import io.s3e.fetch.DiskTier.Source;
import io.s3e.memory.Admission;
import io.s3e.memory.Admission.Kind;
import io.s3e.memory.Block;
import io.s3e.memory.BlockIndex;
import io.s3e.memory.Spill;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds blocks in memory, joins fetches that are under way, and starts new ones: the one way from a
 * reader to S3. Shared by all streams of an engine.
 *
 * <p>The path of one block: {@link #find} in the index; else {@link #demand} starts a {@link
 * RunFetch} for it (waiting for memory if it must) and {@link #await} waits for the bytes, with a
 * deadline. {@link #prefetch} starts runs only as far as {@link Admission} has room, and never
 * waits.
 *
 * <p>Any thread. Readers wait on their block alone; the only thread here is one timer for pauses
 * between attempts and for the silence of attempts.
 */
public final class Fetcher implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Fetcher.class);

  private static final long TICK_MILLIS = 100;

  /** A look at the disk is some turns of threads, each of which may come so late. */
  private static final int LATENESS_FACTOR = 4;

  private static final long CLOSED_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** S3 asks to slow down for a reason: wait longer than after a lost connection. */
  private static final int THROTTLED_FACTOR = 5;

  private final FetchConfig config;
  private final ObjectClient client;
  private final BlockIndex index = new BlockIndex();
  private final Admission admission;
  private final EngineMetrics metrics;
  private final @Nullable DiskTier disk;
  private final @Nullable Spiller spiller;
  private final Set<RunFetch> running = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService timer;
  private final Future<?> ticking;
  // The timer's alone.
  private long tickedNanos = System.nanoTime();
  private long lateNanos;

  private volatile boolean closed;

  /**
   * Patience and sizes of a fetcher.
   *
   * @param blockBytes block size in bytes
   * @param requestBytes longest GET in bytes
   * @param maxAttempts attempts without a new block, in a row, after which a run has failed
   * @param retryBase pause before the second attempt
   * @param retryCap longest pause
   * @param stallTimeout silence after which an attempt is given up
   */
  public record FetchConfig(
      int blockBytes,
      int requestBytes,
      int maxAttempts,
      Duration retryBase,
      Duration retryCap,
      Duration stallTimeout) {}

  /**
   * @param budget where {@code pool} takes its memory from; asked for more when readers wait
   * @param diskCache where blocks go that leave memory, and are looked for before S3 is asked; null
   *     if there is none. Closed by the caller, after this
   */
  public Fetcher(
      FetchConfig config,
      ObjectClient client,
      MemoryBudget budget,
      BlockPool pool,
      EngineMetrics metrics,
      @Nullable DiskCache diskCache) {
    this.config = config;
    this.client = client;
    this.metrics = metrics;
    this.disk = diskCache == null ? null : new DiskTier(diskCache, metrics.disk());
    int requests = client.limits().copyRequests() + client.limits().lentSlots();
    this.spiller = disk == null ? null : new Spiller(disk, index, requests, metrics.disk());
    this.admission =
        new Admission(budget, pool, client.limits(), index, spiller == null ? Spill.NONE : spiller);
    budget.register(admission);
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "s3e-timer");
              thread.setDaemon(true);
              return thread;
            });
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    this.timer = executor;
    this.ticking =
        executor.scheduleWithFixedDelay(
            this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  FetchConfig config() {
    return config;
  }

  ObjectClient client() {
    return client;
  }

  BlockIndex index() {
    return index;
  }

  Admission admission() {
    return admission;
  }

  /** The cache on local disk; null if there is none. */
  @Nullable DiskTier disk() {
    return disk;
  }

  /** What goes to local disk; null if there is no cache there. */
  @Nullable Spiller spiller() {
    return spiller;
  }

  public EngineMetrics metrics() {
    return metrics;
  }

  /**
   * How much one of {@code windows} readers may have in flight ahead of it, in bytes. At least one
   * long request, which a crowd of readers takes turns at; the memory bounds them all together.
   */
  public long windowBytes(int windows) {
    long share = admission.speculativeBytes() / Math.max(1, windows);
    return Math.max(share, client.limits().lentSlotBytes());
  }

  /** How many long requests one of {@code windows} readers may have in flight as its share. */
  public int windowRequests(int windows) {
    return Math.max(1, admission.speculativeRequests() / Math.max(1, windows));
  }

  /** The block under this name, pinned; null if it is not in memory and not on its way. */
  public @Nullable Block find(ObjectHandle handle, long block) {
    BlockId id = handle.block(block);
    for (; ; ) {
      Block found = index.get(id);
      if (found == null || found.tryPin()) {
        return found;
      }
      // Dead: evicted, or failed, a moment ago. Whoever killed it has removed it or is about to.
      index.remove(found);
    }
  }

  /**
   * Starts fetching what is absent of {@code wanted}, as far as there is room, nearest first.
   *
   * <p>Both kinds leave the demand reserve alone: a reader's claim to it is for the block that it
   * waits for next, which is what {@link #demand} is for.
   *
   * @param asked true if a reader has asked for these bytes, false if they are a guess
   * @param started gets each run that was started
   * @return the first block that was neither there nor started; {@code wanted.end()} or more if all
   *     were
   */
  public long prefetch(
      ObjectHandle handle, BlockRange wanted, boolean asked, Consumer<RunFetch> started) {
    long next = wanted.first();
    boolean mayNot = disk != null && disk.awaitsProof(handle, next);
    if (mayNot || (spiller != null && spiller.isBackedUp())) {
      refused(handle);
      return next;
    }
    long last = Math.min(wanted.end(), handle.layout().blocksOver(handle.size()));
    long limit = asked ? last : roundedUp(handle, wanted.first(), last);
    while (next < last) {
      if (index.get(handle.block(next)) != null) {
        next++;
        continue;
      }
      long end = absentUntil(handle, next, limit);
      Admission.Grant grant = admission.trySpeculate(need(handle, next, end));
      if (grant == null) {
        refused(handle);
        return next;
      }
      next = start(handle, next, end, grant, !asked, started);
    }
    return Math.max(next, wanted.end());
  }

  private void refused(ObjectHandle handle) {
    metrics.count(Counter.PREFETCH_REFUSED);
    handle.listener().onPrefetchRefused();
  }

  /**
   * Starts fetching {@code block} for a reader that waits for it, and with it what is absent behind
   * it up to {@code end} as far as one request goes. Waits for memory.
   *
   * @param ahead block up to which the reader was to prefetch, at least {@code end}; taken along
   *     where a guess would be refused. It then counts as asked for, not as prefetch
   * @param deadline by {@link System#nanoTime()}
   * @return the block, pinned; null if another thread was quicker and it must be looked up
   */
  public @Nullable Block demand(
      ObjectHandle handle,
      long block,
      long end,
      long ahead,
      long deadline,
      Consumer<RunFetch> started)
      throws IOException {
    requireOpen(handle);
    // Where a guess would be refused, what was to be guessed goes along: one long GET in place of
    // many short ones is what a crowd of readers shares the connections best by.
    boolean takesAhead = ahead > end && admission.isCrowded();
    long until = absentUntil(handle, block, takesAhead ? ahead : roundedUp(handle, block, end));
    Admission.Grant grant = awaitAdmission(handle, need(handle, block, until), deadline);
    RunFetch run = enter(handle, block, until, grant, false);
    if (run == null) {
      return null;
    }
    Block first = run.blocks().get(0);
    boolean pinned = first.tryPin();
    started.accept(run);
    run.start();
    return pinned ? first : null;
  }

  private Admission.Grant awaitAdmission(ObjectHandle handle, Admission.Need need, long deadline)
      throws IOException {
    try {
      Admission.Grant grant = admission.await(need, handle::isClosed, deadline);
      if (grant == null) {
        requireOpen(handle);
        throw new IOException("no memory became free before the read's deadline");
      }
      return grant;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for memory");
    }
  }

  private Admission.Need need(ObjectHandle handle, long first, long end) {
    long bytes = handle.layout().bytesOf(new BlockRange(first, end)).length();
    boolean isLong = bytes > client.limits().copyRequestBytes();
    Kind kind = isLong ? Kind.LONG : Kind.SHORT;
    // Of a shared cache it is not known what it has; as a rule it is fetched.
    boolean isOnDisk = disk != null && !disk.cache().isShared() && isOnDisk(handle, first);
    return new Admission.Need(copiedBlocks(end - first), isOnDisk ? Kind.ON_DISK : kind);
  }

  private boolean isOnDisk(ObjectHandle handle, long block) {
    return disk != null && disk.sourceOf(handle, block) == Source.DISK;
  }

  /** How many of {@code blocks} blocks one copied GET can bring. */
  private int copiedBlocks(long blocks) {
    long most =
        Math.min(config.requestBytes(), client.limits().copyRequestBytes()) / config.blockBytes();
    return (int) Math.min(blocks, Math.max(1, most));
  }

  private int lentBlocks() {
    long most = Math.min(config.requestBytes(), client.limits().lentSlotBytes());
    return (int) Math.max(1, most / config.blockBytes());
  }

  private long roundedUp(ObjectHandle handle, long first, long end) {
    return disk == null ? end : disk.roundedUp(handle, first, end);
  }

  /**
   * Where the blocks end, from {@code first} on and before {@code end}, that are neither in memory
   * nor on their way and that one GET can bring.
   */
  public long absentUntil(ObjectHandle handle, long first, long end) {
    long most = Math.max(copiedBlocks(Long.MAX_VALUE), admission.lends() ? lentBlocks() : 1);
    long limit = Math.min(end, first + most);
    boolean onDisk = isOnDisk(handle, first);
    if (onDisk && disk != null) {
      limit = Math.min(limit, disk.endOfDiskRun(handle, first));
    }
    long until = first + 1;
    while (until < limit
        && index.get(handle.block(until)) == null
        && (disk == null || isOnDisk(handle, until) == onDisk)) {
      until++;
    }
    return until;
  }

  private long start(
      ObjectHandle handle,
      long first,
      long end,
      Admission.Grant grant,
      boolean prefetch,
      Consumer<RunFetch> started) {
    RunFetch run = enter(handle, first, end, grant, prefetch);
    if (run == null) {
      return first;
    }
    started.accept(run);
    run.start();
    return first + run.blocks().size();
  }

  /**
   * Enters a run's blocks into the index, as many in a row as nobody else has entered meanwhile.
   * Null if that is none; the grant is given back then.
   */
  private @Nullable RunFetch enter(
      ObjectHandle handle, long first, long end, Admission.Grant grant, boolean prefetch) {
    int count = (int) Math.min(end - first, grant.isLent() ? lentBlocks() : grant.leases().size());
    RunFetch run = RunFetch.enter(this, handle, first, count, grant, prefetch);
    if (run == null) {
      return null;
    }
    running.add(run);
    if (closed) {
      run.cancel(engineClosed());
    }
    return run;
  }

  /**
   * Waits until a pinned block is ready.
   *
   * @param deadline by {@link System#nanoTime()}
   * @return true if it is ready; false if its fetch was a guess or was cancelled, and the reader
   *     should ask for the block itself
   * @throws IOException if a fetch for a reader failed, the deadline passed, or the stream was
   *     closed
   */
  public boolean await(ObjectHandle handle, Block block, long deadline) throws IOException {
    if (block.isReady()) {
      return true;
    }
    Arrival arrival = join(block);
    if (arrival == null) {
      return false;
    }
    try {
      awaitSettled(handle, block, arrival, deadline);
      return arrival.isReady();
    } catch (InterruptedException e) {
      throw interrupted(block);
    } finally {
      arrival.close();
    }
  }

  /**
   * Counts a reader as interested in a pinned block that is on its way, for {@link
   * Block#whenSettled}. Null if the block's fetch has been given up, and the reader should ask for
   * the block itself.
   */
  public @Nullable Arrival join(Block block) {
    RunFetch run = (RunFetch) block.fate();
    if (!run.join()) {
      return null;
    }
    run.demand();
    return new Arrival(block, run);
  }

  /** The interest of one reader in one block. */
  public static final class Arrival implements AutoCloseable {
    private final Block block;
    private final RunFetch run;

    private Arrival(Block block, RunFetch run) {
      this.block = block;
      this.run = run;
    }

    /**
     * Whether the block, which has settled, is ready; false if its fetch was a guess or was
     * cancelled, and the reader should ask for the block itself.
     *
     * @throws IOException if a fetch for a reader failed
     */
    public boolean isReady() throws IOException {
      Exception failure = block.failure();
      if (failure == null) {
        return true;
      }
      if (run.isPrefetch() || isNobodysError(failure)) {
        return false;
      }
      throw asIoException(failure);
    }

    /** The error of a reader whose deadline passes now. */
    public IOException late() {
      return run.deadlinePassed();
    }

    /** The reader waits no more. */
    @Override
    public void close() {
      run.leave();
    }
  }

  /** Whether a pinned block becomes ready within {@code nanos} ns, however its fetch may end. */
  public boolean isReadyWithin(Block block, long nanos) throws IOException {
    try {
      return block.await(nanos) && block.isReady();
    } catch (InterruptedException e) {
      throw interrupted(block);
    }
  }

  private static InterruptedIOException interrupted(Block block) {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("interrupted while waiting for " + block.id());
  }

  private void awaitSettled(ObjectHandle handle, Block block, Arrival arrival, long deadline)
      throws IOException, InterruptedException {
    while (!block.await(CLOSED_CHECK_NANOS)) {
      requireOpen(handle);
      if (System.nanoTime() - deadline > 0) {
        throw arrival.late();
      }
    }
  }

  /**
   * Ends a read that has asked again and again and has no time left.
   *
   * @param last how the last fetch ended that was nobody's error; null if none has
   * @throws IOException if the deadline has passed
   */
  public void checkDeadline(ObjectHandle handle, @Nullable Exception last, long deadline)
      throws IOException {
    if (System.nanoTime() - deadline <= 0) {
      return;
    }
    requireOpen(handle);
    if (last != null && !isNobodysError(last)) {
      throw asIoException(last);
    }
    String reason = "no fetch of it came to its end before the read's deadline";
    throw new RequestFailure(
        RequestFailure.Kind.NETWORK,
        "GET " + handle.version().object(),
        reason,
        new SocketTimeoutException(reason));
  }

  /** A failure after which the reader asks anew: a cancelled GET, or a lent one that cannot be. */
  static boolean isNobodysError(Exception failure) {
    return failure instanceof RequestFailure request
        && (request.kind() == RequestFailure.Kind.CANCELLED
            || request.kind() == RequestFailure.Kind.NOT_LENT);
  }

  /** What the reader sees: the reason behind a rejected answer where that is the real news. */
  private static IOException asIoException(Exception failure) {
    if (failure instanceof ObjectTruncatedException truncated) {
      return truncated;
    }
    Throwable cause = failure.getCause();
    if (cause instanceof IOException found && isForTheReader(found)) {
      return found;
    }
    if (failure instanceof RequestFailure request) {
      return switch (request.kind()) {
        case CHANGED ->
            new ObjectChangedException(
                "Object changed while it was read: " + request.getMessage(), request);
        case OUT_OF_RANGE ->
            new ObjectTruncatedException(String.valueOf(request.getMessage()), request);
        default -> request;
      };
    }
    return new IOException(failure);
  }

  /** What sending the same GET again would not change, and a reader knows how to go on from. */
  static boolean isForTheReader(@Nullable Throwable cause) {
    return cause instanceof ObjectChangedException
        || cause instanceof ObjectTruncatedException
        || cause instanceof EncodedBodyException;
  }

  private void requireOpen(ObjectHandle handle) throws IOException {
    if (closed) {
      throw engineClosed();
    }
    if (handle.isClosed()) {
      throw new IOException("Stream is closed!");
    }
  }

  private static RequestFailure engineClosed() {
    return new RequestFailure(RequestFailure.Kind.CANCELLED, "S3E", "the engine is closed", null);
  }

  /** A run is over. */
  void ended(RunFetch run) {
    running.remove(run);
  }

  /** S3 has accepted a GET for what {@code handle} reads. */
  void answered(ObjectHandle handle) {
    handle.answered();
    if (disk != null) {
      disk.proven(handle);
    }
  }

  /** Pause before the next attempt after {@code attempts} of them, in ns, with jitter. */
  long pauseNanos(int attempts, boolean throttled) {
    long base = config.retryBase().toNanos() * (throttled ? THROTTLED_FACTOR : 1);
    long grown = base << Math.min(attempts - 1, 20);
    long capped =
        grown < base ? config.retryCap().toNanos() : Math.min(grown, config.retryCap().toNanos());
    return capped <= 1 ? capped : capped / 2 + ThreadLocalRandom.current().nextLong(capped / 2 + 1);
  }

  /** Runs {@code task} on the timer after {@code nanos} ns; false if the engine is closing. */
  boolean later(Runnable task, long nanos) {
    try {
      return !timer.schedule(task, nanos, TimeUnit.NANOSECONDS).isCancelled() && !closed;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  private void tick() {
    long now = System.nanoTime();
    // A machine that keeps this thread waiting does the same to those of the disk.
    long late = Math.max(0, now - tickedNanos - TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS));
    tickedNanos = now;
    lateNanos = Math.max(late, lateNanos - lateNanos / 4);
    for (RunFetch run : running) {
      try {
        run.checkDeadline(now, LATENESS_FACTOR * lateNanos);
      } catch (RuntimeException e) {
        // An exception would end the ticking, and with it every other run's deadline.
        LOG.warn("Deadline check of {} failed", run, e);
      }
    }
  }

  /** Cancels everything in flight and evicts everything. Streams fail from now on. Idempotent. */
  @Override
  public void close() {
    closed = true;
    ticking.cancel(false);
    timer.shutdownNow();
    running.forEach(run -> run.cancel(engineClosed()));
    admission.close();
  }
}
