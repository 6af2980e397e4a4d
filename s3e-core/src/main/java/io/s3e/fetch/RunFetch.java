// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.client.Fence;
import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import io.s3e.fault.FaultPolicy;
import io.s3e.fault.FaultPolicy.SendAgain;
import io.s3e.fault.Gate;
import io.s3e.jvm.Background;
import io.s3e.memory.Block;
import io.s3e.memory.Grant;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One run of adjacent blocks on its way into memory: one GET, or several one after the other if one
 * fails on the way or only a part of the run gets through at a time.
 *
 * <p><b>Phases.</b> One word, moved by compare-and-set; whoever moves it goes on alone.
 *
 * <pre>
 *   BETWEEN --&gt; PREPARING --&gt; GETTING --(a part is there, or is asked for again)--&gt; BETWEEN
 *   BETWEEN, GETTING --(all is there, given up, or hopeless)--&gt; OVER
 * </pre>
 *
 * <p>BETWEEN is before the first attempt and before each further one, with a remedy and a pause;
 * GETTING has an {@link Attempt}, which ends once, by its fence. OVER is reached once: every block
 * is READY or FAILED then, failed ones are out of the index, and all memory is a block's or given
 * back. A cancel leaves its reason first and looks at the phase afterwards; a phase that begins is
 * entered first and looks for a reason afterwards. So no attempt begins unseen. An error of this
 * process on the way from one phase to the next, as where the heap is full, ends the run.
 *
 * <p><b>Interest.</b> The run is cancelled when nobody wants it any more ({@link Origin}). What
 * follows a failure is {@link FaultPolicy}'s to say, and when it is sent the {@link Gate}'s, as
 * long as a reader waits: the reader's patience ends the run. One that was asked for and that
 * nobody waits for at present goes on for as long as a reader would. A guess is not retried: it is
 * lost, in silence; who started it finds its blocks absent. A GET that is late for its reader is
 * given up where other readers starve for its place: a copied one is sent again when there is room
 * beside them, a lent one ends its run, whose reader asks again behind them. So ends a run that
 * waits to be sent again to a store that has served nothing for 10 s (a share of the patience),
 * while readers of another tenant lack memory.
 *
 * <p><b>Parts.</b> A copied GET that breaks off is asked for again by half ({@link LongestGet}),
 * and then the rest. A lent one comes whole or not at all: where it is too long for the link, the
 * run ends as nobody's error, and the reader's next ones are shorter.
 *
 * <p><b>A retry goes on</b> behind what is the object's: at {@code offset + filled}. Bytes of an
 * answer that was refused, or that had to end before it could be believed ({@link Body}), are not.
 *
 * <p><b>Attempts are fenced.</b> A client may call late: after a cancel, after a time-out, out of
 * turn. Each call passes its attempt's {@link Fence} first, and memory is given back or handed to
 * the next attempt only when the fence is closed <i>and</i> no call is inside. A retry uses the
 * same buffers; it never appends to what another attempt may still write. {@link Landing} tells
 * whose the memory is meanwhile.
 */
public final class RunFetch implements Attempt.Outcome {
  private static final Logger LOG = LoggerFactory.getLogger(RunFetch.class);

  /** A GET that was sent again ends in about so long, and leaves its place to the next. */
  private static final long PLACE_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** Of a reader's patience: so long a run may wait with memory that others lack. */
  private static final int SHARE_OF_PATIENCE = 48;

  private final Tenant tenant;
  private final ObjectHandle handle;
  private final Grant grant;
  private final Landing landing;
  private final RunEffort effort;
  private final Gate gate;
  private final Origin origin;
  private final Set<RunFetch> running;

  private record Phase(String name, @Nullable Attempt attempt) {
    static final Phase BETWEEN = new Phase("BETWEEN", null);
    static final Phase PREPARING = new Phase("PREPARING", null);
    static final Phase OVER = new Phase("OVER", null);

    boolean isOver() {
      return name.equals("OVER");
    }
  }

  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.BETWEEN);

  /** Set once somebody has ended the run from outside; no attempt begins from then on. */
  private volatile @Nullable IOException cancelled;

  /** Written between attempts. */
  private int publishedBefore;

  /** The latest GET that was late; written by the timer alone. */
  private volatile @Nullable LateGet late;

  /** Runs if the run has failed, and did not bring all of its blocks. */
  private volatile @Nullable Runnable loss;

  private RunFetch(Tenant tenant, ObjectHandle handle, Grant grant, Set<RunFetch> running) {
    this.tenant = tenant;
    this.handle = handle;
    this.grant = grant;
    this.landing = new Landing(tenant, grant);
    this.effort = new RunEffort(handle, landing::range);
    this.gate = tenant.gate(handle.version.object());
    this.origin =
        new Origin(tenant, tenant.metrics, handle, grant.purpose(), effort, this::unwanted);
    this.running = running;
  }

  /**
   * Makes the blocks of {@code run} and enters them into the index, as many in a row as nobody else
   * has entered. Null if that is none; the grant is given back then, and if this throws.
   */
  static @Nullable RunFetch enter(
      Tenant tenant, ObjectHandle handle, Grant grant, Set<RunFetch> running, BlockRange run) {
    RunFetch fetch = null;
    try {
      fetch = new RunFetch(tenant, handle, grant, running);
      if (!fetch.landing.enter(run, fetch.origin)) {
        return null;
      }
      Spiller spiller = tenant.spiller;
      if (spiller != null) {
        spiller.fetches(fetch.origin, fetch.range());
      }
      running.add(fetch);
      grant.onRevoked(fetch::revoked);
      if (fetch.isOver()) {
        // Cancelled since it was added, by who found nothing to take from the guesses.
        grant.landed();
      }
      return fetch;
    } catch (RuntimeException | Error e) {
      if (fetch == null) {
        grant.giveBack();
      } else if (!fetch.blocks().isEmpty()) {
        fetch.finish(Failures.broke("GET " + fetch.range(), e));
      }
      throw e;
    }
  }

  List<Block> blocks() {
    return landing.blocks;
  }

  public ByteRange range() {
    return landing.range();
  }

  /** Its memory is needed for others: a guess gives it up. */
  private boolean revoked() {
    boolean isGuess = !origin.demanded;
    if (isGuess) {
      cancel(effort.cancelled("its memory is needed"));
    }
    return isGuess;
  }

  /**
   * The last who was interested has left: what came and nobody read is to go first. Once all bytes
   * have come, to cancel would only cost the connection.
   */
  private void unwanted() {
    if (!isOver() && !landing.isComplete()) {
      cancel(effort.cancelled("no longer wanted"));
    }
    blocks().forEach(Block::abandon);
  }

  /** The stream that started the run gives it up: cancels it, or lets what came go. */
  public void abandon() {
    origin.abandon();
    blocks().forEach(Block::abandon);
  }

  /** The stream that started the run has passed over {@code bytes} of it, come or not. */
  public void abandon(ByteRange bytes) {
    if (range().start() >= bytes.end() || range().end() <= bytes.start()) {
      return;
    }
    for (Block block : blocks()) {
      if (block.start() >= bytes.start() && block.end() <= bytes.end()) {
        block.whenSettled(block::abandon);
      }
    }
  }

  /**
   * Has {@code task} run if the run does not bring all of its blocks: on any thread, once they are
   * out of the index. For who started it, before it starts.
   */
  public void onLoss(Runnable task) {
    loss = task;
  }

  /** It is a guess of that kind. For who started it, before it starts. */
  public void becomesGuess(Enum<?> kind) {
    origin.reason = kind;
  }

  /** Whether it is over and everything it brought has been read or dropped. */
  public boolean isSpent() {
    return isOver() && blocks().stream().noneMatch(block -> block.isReady() && block.isUnread());
  }

  boolean isOver() {
    return Objects.requireNonNull(phase.get()).isOver();
  }

  private @Nullable Attempt attempt() {
    return Objects.requireNonNull(phase.get()).attempt();
  }

  /** Sends the first or next attempt, for what is still missing or the first part of it. */
  void send() {
    if (!phase.compareAndSet(Phase.BETWEEN, Phase.PREPARING)) {
      return;
    }
    Attempt attempt;
    try {
      attempt = prepared();
    } catch (RuntimeException | Error e) {
      finish(Failures.broke("GET " + range(), e));
      throw e;
    }
    IOException why = cancelled;
    if (why != null) {
      // Cancelled while this attempt was being set up: nobody else may have seen it.
      attempt.cancel(why);
    }
    attempt.begin();
  }

  private Attempt prepared() {
    publishedBefore = landing.published;
    ByteRange part = effort.sends(landing.missing(), landing.isLent());
    tenant.store.hedges().sent();
    int number = effort.nextAttempt();
    Attempt attempt = new Attempt(this, landing, tenant, handle, gate, part, origin.reason, number);
    origin.asksBy(attempt.get);
    phase.set(new Phase("GETTING", attempt));
    return attempt;
  }

  /** Ends the run from outside: nobody wants it, or the tenant closes. */
  void cancel(IOException why) {
    cancelled = why;
    finishBetween(why);
    Attempt attempt = attempt();
    if (attempt != null) {
      attempt.cancel(why);
    }
    // Else who prepares an attempt, or has ended one, finds the reason before it goes on.
  }

  /** A cancel since the last attempt was closed has found neither an attempt nor a pause to end. */
  private void endIfCancelled() {
    IOException why = cancelled;
    if (why != null) {
      finishBetween(why);
    }
  }

  private void finishBetween(IOException why) {
    if (phase.compareAndSet(Phase.BETWEEN, Phase.PREPARING)) {
      finish(why);
    }
  }

  /**
   * Called by {@link FetchTimer.Watched#tick}; gives up an attempt that has become silent, and has
   * one that is late for its reader overtaken. Others wait for their looks: where this one fails, a
   * run that no reader waits for ends.
   */
  @SuppressWarnings("IllegalCatch")
  void checkDeadline(long now, long lateNanos) {
    try {
      look(now, lateNanos);
    } catch (RuntimeException | Error e) {
      Background.log(() -> LOG.debug("A look at {} has failed", range(), e));
      if (!origin.isAwaited()) {
        cancel(Failures.broke("GET " + range(), e));
      }
    }
  }

  private void look(long now, long lateNanos) {
    boolean isAwaited = origin.isAwaited();
    if (isAwaited) {
      LongWaits.look(gate, effort.waitedNanos(now), tenant.config.readTimeout(), effort::tried);
    }
    Attempt attempt = attempt();
    if (attempt == null) {
      // A remedy, the gate or a place may take longer than anybody waits.
      RequestFailure last = effort.lastFailure;
      if (last != null && !isWorthRetrying()) {
        finishBetween(effort.failed(last));
      } else if (last != null
          && effort.waitedNanos(now) > tenant.config.readTimeout().toNanos() / SHARE_OF_PATIENCE
          && last.kind() != RequestFailure.Kind.REJECTED
          && (gate.hasAnswered() || last.kind() == RequestFailure.Kind.NETWORK)
          && !grant.leases().isEmpty()
          && tenant.account.isMemoryWanted()) {
        // Its reader asks again: others may wait for a store that answers. What is sent so many
        // times at most is counted to its end.
        finishBetween(effort.cancelled("others want its memory: " + last.reason()));
      }
      return;
    }
    long patience = attempt.patienceNanos(isAwaited);
    if (attempt.silentNanos(now) > patience + (isAwaited ? lateNanos : 0)) {
      attempt.giveUp(effort.stalled(Duration.ofNanos(patience)));
    } else if (origin.isForAReader() && attempt.isLate(now - lateNanos)) {
      LateGet get = late;
      if (get == null || !get.isOf(attempt)) {
        get = new LateGet(attempt, by -> overtaken(attempt, by), grant, effort);
        late = get;
      }
      get.look(isAwaited, now, lateNanos);
    }
  }

  /** The hedge of that attempt has come; false if the attempt has ended, the next one may go on. */
  private boolean overtaken(Attempt attempt, Hedge by) {
    return attempt.overtaken(
        () -> {
          try {
            by.fill(landing, origin);
          } finally {
            by.release();
          }
          attemptDone();
        });
  }

  /** The attempt has ended: nothing goes on beside it. */
  private void endLate() {
    LateGet get = late;
    if (get != null) {
      get.end();
    }
  }

  @Override
  public void attemptDone() {
    endLate();
    effort.came();
    if (landing.isComplete()) {
      finish(null);
    } else {
      phase.set(Phase.BETWEEN);
      endIfCancelled();
      send();
    }
  }

  @Override
  public void attemptCancelled(Attempt attempt, IOException why) {
    endLate();
    if (attempt() == attempt) {
      // Perhaps only the client's last word was missing.
      finish(landing.isComplete() ? null : effort.failed(why));
    } else {
      // The next one has the memory, or may have it soon.
      cancel(why);
    }
  }

  @Override
  public void attemptFailed(RequestFailure failure) {
    endLate();
    if (landing.isComplete()) {
      finish(null);
      return;
    }
    LateGet get = late;
    boolean hasYielded = get != null && get.isOf(attempt()) && get.hasYielded;
    boolean gotOn = landing.published > publishedBefore;
    SendAgain again = effort.after(failure, gotOn, gate, tenant.config.policy());
    if (again == null || !isWorthRetrying()) {
      finish(effort.failed(failure));
    } else if (landing.isLent() && (hasYielded || effort.isTooLong())) {
      String why = hasYielded ? "others want its slot: " : "too long for this link: ";
      finish(effort.cancelled(why + failure.reason()));
    } else {
      retry(failure, again);
    }
  }

  private boolean isWorthRetrying() {
    return origin.isAwaited()
        || (origin.isForAReader() && effort.elapsedNanos() < tenant.config.readTimeout().toNanos());
  }

  private void retry(RequestFailure failure, SendAgain again) {
    handle.listener.onRetry(failure);
    grant.pause();
    phase.set(Phase.BETWEEN);
    // Where there is no pause, what follows sends at once.
    endIfCancelled();
    Runnable next = () -> sendAfter(again.pauseNanos(), failure);
    if (again.remedy() == Remedy.NONE) {
      next.run();
    } else {
      try {
        tenant.client.remedy(again.remedy(), failure.answer(), next);
      } catch (RuntimeException | Error e) {
        failure.addSuppressed(e);
        finishBetween(effort.failed(failure));
      }
    }
    endIfCancelled();
  }

  private void sendAfter(long pauseNanos, RequestFailure failure) {
    Runnable next =
        () -> {
          if (!isOver() && grant.resume()) {
            send();
            return;
          }
          gate.unused();
          // Not at the gate, which would let it pass at once, again and again.
          if (!isOver() && !tenant.timer.later(() -> sendAfter(0, failure), PLACE_PAUSE_NANOS)) {
            finishBetween(effort.failed(failure));
          }
        };
    if (!gate.retry(pauseNanos, next)) {
      finishBetween(effort.failed(failure));
    }
  }

  /** To OVER. Fails what has not been published and gives the rest of the memory back. */
  private void finish(@Nullable IOException failure) {
    if (Objects.requireNonNull(phase.getAndSet(Phase.OVER)).isOver()) {
      return;
    }
    running.remove(this);
    if (failure != null && origin.isForAReader() && !Failures.isNobodysError(failure)) {
      tenant.metrics.count(Counter.FAILURES);
    }
    landing.end(failure);
    if (origin.interested.get() == 0) {
      // What was published while the last of those who were interested left.
      blocks().forEach(Block::abandon);
    }
    Runnable task = loss;
    if (failure != null && task != null && landing.published < blocks().size()) {
      task.run();
    }
    Spiller spiller = tenant.spiller;
    if (spiller != null) {
      spiller.ended(blocks().subList(0, landing.published));
    }
  }
}
