package io.s3e.fetch;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.client.Fence;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Effort;
import io.s3e.disk.DiskBlockId;
import io.s3e.fetch.DiskTier.Source;
import io.s3e.memory.Block;
import io.s3e.memory.For;
import io.s3e.memory.Grant;
import io.s3e.memory.Spill;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One run of adjacent blocks on its way into memory: one GET, or several one after the other if it
 * fails on the way.
 *
 * <p><b>Phases.</b> One word, moved by compare-and-set; whoever moves it goes on alone.
 *
 * <pre>
 *              start            the look is over
 *   BETWEEN ---------&gt; LOOKING ----------------&gt; BETWEEN
 *   BETWEEN --&gt; PREPARING --&gt; GETTING --(a failure, and a reader waits)--&gt; BETWEEN
 *   BETWEEN, LOOKING, GETTING --(all is there, given up, or retries are spent)--&gt; OVER
 * </pre>
 *
 * <p>BETWEEN is before the first attempt and in the pause before the next one; LOOKING has a {@link
 * DiskAttempt}, GETTING an {@link Attempt}, and these end once, by their fences. OVER is reached
 * once: every block is READY or FAILED then, failed ones are out of the index, and all memory is a
 * block's or given back. A cancel leaves its reason first and looks at the phase afterwards; a
 * phase that begins is entered first and looks for a reason afterwards. So no attempt begins
 * unseen.
 *
 * <p><b>Disk first.</b> Where the cache on local disk is to be asked, a look comes before the first
 * GET; whatever it brings is not asked of S3, and its failure is no failure of the run.
 *
 * <p><b>Interest.</b> The stream that started the run counts one, each reader that waits on a block
 * of it counts one. When the last goes the run is cancelled; {@link #join} then fails and the
 * latecomer fetches anew. A run that nobody waits for is not retried: a failed prefetch is silent,
 * and the reader that comes to its blocks fetches them itself.
 *
 * <p><b>Attempts are fenced.</b> A client may call late: after a cancel, after a time-out, out of
 * turn. Each call passes its attempt's {@link Fence} first, and memory is given back or handed to
 * the next attempt only when the fence is closed <i>and</i> no call is inside. A retry continues at
 * {@code offset + filled}, in the same buffers; it never appends to what another attempt may still
 * write. {@link Landing} tells whose the memory is meanwhile.
 */
public final class RunFetch implements Spiller.Origin, Attempt.Outcome, DiskAttempt.Seeker {
  /** Some times what a GET takes. */
  private static final long OVERDUE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Tenant tenant;
  private final ObjectHandle handle;
  private final Landing landing;
  private final boolean prefetch;

  private final AtomicInteger interest = new AtomicInteger(1);
  private final Consumer<RunFetch> ended;

  private enum State {
    BETWEEN,
    LOOKING,
    PREPARING,
    GETTING,
    OVER
  }

  /**
   * A state and what is under way in it.
   *
   * @param look in LOOKING
   * @param attempt in GETTING
   */
  private record Phase(State state, @Nullable DiskAttempt look, @Nullable Attempt attempt) {
    static final Phase BETWEEN = new Phase(State.BETWEEN, null, null);
    static final Phase PREPARING = new Phase(State.PREPARING, null, null);
    static final Phase OVER = new Phase(State.OVER, null, null);
  }

  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.BETWEEN);

  /** Whether some reader waits or has waited: then the run is retried like a read. */
  private volatile boolean demanded;

  /** Set once somebody has ended the run from outside; no attempt begins from then on. */
  private volatile @Nullable IOException cancelled;

  private final boolean ofScan;
  private final long startedNanos = System.nanoTime();

  /** Why the attempt before the present one failed. */
  private volatile @Nullable IOException lastFailure;

  // Written between attempts.
  private int publishedBefore;
  private int attempts;
  private final AtomicInteger sent = new AtomicInteger();
  private int fromDisk;
  private @Nullable DiskBlockId claimed;
  private volatile boolean fetchedBefore;

  /** Hears which blocks a run that has failed did not bring. */
  private volatile @Nullable Consumer<BlockRange> loss;

  private RunFetch(
      Tenant tenant, ObjectHandle handle, Grant grant, boolean prefetch, Consumer<RunFetch> ended) {
    this.ended = ended;
    this.tenant = tenant;
    this.handle = handle;
    this.landing = new Landing(tenant, grant);
    this.prefetch = prefetch;
    this.demanded = !prefetch;
    this.ofScan = handle.progress().isScanning();
  }

  /**
   * Makes a run of up to {@code count} blocks and enters them into the index, as many in a row as
   * nobody else has entered. Null if that is none; the grant is given back then.
   */
  static @Nullable RunFetch enter(
      Tenant tenant,
      ObjectHandle handle,
      long firstBlock,
      int count,
      Grant grant,
      boolean prefetch,
      Consumer<RunFetch> ended) {
    RunFetch run = new RunFetch(tenant, handle, grant, prefetch, ended);
    if (!run.landing.enter(handle, firstBlock, count, run)) {
      return null;
    }
    grant.onRevoked(run::revoked);
    return run;
  }

  List<Block> blocks() {
    return landing.blocks();
  }

  /** Whether it is that tenant that sends its GETs. */
  boolean isOf(Tenant one) {
    return tenant == one;
  }

  /** Whether it has been under way for longer than a reader of another tenant waits for it. */
  boolean isOverdue() {
    return System.nanoTime() - startedNanos > OVERDUE_NANOS;
  }

  /** Where its blocks go that leave memory. */
  Spill spill() {
    Spiller spiller = tenant.spiller();
    return spiller == null ? Spill.NONE : spiller;
  }

  /** Its memory is needed for others: a guess gives it up. */
  private void revoked() {
    if (!demanded) {
      cancel(cancelled("its memory is needed"));
    }
  }

  public ByteRange range() {
    return landing.range();
  }

  /** Counts one more who is interested. False if the run has been given up. */
  boolean join() {
    for (; ; ) {
      int now = interest.get();
      if (now == 0) {
        return false;
      }
      if (interest.compareAndSet(now, now + 1)) {
        return true;
      }
    }
  }

  /**
   * Whether it was started as a guess: then its failure is nobody's, even if a reader has joined.
   */
  boolean isPrefetch() {
    return prefetch;
  }

  /** How many are interested. */
  int interested() {
    return interest.get();
  }

  /** Whether some reader waits or has waited for it. */
  @Override
  public boolean isDemanded() {
    return demanded;
  }

  /** A reader is about to wait for a block: from now on the run is worth retrying. */
  void demand() {
    demanded = true;
  }

  /**
   * One fewer is interested; the last one cancels what is still running, unless all bytes have
   * come: to cancel then would only cost the connection.
   */
  void leave() {
    if (interest.decrementAndGet() == 0 && !isOver() && !landing.isComplete()) {
      cancel(cancelled("no longer wanted"));
    }
  }

  /** The stream that started the run gives it up: cancels it, or lets what came go. */
  public void abandon() {
    leave();
    blocks().forEach(Block::abandon);
  }

  /** The stream that started the run has passed over {@code bytes} of it. */
  public void abandon(ByteRange bytes) {
    for (Block block : blocks()) {
      if (block.start() >= bytes.start() && block.end() <= bytes.end()) {
        block.abandon();
      }
    }
  }

  /**
   * Has {@code hears} told which blocks the run has not brought, if it ends so: on any thread, once
   * they are out of the index. For who started it, before it starts.
   */
  public void onLoss(Consumer<BlockRange> hears) {
    loss = hears;
  }

  /** Whether it is over and everything it brought has been read or dropped. */
  public boolean isSpent() {
    if (!isOver()) {
      return false;
    }
    for (Block block : blocks()) {
      if (block.isReady() && block.isUnread()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public ObjectHandle handle() {
    return handle;
  }

  /** Whether its reader went through the object in order when it was started. */
  @Override
  public boolean isOfScan() {
    return ofScan;
  }

  /** Whether some of its bytes had come from S3 before. */
  @Override
  public boolean wasFetchedBefore() {
    return fetchedBefore;
  }

  private boolean isOver() {
    return current().state() == State.OVER;
  }

  private Phase current() {
    return Objects.requireNonNull(phase.get());
  }

  @Override
  public For purpose() {
    return prefetch ? For.GUESS : For.READER;
  }

  /** Looks on disk, if that is where its bytes may be; else sends the first GET. */
  void start() {
    DiskTier disk = tenant.disk();
    if (disk == null || disk.sourceOf(handle, blocks().get(0).id().index()) == Source.S3) {
      send();
      return;
    }
    DiskAttempt look = new DiskAttempt(this, landing, disk, handle);
    if (phase.compareAndSet(Phase.BETWEEN, new Phase(State.LOOKING, look, null))) {
      IOException why = cancelled;
      if (why == null) {
        look.begin();
      } else {
        look.withdraw(() -> finish(why));
      }
    }
  }

  @Override
  public void lookedOnDisk(@Nullable DiskBlockId claim, boolean hasNoRoom) {
    claimed = claim;
    fromDisk = landing.published();
    if (landing.isComplete()) {
      finish(null);
      return;
    }
    if (!landing.isWithinOneGet() || (hasNoRoom && !demanded)) {
      // Nobody's error: who wants the rest asks for it anew. To fetch a guess that is on disk would
      // only cost a request.
      finish(cancelled("left on disk"));
      return;
    }
    phase.set(Phase.BETWEEN);
    IOException why = cancelled;
    if (why == null) {
      send();
    } else {
      finishBetween(why);
    }
  }

  /** Sends the next attempt, for what is still missing. */
  private void send() {
    if (!phase.compareAndSet(Phase.BETWEEN, Phase.PREPARING)) {
      return;
    }
    attempts++;
    sent.incrementAndGet();
    publishedBefore = landing.published();
    DiskTier disk = tenant.disk();
    if (disk != null && attempts == 1) {
      fetchedBefore = disk.missed(handle, landing.missing());
    }
    Attempt attempt = new Attempt(this, landing, tenant, handle, attempts);
    phase.set(new Phase(State.GETTING, null, attempt));
    IOException why = cancelled;
    if (why != null) {
      // Cancelled while this attempt was being set up: nobody else may have seen it.
      attempt.withdraw(() -> finish(why));
      return;
    }
    attempt.begin(prefetch);
  }

  /** Ends the run from outside: nobody wants it, or the tenant closes. */
  void cancel(IOException why) {
    cancelled = why;
    Phase now = current();
    DiskAttempt look = now.look();
    Attempt attempt = now.attempt();
    switch (now.state()) {
      case BETWEEN -> {
        if (!finishBetween(why)) {
          // An attempt has begun between the two looks: it is the one to end.
          cancel(why);
        }
      }
      case LOOKING -> Objects.requireNonNull(look).withdraw(() -> finish(why));
      case GETTING -> Objects.requireNonNull(attempt).fail(why, false);
      case PREPARING, OVER -> {
        // An attempt that is being prepared finds the reason before it is sent.
      }
    }
  }

  private boolean finishBetween(IOException why) {
    boolean alone = phase.compareAndSet(Phase.BETWEEN, Phase.PREPARING);
    if (alone) {
      finish(why);
    }
    return alone;
  }

  /**
   * Called about every 100 ms; gives up an attempt that has become silent.
   *
   * @param lateNanos how much longer than usual threads wait for a processor, in ns
   */
  void checkDeadline(long now, long lateNanos) {
    Phase present = current();
    DiskAttempt look = present.look();
    Attempt attempt = present.attempt();
    if (look != null) {
      look.checkDeadline(now - lateNanos);
    } else if (attempt != null && attempt.isLate(now)) {
      String reason = "stalled: no byte for " + attempt.patience().toMillis() + " ms";
      attempt.fail(
          new RequestFailure(
              RequestFailure.Kind.NETWORK, subject(), reason, new SocketTimeoutException(reason)),
          true);
    }
  }

  @Override
  public void attemptDone() {
    finish(null);
  }

  @Override
  public void attemptFailed(IOException failure, boolean mayRetry) {
    if (landing.isComplete()) {
      // Only the client's last word was missing.
      finish(null);
      return;
    }
    if (failure instanceof RequestFailure request
        && request.kind() == RequestFailure.Kind.NOT_LENT) {
      tenant.account().carrier().pauseLending();
    }
    if (landing.published() > publishedBefore) {
      // A connection that breaks but brings blocks is not counted against the run.
      attempts = 1;
    }
    boolean again = mayRetry && demanded && interest.get() > 0 && attempts < mostAttempts(failure);
    if (again) {
      retry(failure);
    } else {
      finish(
          failure instanceof RequestFailure request
              ? request.with(effort(Effort.End.FAILURE))
              : failure);
    }
  }

  private void retry(IOException failure) {
    lastFailure = failure;
    tenant.metrics().count(Counter.RETRIES);
    handle.listener().onRetry(failure);
    boolean throttled =
        failure instanceof RequestFailure request
            && request.kind() == RequestFailure.Kind.THROTTLED;
    phase.set(Phase.BETWEEN);
    boolean scheduled = tenant.later(this::send, tenant.pauseNanos(attempts, throttled));
    // A cancel since the attempt was closed has found neither an attempt nor a pause to end.
    IOException why = cancelled;
    if (why != null || !scheduled) {
      boolean unused = finishBetween(why != null ? why : failure);
    }
  }

  private int mostAttempts(IOException failure) {
    return failure instanceof RequestFailure request && !Failures.isForTheReader(request.getCause())
        ? request.mostAttempts(tenant.config().maxAttempts())
        : 1;
  }

  private Effort effort(Effort.End end) {
    Duration elapsed = Duration.ofNanos(System.nanoTime() - startedNanos);
    return new Effort(Math.max(1, sent.get()), elapsed, end);
  }

  /** The error of a reader whose deadline passes: the last failure, or that nothing came. */
  RequestFailure deadlinePassed() {
    if (lastFailure instanceof RequestFailure request) {
      return request.with(effort(Effort.End.DEADLINE));
    }
    String reason = "no answer";
    return new RequestFailure(
            RequestFailure.Kind.NETWORK, subject(), reason, new SocketTimeoutException(reason))
        .with(effort(Effort.End.DEADLINE));
  }

  private RequestFailure cancelled(String reason) {
    return new RequestFailure(RequestFailure.Kind.CANCELLED, subject(), reason, null);
  }

  private String subject() {
    return "GET " + range() + " of " + handle.version().object();
  }

  /** To OVER. Fails what has not been published and gives the rest of the memory back. */
  private void finish(@Nullable IOException failure) {
    if (Phase.OVER.equals(phase.getAndSet(Phase.OVER))) {
      return;
    }
    ended.accept(this);
    if (failure != null) {
      if (demanded && interest.get() > 0 && !Failures.isNobodysError(failure)) {
        tenant.metrics().count(Counter.FAILURES);
      }
      discarded(landing.filledOfBlock());
    }
    landing.fail(failure);
    landing.end();
    Consumer<BlockRange> hears = loss;
    if (failure != null && hears != null && landing.published() < blocks().size()) {
      long first = blocks().get(0).id().index();
      hears.accept(new BlockRange(first + landing.published(), first + blocks().size()));
    }
    Spiller spiller = tenant.spiller();
    if (spiller != null) {
      spiller.ended(this, claimed, blocks().subList(fromDisk, landing.published()));
    }
  }

  private void discarded(long bytes) {
    if (bytes > 0) {
      tenant.metrics().add(Counter.DISCARDED_BYTES, bytes);
      handle.listener().onDiscarded(bytes);
    }
  }

  @Override
  public void onReady(Block block) {
    if (prefetch) {
      tenant.metrics().add(Counter.PREFETCHED_BYTES, block.length());
      handle.listener().onPrefetched(block.length());
    }
  }

  @Override
  public void onFirstRead(Block block) {
    if (prefetch) {
      tenant.metrics().add(Counter.PREFETCH_USED_BYTES, block.length());
      handle.listener().onPrefetchUsed(block.length());
    }
  }

  @Override
  public long lastReadNanos() {
    return handle.progress().lastReadNanos();
  }

  @Override
  public void onDroppedUnread(Block block) {
    if (prefetch) {
      tenant.metrics().add(Counter.PREFETCH_WASTED_BYTES, block.length());
      handle.listener().onPrefetchWasted(block.length());
    }
  }

  @Override
  public String toString() {
    return "GET " + range() + " of " + handle.version() + (prefetch ? ", prefetch" : "");
  }
}
