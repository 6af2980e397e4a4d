package io.s3e.fetch;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.client.Fence;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Effort;
import io.s3e.disk.DiskBlockId;
import io.s3e.fetch.DiskTier.Source;
import io.s3e.memory.Block;
import io.s3e.memory.Grant;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One run of adjacent blocks on its way into memory: one GET, or several one after the other if it
 * fails on the way.
 *
 * <p><b>States.</b> <i>Running</i>, from {@link #start} on, with one {@link Attempt} at a time or a
 * pause before the next; then <i>over</i>, once, when the last block is published, when the retries
 * are spent, or when nobody is interested any more. Over means: every block is READY or FAILED,
 * failed ones are out of the index, and all memory is a block's or given back.
 *
 * <p><b>Disk first.</b> Where the cache on local disk is to be asked, a {@link DiskAttempt} comes
 * before the first GET, in the same place as an attempt: it holds {@code between}, is fenced like
 * one, and whatever it brings is not asked of S3. Its failure is no failure of the run.
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
 * write. Who owns the memory meanwhile is told by {@link Landing}.
 */
public final class RunFetch implements Block.Fate {
  /** Some times what a GET takes. */
  private static final long OVERDUE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Fetcher fetcher;
  private final ObjectHandle handle;
  private final Landing landing;
  private final boolean prefetch;

  private final AtomicInteger interest = new AtomicInteger(1);
  private final AtomicBoolean over = new AtomicBoolean();

  /** Whether some reader waits or has waited: then the run is retried like a read. */
  private volatile boolean demanded;

  /**
   * Whether there is no attempt: before the first, and in the pause before the next. Whoever takes
   * it from true to false goes on alone: {@link #send} with an attempt, everybody else with {@link
   * #finish}. So memory is never given back beside an attempt that has just begun.
   */
  private final AtomicBoolean between = new AtomicBoolean(true);

  /** Set once somebody has ended the run from outside; no attempt begins from then on. */
  private volatile @Nullable IOException cancelled;

  private volatile @Nullable Attempt current;

  /** The look on disk that is under way. */
  private volatile @Nullable DiskAttempt onDisk;

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

  private RunFetch(Fetcher fetcher, ObjectHandle handle, Grant grant, boolean prefetch) {
    this.fetcher = fetcher;
    this.handle = handle;
    this.landing = new Landing(fetcher, grant);
    this.prefetch = prefetch;
    this.demanded = !prefetch;
    this.ofScan = handle.isScanning();
  }

  /**
   * Makes a run of up to {@code count} blocks and enters them into the index, as many in a row as
   * nobody else has entered. Null if that is none; the grant is given back then.
   */
  static @Nullable RunFetch enter(
      Fetcher fetcher,
      ObjectHandle handle,
      long firstBlock,
      int count,
      Grant grant,
      boolean prefetch) {
    RunFetch run = new RunFetch(fetcher, handle, grant, prefetch);
    if (!run.landing.enter(handle, firstBlock, count, run)) {
      return null;
    }
    grant.onRevoked(run::revoked);
    return run;
  }

  List<Block> blocks() {
    return landing.blocks();
  }

  /** Whether that tenant's fetcher sends its GETs. */
  boolean isOf(Fetcher tenant) {
    return fetcher == tenant;
  }

  /** Whether it has been under way for longer than a reader of another tenant waits for it. */
  boolean isOverdue() {
    return System.nanoTime() - startedNanos > OVERDUE_NANOS;
  }

  /** Where its blocks go that leave memory; null for nowhere. */
  @Nullable Spiller spiller() {
    return fetcher.spiller();
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
  boolean isDemanded() {
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
    if (interest.decrementAndGet() == 0 && !over.get() && !landing.isComplete()) {
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
    if (!over.get()) {
      return false;
    }
    for (Block block : blocks()) {
      if (block.isReady() && block.isUnread()) {
        return false;
      }
    }
    return true;
  }

  ObjectHandle handle() {
    return handle;
  }

  /** Whether its reader went through the object in order when it was started. */
  boolean isOfScan() {
    return ofScan;
  }

  /** Whether some of its bytes had come from S3 before. */
  boolean wasFetchedBefore() {
    return fetchedBefore;
  }

  /** Looks on disk, if that is where its bytes may be; else sends the first GET. */
  void start() {
    DiskTier disk = fetcher.disk();
    if (disk == null || disk.sourceOf(handle, blocks().get(0).id().index()) == Source.S3) {
      send();
    } else if (between.compareAndSet(true, false)) {
      DiskAttempt look = new DiskAttempt(this, landing, disk, handle);
      onDisk = look;
      IOException why = cancelled;
      if (why == null) {
        look.begin();
      } else {
        look.withdraw(() -> finish(why));
      }
    }
  }

  /**
   * The look on disk is over, and fenced: what it has not brought is fetched.
   *
   * @param claim what other processes wait for now
   * @param hasNoRoom whether the disk has what there are no buffers for
   */
  void lookedOnDisk(@Nullable DiskBlockId claim, boolean hasNoRoom) {
    onDisk = null;
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
    between.set(true);
    IOException why = cancelled;
    if (why == null) {
      send();
    } else if (between.compareAndSet(true, false)) {
      finish(why);
    }
  }

  /** Sends the next attempt, for what is still missing. */
  private void send() {
    if (!between.compareAndSet(true, false)) {
      return;
    }
    attempts++;
    sent.incrementAndGet();
    publishedBefore = landing.published();
    DiskTier disk = fetcher.disk();
    if (disk != null && attempts == 1) {
      fetchedBefore = disk.missed(handle, landing.missing());
    }
    Attempt attempt = new Attempt(this, landing, fetcher, handle, attempts);
    current = attempt;
    IOException why = cancelled;
    if (why != null) {
      // Cancelled while this attempt was being set up: nobody else may have seen it.
      attempt.withdraw(() -> finish(why));
      return;
    }
    attempt.begin(prefetch);
  }

  /** Ends the run from outside: nobody wants it, or the engine closes. */
  void cancel(IOException why) {
    cancelled = why;
    if (between.compareAndSet(true, false)) {
      finish(why);
      return;
    }
    Attempt attempt = current;
    DiskAttempt look = onDisk;
    if (attempt != null) {
      attempt.fail(why, false);
    } else if (look != null) {
      look.withdraw(() -> finish(why));
    }
  }

  /**
   * Called about every 100 ms; gives up an attempt that has become silent.
   *
   * @param lateNanos how much longer than usual threads wait for a processor, in ns
   */
  void checkDeadline(long now, long lateNanos) {
    DiskAttempt look = onDisk;
    if (look != null) {
      look.checkDeadline(now - lateNanos);
      return;
    }
    Attempt attempt = current;
    if (attempt != null && attempt.isLate(now)) {
      String reason = "stalled: no byte for " + attempt.patience().toMillis() + " ms";
      attempt.fail(
          new RequestFailure(
              RequestFailure.Kind.NETWORK, subject(), reason, new SocketTimeoutException(reason)),
          true);
    }
  }

  /** An attempt brought all that was missing, and is fenced. */
  void attemptDone() {
    finish(null);
  }

  /** An attempt has failed and is fenced. */
  void attemptFailed(IOException failure, boolean mayRetry) {
    if (landing.isComplete()) {
      // Only the client's last word was missing.
      finish(null);
      return;
    }
    if (failure instanceof RequestFailure request
        && request.kind() == RequestFailure.Kind.NOT_LENT) {
      fetcher.account().carrier().pauseLending();
    }
    if (landing.published() > publishedBefore) {
      // A connection that breaks but brings blocks is not counted against the run.
      attempts = 1;
    }
    boolean again = mayRetry && demanded && interest.get() > 0 && attempts < mostAttempts(failure);
    if (!again) {
      finish(
          failure instanceof RequestFailure request
              ? request.with(effort(Effort.End.FAILURE))
              : failure);
      return;
    }
    lastFailure = failure;
    fetcher.metrics().count(Counter.RETRIES);
    handle.listener().onRetry(failure);
    current = null;
    boolean throttled =
        failure instanceof RequestFailure request
            && request.kind() == RequestFailure.Kind.THROTTLED;
    between.set(true);
    boolean scheduled = fetcher.later(this::send, fetcher.pauseNanos(attempts, throttled));
    // A cancel since the attempt was closed has found neither an attempt nor a pause to end.
    IOException why = cancelled;
    if ((!scheduled || why != null) && between.compareAndSet(true, false)) {
      finish(why != null ? why : failure);
    }
  }

  private int mostAttempts(IOException failure) {
    return failure instanceof RequestFailure request && !Fetcher.isForTheReader(request.getCause())
        ? request.mostAttempts(fetcher.config().maxAttempts())
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

  /** Running → over. Fails what has not been published and gives the rest of the memory back. */
  private void finish(@Nullable IOException failure) {
    if (!over.compareAndSet(false, true)) {
      return;
    }
    current = null;
    fetcher.ended(this);
    if (failure != null) {
      if (demanded && interest.get() > 0 && !Fetcher.isNobodysError(failure)) {
        fetcher.metrics().count(Counter.FAILURES);
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
    Spiller spiller = fetcher.spiller();
    if (spiller != null) {
      spiller.ended(this, claimed, blocks().subList(fromDisk, landing.published()));
    }
  }

  private void discarded(long bytes) {
    if (bytes > 0) {
      fetcher.metrics().add(Counter.DISCARDED_BYTES, bytes);
      handle.listener().onDiscarded(bytes);
    }
  }

  @Override
  public void onReady(Block block) {
    if (prefetch) {
      fetcher.metrics().add(Counter.PREFETCHED_BYTES, block.length());
      handle.listener().onPrefetched(block.length());
    }
  }

  @Override
  public void onFirstRead(Block block) {
    if (prefetch) {
      fetcher.metrics().add(Counter.PREFETCH_USED_BYTES, block.length());
      handle.listener().onPrefetchUsed(block.length());
    }
  }

  @Override
  public long lastReadNanos() {
    return handle.lastReadNanos();
  }

  @Override
  public void onDroppedUnread(Block block) {
    if (prefetch) {
      fetcher.metrics().add(Counter.PREFETCH_WASTED_BYTES, block.length());
      handle.listener().onPrefetchWasted(block.length());
    }
  }

  @Override
  public String toString() {
    return "GET " + range() + " of " + handle.version() + (prefetch ? ", prefetch" : "");
  }
}
