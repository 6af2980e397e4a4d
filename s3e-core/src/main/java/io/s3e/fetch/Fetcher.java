package io.s3e.fetch;

import io.s3e.block.BlockId;
import io.s3e.block.BlockRange;
import io.s3e.block.ObjectVersion;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.fetch.DiskTier.Source;
import io.s3e.memory.Account;
import io.s3e.memory.Admission;
import io.s3e.memory.Block;
import io.s3e.memory.BlockIndex;
import io.s3e.memory.Grant;
import io.s3e.memory.Need;
import io.s3e.memory.Need.Kind;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds blocks in memory, joins fetches that are under way, and starts new ones: the one way from a
 * reader to S3. Shared by all streams of one tenant of an engine; what the tenants have in common
 * is in {@link FetchServices}.
 *
 * <p>The path of one block: {@link #find} in the index; else {@link #demand} starts a {@link
 * RunFetch} for it (waiting for memory if it must) and {@link #await} waits for the bytes, with a
 * deadline. {@link #prefetch} starts runs only as far as {@link Admission} has room, and never
 * waits.
 *
 * <p>Any thread. Readers wait on their block alone; pauses and deadlines are {@link FetchTimer}'s.
 */
public final class Fetcher implements AutoCloseable {
  private static final long CLOSED_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** S3 asks to slow down for a reason: wait longer than after a lost connection. */
  private static final int THROTTLED_FACTOR = 5;

  private final FetchConfig config;
  private final ObjectClient client;
  private final BlockIndex index;
  private final Admission admission;
  private final FetchTimer timer;
  private final Account account;
  private final EngineMetrics metrics;
  private final Proofs proofs = new Proofs(System::nanoTime);

  /** Holds blocks apart that only this tenant may see. */
  private final Object tenant = new Object();

  private volatile @Nullable OnDisk onDisk;
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
   * @param account the tenant's, in {@code services}' admission; closed with this
   */
  public Fetcher(
      FetchConfig config,
      ObjectClient client,
      FetchServices services,
      Account account,
      EngineMetrics metrics) {
    this.config = config;
    this.client = client;
    this.index = services.index();
    this.admission = services.admission();
    this.timer = services.timer();
    this.account = account;
    this.metrics = metrics;
  }

  /** The two directions of the cache on local disk. */
  private record OnDisk(DiskTier tier, Spiller spiller) {}

  /**
   * From now on blocks that leave memory go to {@code disk}, and are looked for there before S3 is
   * asked. The cache is closed by the caller, after this.
   */
  public void attach(TenantDisk disk) {
    DiskTier tier = new DiskTier(disk, proofs, metrics.disk());
    int requests = client.limits().copyRequests() + client.limits().lentSlots();
    Spiller spiller = new Spiller(tier, index, requests, metrics.disk());
    // First seen by runs that end, then told of those that have ended: so each is offered.
    onDisk = new OnDisk(tier, spiller);
    index.forEach(
        block -> {
          RunFetch run = (RunFetch) block.fate();
          if (run.isOf(this)) {
            spiller.arrivedBefore(run, block);
          }
        });
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

  Account account() {
    return account;
  }

  /** The cache on local disk; null if there is none. */
  @Nullable DiskTier disk() {
    OnDisk now = onDisk;
    return now == null ? null : now.tier();
  }

  /** What goes to local disk; null if there is no cache there. */
  @Nullable Spiller spiller() {
    OnDisk now = onDisk;
    return now == null ? null : now.spiller();
  }

  public EngineMetrics metrics() {
    return metrics;
  }

  /**
   * How much one of {@code windows} readers may have in flight ahead of it, in bytes. At least one
   * long request, which a crowd of readers takes turns at; the memory bounds them all together.
   */
  public long windowBytes(int windows) {
    long share = admission.speculativeBytes(account.carrier()) / Math.max(1, windows);
    return Math.max(share, client.limits().lentSlotBytes());
  }

  /** How many long requests one of {@code windows} readers may have in flight as its share. */
  public int windowRequests(int windows) {
    return Math.max(1, admission.speculativeRequests(account.carrier()) / Math.max(1, windows));
  }

  /**
   * The block under this name, pinned; null if it is not in memory and not on its way.
   *
   * <p>A block that another tenant fetches or has fetched is found only once S3 has answered this
   * tenant for the version. Before, the handle's blocks are held apart, so that its reader sends a
   * request of its own.
   */
  public @Nullable Block find(ObjectHandle handle, long block) {
    Block found = pinned(new BlockId(handle.version(), block));
    if (found != null && !mayRead(handle, found)) {
      found.unpin();
      found = null;
      handle.holdApart(tenant);
    }
    ObjectVersion apart = found == null ? handle.apart() : null;
    return apart == null ? found : pinned(new BlockId(apart, block));
  }

  /**
   * Another tenant's GET is not waited for when it is late: whatever hangs may hang for it alone.
   */
  private boolean mayRead(ObjectHandle handle, Block found) {
    RunFetch run = (RunFetch) found.fate();
    return run.isOf(this) || (handle.isProven() && (found.isReady() || !run.isOverdue()));
  }

  private @Nullable Block pinned(BlockId id) {
    for (; ; ) {
      Block found = index.get(id);
      if (found == null || found.tryPin()) {
        return found;
      }
      // Dead: evicted, or failed, a moment ago. Whoever killed it has removed it or is about to.
      index.remove(found);
    }
  }

  private boolean isPresent(ObjectHandle handle, long block) {
    Block found = index.get(new BlockId(handle.version(), block));
    ObjectVersion apart = handle.apart();
    return (found != null && mayRead(handle, found))
        || (apart != null && index.get(new BlockId(apart, block)) != null);
  }

  /** A stream is about to read through the handle: it profits from what was proven before. */
  public void opened(ObjectHandle handle) {
    if (handle.hasCustomerKey()) {
      // Whoever has another key, or none, is not to see what this one opens.
      handle.holdApart(handle.customerKey(tenant));
    } else if (proofs.has(handle.knownVersion())) {
      handle.proven();
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
    OnDisk there = onDisk;
    if (there != null && (there.tier().awaitsProof(handle, next) || there.spiller().isBackedUp())) {
      refused(handle);
      return next;
    }
    long last = Math.min(wanted.end(), handle.layout().blocksOver(handle.size()));
    long limit = asked ? last : roundedUp(handle, wanted.first(), last);
    while (next < last) {
      if (isPresent(handle, next)) {
        next++;
        continue;
      }
      long end = absentUntil(handle, next, limit);
      Grant grant = admission.trySpeculate(account, need(handle, next, end));
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
    boolean takesAhead = ahead > end && admission.isCrowded(account);
    long until = absentUntil(handle, block, takesAhead ? ahead : roundedUp(handle, block, end));
    Grant grant = awaitAdmission(handle, need(handle, block, until), deadline);
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

  private Grant awaitAdmission(ObjectHandle handle, Need need, long deadline) throws IOException {
    try {
      Grant grant = admission.await(account, need, () -> closed || handle.isClosed(), deadline);
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

  private Need need(ObjectHandle handle, long first, long end) {
    long bytes = handle.layout().bytesOf(new BlockRange(first, end)).length();
    boolean isLong = bytes > client.limits().copyRequestBytes();
    Kind kind = isLong ? Kind.LONG : Kind.SHORT;
    // Of a shared cache it is not known what it has; as a rule it is fetched.
    DiskTier disk = disk();
    boolean isOnDisk = disk != null && !disk.isShared() && isOnDisk(disk, handle, first);
    return new Need(copiedBlocks(end - first), isOnDisk ? Kind.ON_DISK : kind);
  }

  private static boolean isOnDisk(DiskTier disk, ObjectHandle handle, long block) {
    return disk.sourceOf(handle, block) == Source.DISK;
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
    DiskTier disk = disk();
    return disk == null ? end : disk.roundedUp(handle, first, end);
  }

  /**
   * Where the blocks end, from {@code first} on and before {@code end}, that are neither in memory
   * nor on their way and that one GET can bring.
   */
  public long absentUntil(ObjectHandle handle, long first, long end) {
    long most =
        Math.max(copiedBlocks(Long.MAX_VALUE), account.carrier().lends() ? lentBlocks() : 1);
    long limit = Math.min(end, first + most);
    DiskTier disk = disk();
    boolean fromDisk = disk != null && isOnDisk(disk, handle, first);
    if (disk != null && fromDisk) {
      limit = Math.min(limit, disk.endOfDiskRun(handle, first));
    }
    long until = first + 1;
    while (until < limit
        && !isPresent(handle, until)
        && (disk == null || isOnDisk(disk, handle, until) == fromDisk)) {
      until++;
    }
    return until;
  }

  private long start(
      ObjectHandle handle,
      long first,
      long end,
      Grant grant,
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
      ObjectHandle handle, long first, long end, Grant grant, boolean prefetch) {
    int count = (int) Math.min(end - first, grant.isLent() ? lentBlocks() : grant.leases().size());
    RunFetch run = RunFetch.enter(this, handle, first, count, grant, prefetch);
    if (run == null) {
      return null;
    }
    timer.started(run);
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
      return awaitSettled(handle, block, arrival, deadline) && arrival.isReady();
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
    return new Arrival(block, run, !run.isOf(this));
  }

  /** Whether another tenant fetches the block, so that only a thread that waits notices it late. */
  public boolean isAnothers(Block block) {
    return !((RunFetch) block.fate()).isOf(this);
  }

  /** The interest of one reader in one block. */
  public static final class Arrival implements AutoCloseable {
    private final Block block;
    private final RunFetch run;
    private final boolean isAnothers;

    private Arrival(Block block, RunFetch run, boolean isAnothers) {
      this.block = block;
      this.run = run;
      this.isAnothers = isAnothers;
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
      // Another tenant's failure says nothing of this one's credentials and connections.
      if (run.isPrefetch() || isAnothers || isNobodysError(failure)) {
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

  /** False if the block is another tenant's and late. */
  private boolean awaitSettled(ObjectHandle handle, Block block, Arrival arrival, long deadline)
      throws IOException, InterruptedException {
    while (!block.await(CLOSED_CHECK_NANOS)) {
      requireOpen(handle);
      if (arrival.isAnothers && arrival.run.isOverdue()) {
        return false;
      }
      if (System.nanoTime() - deadline > 0) {
        throw arrival.late();
      }
    }
    return true;
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
    timer.ended(run);
  }

  /** S3 has accepted a GET for what {@code handle} reads. */
  void answered(ObjectHandle handle) {
    handle.answered();
    if (!handle.hasCustomerKey()) {
      handle.proven();
      ObjectVersion version = handle.knownVersion();
      if (version != null) {
        proofs.add(version);
      }
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

  /** Runs {@code task} on the timer after {@code nanos} ns; false if the tenant is closing. */
  boolean later(Runnable task, long nanos) {
    return timer.later(task, nanos) && !closed;
  }

  /**
   * Cancels what this tenant has in flight and evicts what it has fetched. Its streams fail from
   * now on. Idempotent.
   */
  @Override
  public void close() {
    closed = true;
    account.close();
    for (RunFetch run : timer.running()) {
      if (run.isOf(this)) {
        run.cancel(engineClosed());
      }
    }
    admission.evict(account.carrier(), block -> ((RunFetch) block.fate()).isOf(this));
  }
}
