package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.Fence;
import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import io.s3e.fault.FaultPolicy;
import io.s3e.fault.Gate;
import io.s3e.fault.History;
import io.s3e.fault.Part;
import io.s3e.fault.Verdict;
import io.s3e.memory.Block;
import io.s3e.memory.Grant;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

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
 * entered first and looks for a reason afterwards. So no attempt begins unseen.
 *
 * <p><b>Interest.</b> The run is cancelled when nobody wants it any more ({@link Interest}). What
 * follows a failure is {@link FaultPolicy}'s to say, and when it is sent the {@link Gate}'s, as
 * long as a reader waits: the reader's patience ends the run. One that was asked for and that
 * nobody waits for at present goes on for as long as a reader would. A guess is not retried: it is
 * lost, in silence; who started it finds its blocks absent. A GET that is late for its reader is
 * given up where other readers starve for its place: a copied one is sent again when there is room
 * beside them, a lent one ends its run, whose reader asks again behind them.
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
public final class RunFetch implements Attempt.Outcome, Hedge.Late {
  /** A GET that was sent again ends in about so long, and leaves its place to the next. */
  private static final long PLACE_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Tenant tenant;
  private final Run run;
  private final Purpose purpose;
  private final Landing landing;
  private final Interest interest;
  private final RunEffort effort;
  private final Gate gate;
  private final Origin origin;
  private final Consumer<RunFetch> ended;

  private enum State {
    BETWEEN,
    PREPARING,
    GETTING,
    OVER
  }

  /**
   * A state and what is under way in it.
   *
   * @param attempt in GETTING
   */
  private record Phase(State state, @Nullable Attempt attempt) {
    static final Phase BETWEEN = new Phase(State.BETWEEN, null);
    static final Phase PREPARING = new Phase(State.PREPARING, null);
    static final Phase OVER = new Phase(State.OVER, null);
  }

  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.BETWEEN);

  /** Set once somebody has ended the run from outside; no attempt begins from then on. */
  private volatile @Nullable IOException cancelled;

  // Written between attempts.
  private int publishedBefore;
  private History history = History.NONE;
  private long longestPart = Long.MAX_VALUE;
  private long asked;
  private boolean hasSent;

  /** The latest; begun by the timer alone. */
  private volatile @Nullable Hedge hedge;

  /** The latest that was given up for other readers; written by the timer alone, before its end. */
  private volatile @Nullable Attempt yielded;

  /** Runs if the run has failed, and did not bring all of its blocks. */
  private volatile @Nullable Runnable loss;

  private RunFetch(Tenant tenant, Run run, Grant grant, Consumer<RunFetch> ended) {
    this.tenant = tenant;
    this.run = run;
    this.purpose = grant.purpose();
    this.landing = new Landing(tenant, grant);
    this.interest = new Interest(purpose, this::unwanted);
    this.effort = new RunEffort(run.handle(), landing::range);
    this.gate = tenant.gate(run.handle().version().object());
    this.origin = new Origin(tenant, tenant.metrics(), run.handle(), purpose, interest, effort);
    this.ended = ended;
  }

  /**
   * Makes the run's first {@code count} blocks at most and enters them into the index, as many in a
   * row as nobody else has entered. Null if that is none; the grant is given back then.
   */
  static @Nullable RunFetch enter(
      Tenant tenant, Run run, int count, Grant grant, Consumer<RunFetch> ended) {
    RunFetch fetch = new RunFetch(tenant, run, grant, ended);
    if (!fetch.landing.enter(run, count, fetch.origin)) {
      return null;
    }
    grant.onRevoked(fetch::revoked);
    return fetch;
  }

  List<Block> blocks() {
    return landing.blocks();
  }

  public ByteRange range() {
    return landing.range();
  }

  /** How many are interested. */
  int interested() {
    return interest.count();
  }

  /** Its memory is needed for others: a guess gives it up. */
  private void revoked() {
    if (!interest.isDemanded()) {
      cancel(effort.cancelled("its memory is needed"));
    }
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
    interest.abandon();
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
   * Has {@code task} run if the run does not bring all of its blocks: on any thread, once they are
   * out of the index. For who started it, before it starts.
   */
  public void onLoss(Runnable task) {
    loss = task;
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

  boolean isOver() {
    return current().state() == State.OVER;
  }

  private Phase current() {
    return Objects.requireNonNull(phase.get());
  }

  private void goOn() {
    phase.set(Phase.BETWEEN);
    IOException why = cancelled;
    if (why == null) {
      send();
    } else {
      boolean unused = finishBetween(why);
    }
  }

  /** Sends the first or next attempt, for what is still missing or the first part of it. */
  void send() {
    if (!phase.compareAndSet(Phase.BETWEEN, Phase.PREPARING)) {
      return;
    }
    effort.sends();
    publishedBefore = landing.published();
    ByteRange missing = landing.missing();
    if (!hasSent) {
      hasSent = true;
      tenant.fetches(origin, missing);
    }
    long most = Math.min(longestPart, run.handle().longestGet().bytes());
    ByteRange part = landing.isLent() ? missing : LongestGet.firstPart(missing, most);
    asked = part.length();
    int number = history.failures() + 1;
    tenant.hedges().sent();
    Attempt attempt = new Attempt(this, landing, tenant, run.handle(), gate, part, purpose, number);
    phase.set(new Phase(State.GETTING, attempt));
    IOException why = cancelled;
    if (why != null) {
      // Cancelled while this attempt was being set up: nobody else may have seen it.
      attempt.withdraw(() -> finish(why));
      return;
    }
    attempt.begin();
  }

  /** Ends the run from outside: nobody wants it, or the tenant closes. */
  void cancel(IOException why) {
    cancelled = why;
    Phase now = current();
    Attempt attempt = now.attempt();
    switch (now.state()) {
      case BETWEEN -> {
        if (!finishBetween(why)) {
          // An attempt has begun between the two looks: it is the one to end.
          cancel(why);
        }
      }
      case GETTING -> Objects.requireNonNull(attempt).cancel(why);
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
   * Called about every 100 ms, by one thread; gives up an attempt that has become silent, and has
   * one that is late for its reader overtaken.
   *
   * @param lateNanos how much longer than usual threads wait for a processor, in ns
   */
  void checkDeadline(long now, long lateNanos) {
    if (interest.isAwaited()) {
      Duration patience = tenant.config().readTimeout();
      LongWaits.look(gate, effort.waitedNanos(now), patience, effort::tried);
    }
    Attempt attempt = current().attempt();
    if (attempt != null) {
      checkSilence(attempt, now, lateNanos);
    }
  }

  private void checkSilence(Attempt attempt, long now, long lateNanos) {
    boolean isAwaited = interest.isAwaited();
    long silent = attempt.silentNanos(now);
    long patience = attempt.patienceNanos(isAwaited);
    if (silent > patience + (isAwaited ? lateNanos : 0)) {
      attempt.giveUp(effort.stalled(Duration.ofNanos(patience)));
    } else if (interest.isForAReader() && attempt.isLate(now - lateNanos)) {
      boolean isAside = landing.overdue();
      boolean isWanted = tenant.admission().isStarving(tenant.account().carrier(), now);
      if (isWanted) {
        endLateHedge(attempt, now - lateNanos);
      }
      if (isWanted && !isAside && landing.canYield() && attempt.isInTheWay(now - lateNanos)) {
        yielded = attempt;
        attempt.giveUp(effort.stalled(Duration.ofNanos(silent)));
      } else if (isAwaited && !isWanted) {
        hedge(attempt);
      }
    }
  }

  /** A second GET that is late as well holds what other readers starve for. */
  private void endLateHedge(Attempt attempt, long now) {
    Hedge second = hedge;
    if (second != null && second.isOf(attempt) && second.isLate(now)) {
      second.cancel(effort.cancelled("other readers want its place"));
    }
  }

  private void hedge(Attempt attempt) {
    Hedge before = hedge;
    boolean isHedged = before != null && before.isOf(attempt);
    // An object whose GETs hang again and again would hold two places in place of one.
    if (landing.isLent() || !attempt.isFirst() || isHedged || !gate.admitsGuess(0)) {
      return;
    }
    Hedge second = Hedge.of(this, tenant, run.handle(), gate, attempt);
    if (second == null) {
      return;
    }
    hedge = second;
    second.begin();
    // Perhaps the attempt has ended before it could see the hedge.
    if (current().attempt() != attempt) {
      second.cancel(effort.cancelled("the first GET has ended"));
    }
  }

  @Override
  public boolean overtaken(Hedge by) {
    Attempt attempt = current().attempt();
    return attempt != null
        && attempt.overtaken(
            () -> {
              by.fill(landing);
              attemptDone();
            });
  }

  private void endHedge() {
    Hedge second = hedge;
    if (second != null) {
      second.cancel(effort.cancelled("the first GET has ended"));
    }
  }

  @Override
  public void attemptDone() {
    endHedge();
    run.handle().longestGet().came(asked);
    if (landing.isComplete()) {
      finish(null);
    } else {
      history = History.NONE;
      effort.progressed();
      goOn();
    }
  }

  @Override
  public void attemptCancelled(IOException why) {
    endHedge();
    // Perhaps only the client's last word was missing.
    finish(landing.isComplete() ? null : effort.failed(why));
  }

  @Override
  public void attemptFailed(RequestFailure failure) {
    endHedge();
    if (landing.isComplete()) {
      finish(null);
      return;
    }
    boolean hasYielded = current().attempt() == yielded;
    if (landing.published() > publishedBefore) {
      // A connection that breaks but brings blocks is not counted against the run.
      history = History.NONE;
    }
    history = history.failed(failure, gate);
    Verdict verdict =
        Failures.isForTheReader(failure.getCause())
            ? new Verdict.Fail()
            : tenant
                .config()
                .policy()
                .after(failure, history, ThreadLocalRandom.current().nextDouble());
    if (!(verdict instanceof Verdict.SendAgain again)) {
      finish(effort.failed(failure));
      return;
    }
    if (again.part() == Part.HALF) {
      run.handle().longestGet().broke(asked);
      longestPart = LongestGet.half(asked);
    }
    if (!isWorthRetrying()) {
      finish(effort.failed(failure));
    } else if (landing.isLent() && (hasYielded || run.handle().longestGet().bytes() < asked)) {
      String why = hasYielded ? "others want its slot: " : "too long for this link: ";
      finish(effort.cancelled(why + failure.reason()));
    } else {
      retry(failure, again);
    }
  }

  private boolean isWorthRetrying() {
    return interest.isAwaited()
        || (interest.isForAReader()
            && effort.elapsedNanos() < tenant.config().readTimeout().toNanos());
  }

  private void retry(RequestFailure failure, Verdict.SendAgain again) {
    effort.goesOnAfter(failure);
    tenant.metrics().count(Counter.RETRIES);
    run.handle().listener().onRetry(failure);
    landing.pause();
    phase.set(Phase.BETWEEN);
    if (again.remedy() == Remedy.NONE) {
      sendAfter(again.pauseNanos(), failure);
    } else {
      history = history.after(failure, again.remedy());
      tenant
          .client()
          .remedy(again.remedy(), failure.answer(), () -> sendAfter(again.pauseNanos(), failure));
    }
    // A cancel since the attempt was closed has found neither an attempt nor a pause to end.
    IOException why = cancelled;
    if (why != null) {
      boolean unused = finishBetween(why);
    }
  }

  private void sendAfter(long pauseNanos, RequestFailure failure) {
    if (!gate.retry(pauseNanos, () -> sendAgain(failure))) {
      boolean unused = finishBetween(effort.failed(failure));
    }
  }

  private void sendAgain(RequestFailure failure) {
    if (landing.resume()) {
      send();
    } else {
      sendAfter(PLACE_PAUSE_NANOS, failure);
    }
  }

  /** To OVER. Fails what has not been published and gives the rest of the memory back. */
  private void finish(@Nullable IOException failure) {
    if (Phase.OVER.equals(phase.getAndSet(Phase.OVER))) {
      return;
    }
    ended.accept(this);
    if (failure != null) {
      if (interest.isForAReader() && !Failures.isNobodysError(failure)) {
        tenant.metrics().count(Counter.FAILURES);
      }
    }
    tenant.discarded(run.handle(), landing.unpublishedBytes());
    landing.fail(failure);
    landing.end();
    if (interest.count() == 0) {
      // What was published while the last of those who were interested left.
      blocks().forEach(Block::abandon);
    }
    Runnable task = loss;
    if (failure != null && task != null && landing.published() < blocks().size()) {
      task.run();
    }
    Spiller spiller = tenant.spiller();
    if (spiller != null) {
      spiller.ended(run.handle(), blocks().subList(0, landing.published()));
    }
  }

  @Override
  public String toString() {
    return "GET " + range() + " of " + run.handle().version() + " (" + purpose + ")";
  }
}
