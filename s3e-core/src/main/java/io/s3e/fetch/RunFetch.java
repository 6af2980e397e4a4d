package io.s3e.fetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.ByteRange;
import io.s3e.buffer.BlockLease;
import io.s3e.cache.Block;
import io.s3e.client.GetRequest;
import io.s3e.client.LentBuffer;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
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
 * <p><b>Interest.</b> The stream that started the run counts one, each reader that waits on a block
 * of it counts one. When the last goes the run is cancelled; {@link #join} then fails and the
 * latecomer fetches anew. A run that nobody waits for is not retried: a failed prefetch is silent,
 * and the reader that comes to its blocks fetches them itself.
 *
 * <p><b>Attempts are fenced.</b> A client may call late: after a cancel, after a time-out, out of
 * turn. Each call enters its attempt first ({@link Attempt#enter}), which fails once the attempt is
 * closed, and memory is given back or handed to the next attempt only when the attempt is closed
 * <i>and</i> no call is inside. A retry continues at {@code offset + filled}, in the same buffers;
 * it never appends to what another attempt may still write.
 *
 * <p><b>Ownership.</b> A pooled buffer is the run's until its block is published, then the block's
 * slab's. A lent buffer goes straight to the slab.
 */
public final class RunFetch implements Block.Fate {
  private final Fetcher fetcher;
  private final ObjectHandle handle;
  private final Admission.Grant grant;
  private final boolean prefetch;

  /** At least one, adjacent, ascending; complete before {@link #start}. */
  private final List<Block> blocks = new ArrayList<>();

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

  // Written inside an attempt or between attempts, never both at once.
  private int published;
  private int publishedBefore;
  private int filledInBlock;
  private int attempts;

  private RunFetch(Fetcher fetcher, ObjectHandle handle, Admission.Grant grant, boolean prefetch) {
    this.fetcher = fetcher;
    this.handle = handle;
    this.grant = grant;
    this.prefetch = prefetch;
    this.demanded = !prefetch;
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
      Admission.Grant grant,
      boolean prefetch) {
    RunFetch run = new RunFetch(fetcher, handle, grant, prefetch);
    BlockLayout layout = handle.layout();
    for (long index = firstBlock; index < firstBlock + count; index++) {
      Block block =
          new Block(handle.block(index), layout.startOf(index), layout.lengthOf(index), run);
      if (!fetcher.index().add(block)) {
        break;
      }
      run.blocks.add(block);
    }
    run.releaseLeasesFrom(run.blocks.size());
    if (run.blocks.isEmpty()) {
      grant.leaveLane();
      return null;
    }
    return run;
  }

  private void releaseLeasesFrom(int first) {
    List<BlockLease> leases = grant.leases();
    for (int i = first; i < leases.size(); i++) {
      fetcher.admission().release(leases.get(i));
    }
  }

  List<Block> blocks() {
    return blocks;
  }

  public ByteRange range() {
    return new ByteRange(blocks.get(0).start(), blocks.get(blocks.size() - 1).end());
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

  /** How many are interested. */
  int interested() {
    return interest.get();
  }

  /** A reader is about to wait for a block: from now on the run is worth retrying. */
  void demand() {
    demanded = true;
  }

  /** One fewer is interested; the last one cancels what is still running. */
  void leave() {
    if (interest.decrementAndGet() == 0 && !over.get()) {
      cancel(new RequestFailure(RequestFailure.Kind.CANCELLED, 0, "no longer wanted", null));
    }
  }

  /** The stream that started the run gives it up: cancels it, or lets what came go. */
  public void abandon() {
    leave();
    blocks.forEach(Block::abandon);
  }

  /** Whether it is over and everything it brought has been read or dropped. */
  public boolean isSpent() {
    if (!over.get()) {
      return false;
    }
    for (Block block : blocks) {
      if (block.isReady() && block.isUnread()) {
        return false;
      }
    }
    return true;
  }

  /** Sends the first GET. */
  void start() {
    send();
  }

  /** Sends the next attempt, for what is still missing. */
  private void send() {
    if (!between.compareAndSet(true, false)) {
      return;
    }
    attempts++;
    publishedBefore = published;
    Attempt attempt = new Attempt(remaining(), attempts);
    current = attempt;
    IOException why = cancelled;
    if (why != null) {
      // Cancelled while this attempt was being set up: nobody else may have seen it.
      attempt.close(() -> finish(why));
      return;
    }
    attempt.begin(fetcher.client());
  }

  private ByteRange remaining() {
    return grant.isLent()
        ? range()
        : new ByteRange(blocks.get(published).start() + filledInBlock, range().end());
  }

  /** Ends the run from outside: nobody wants it, or the engine closes. */
  void cancel(IOException why) {
    cancelled = why;
    if (between.compareAndSet(true, false)) {
      finish(why);
      return;
    }
    Attempt attempt = current;
    if (attempt != null) {
      attempt.fail(why, false);
    }
  }

  /** Called about every 100 ms; gives up an attempt that has become silent. */
  void checkDeadline(long now) {
    Attempt attempt = current;
    if (attempt != null && attempt.isLate(now)) {
      attempt.fail(
          new RequestFailure(
              RequestFailure.Kind.NETWORK,
              0,
              "GET " + range() + " of " + handle.version().object() + " stalled",
              null),
          true);
    }
  }

  /** An attempt has failed and is fenced. */
  private void afterFailure(IOException failure, boolean mayRetry) {
    if (over.get()) {
      return;
    }
    if (published > publishedBefore) {
      // A connection that breaks but brings blocks is not counted against the run.
      attempts = 1;
    }
    boolean again =
        mayRetry
            && demanded
            && interest.get() > 0
            && attempts < fetcher.config().maxAttempts()
            && isRetryable(failure);
    if (!again) {
      finish(failure);
      return;
    }
    fetcher.metrics().retried();
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

  private static boolean isRetryable(IOException failure) {
    return failure instanceof RequestFailure request
        && request.isRetryable()
        && !Fetcher.isForTheReader(request.getCause());
  }

  /** Running → over. Fails what has not been published and gives the rest of the memory back. */
  private void finish(@Nullable IOException failure) {
    if (!over.compareAndSet(false, true)) {
      return;
    }
    current = null;
    fetcher.ended(this);
    if (failure != null) {
      fail(failure);
    }
    boolean slotIsTheSlabs = grant.isLent() && published > 0;
    if (!slotIsTheSlabs) {
      grant.leaveLane();
    }
  }

  private void fail(IOException failure) {
    if (demanded && interest.get() > 0) {
      fetcher.metrics().failed();
    }
    List<Block> unpublished = blocks.subList(published, blocks.size());
    unpublished.forEach(fetcher.index()::remove);
    for (int i = published; i < blocks.size() && !grant.isLent(); i++) {
      fetcher.admission().release(grant.leases().get(i));
    }
    unpublished.forEach(block -> block.fail(failure));
  }

  @Override
  public void onFirstRead(Block block) {
    if (prefetch) {
      fetcher.metrics().prefetchUsed(block.length());
      handle.listener().onPrefetchUsed(block.length());
    }
  }

  @Override
  public void onDroppedUnread(Block block) {
    if (prefetch) {
      fetcher.metrics().prefetchWasted(block.length());
      handle.listener().onPrefetchWasted(block.length());
    }
  }

  @Override
  public String toString() {
    return "GET " + range() + " of " + handle.version() + (prefetch ? ", prefetch" : "");
  }

  /** Publishes one block out of its pooled buffer. */
  private void publishPooled(BlockLease lease, ByteBuffer bytes) {
    Block block = blocks.get(published++);
    filledInBlock = 0;
    fetcher
        .admission()
        .pooled()
        .publish(
            List.of(block),
            bytes,
            fetcher.config().blockBytes(),
            () -> fetcher.admission().release(lease));
  }

  /**
   * One GET. {@code gate} is IDLE, BUSY while a call of the client is inside, CLOSING if it was
   * closed during such a call, and CLOSED. Closing runs {@code afterwards} once no call is inside:
   * at once, or by the call on its way out.
   */
  private final class Attempt implements ResponseHandler {
    private static final int IDLE = 0;
    private static final int BUSY = 1;
    private static final int CLOSING = 2;
    private static final int CLOSED = 3;

    private final GetRequest request;
    private final int number;
    private final long startedNanos = System.nanoTime();
    private final AtomicInteger gate = new AtomicInteger(IDLE);
    private volatile long lastByteNanos = startedNanos;

    /** What follows the closing; set by the one call that closes. */
    private final AtomicReference<@Nullable Runnable> afterwards = new AtomicReference<>();

    private volatile ObjectClient.@Nullable Exchange exchange;
    private boolean headSeen;
    private long received;

    Attempt(ByteRange wanted, int number) {
      this.number = number;
      this.request =
          new GetRequest(
              handle.version().object(),
              wanted,
              handle.etag(),
              handle.version().versionId(),
              grant.isLent(),
              handle.headers(),
              handle.context());
    }

    void begin(ObjectClient client) {
      fetcher.metrics().getStarted(prefetch);
      handle.listener().onGetStarted(request.range().start(), request.range().length(), prefetch);
      ObjectClient.Exchange started;
      try {
        started = client.get(request, this);
      } catch (RuntimeException e) {
        onFailure(
            new RequestFailure(
                RequestFailure.Kind.OTHER, 0, "client refused GET of " + request.object(), e));
        return;
      }
      exchange = started;
      if (gate.get() >= CLOSING) {
        started.cancel();
      }
    }

    boolean isLate(long now) {
      long stall = fetcher.config().stallTimeout().toNanos() << Math.min(number - 1, 4);
      // A lent response arrives whole, so its silence says nothing until a slow link had its time.
      long patience =
          request.lend() ? stall + request.range().length() * NANOS_PER_SLOW_BYTE : stall;
      return now - lastByteNanos > patience;
    }

    private boolean enter() {
      return gate.compareAndSet(IDLE, BUSY);
    }

    private void exit() {
      if (!gate.compareAndSet(BUSY, IDLE)) {
        gate.set(CLOSED);
        Objects.requireNonNull(afterwards.get()).run();
      }
    }

    /** Closes the attempt for all later calls; false if it was closed already. */
    boolean close(Runnable then) {
      if (!afterwards.compareAndSet(null, then)) {
        return false;
      }
      for (; ; ) {
        if (gate.compareAndSet(IDLE, CLOSED)) {
          then.run();
          return true;
        }
        if (gate.compareAndSet(BUSY, CLOSING)) {
          return true;
        }
      }
    }

    /** Closes the attempt because of {@code failure}, tells the client, and goes on from there. */
    void fail(IOException failure, boolean mayRetry) {
      boolean closed =
          close(
              () -> {
                report(failure);
                afterFailure(failure, mayRetry);
              });
      ObjectClient.Exchange started = exchange;
      if (closed && started != null) {
        started.cancel();
      }
    }

    private void report(@Nullable Exception failure) {
      handle
          .listener()
          .onGetFinished(
              request.range().start(), received, System.nanoTime() - startedNanos, failure);
    }

    @Override
    public void onHead(ResponseHead head) throws IOException {
      if (!enter()) {
        throw closedAlready();
      }
      try {
        ResponseCheck.check(request, head, handle);
        headSeen = true;
        lastByteNanos = System.nanoTime();
      } finally {
        exit();
      }
    }

    @Override
    public void onData(ByteBuffer chunk) throws IOException {
      if (!enter()) {
        throw closedAlready();
      }
      try {
        requireHead();
        int count = chunk.remaining();
        if (grant.isLent() || received + count > request.range().length()) {
          throw surplus(received + count);
        }
        received += count;
        fetcher.metrics().bytesFetched(count);
        lastByteNanos = System.nanoTime();
        fill(chunk);
      } finally {
        exit();
      }
    }

    private void fill(ByteBuffer chunk) {
      while (chunk.hasRemaining()) {
        Block block = blocks.get(published);
        BlockLease lease = grant.leases().get(published);
        int count = Math.min(chunk.remaining(), block.length() - filledInBlock);
        ByteBuffer target = lease.buffer();
        target.put(filledInBlock, chunk, chunk.position(), count);
        chunk.position(chunk.position() + count);
        filledInBlock += count;
        if (filledInBlock == block.length()) {
          publishPooled(lease, target);
        }
      }
    }

    @Override
    public void onLent(LentBuffer buffer) throws IOException {
      if (!enter()) {
        buffer.close();
        throw closedAlready();
      }
      try {
        acceptLent(buffer);
      } finally {
        exit();
      }
    }

    private void acceptLent(LentBuffer buffer) throws IOException {
      int count = buffer.bytes().remaining();
      if (!headSeen || !grant.isLent() || published > 0 || count != request.range().length()) {
        buffer.close();
        requireHead();
        throw surplus(count);
      }
      received = count;
      fetcher.metrics().bytesFetched(count);
      published = blocks.size();
      fetcher
          .admission()
          .lent()
          .publish(
              blocks,
              buffer.bytes(),
              fetcher.client().limits().lentSlotBytes(),
              () -> {
                buffer.close();
                fetcher.admission().releaseSlot();
              });
    }

    @Override
    public void onDone() {
      if (published < blocks.size()) {
        onFailure(
            new RequestFailure(
                RequestFailure.Kind.NETWORK,
                0,
                "body of GET "
                    + request.range()
                    + " of "
                    + request.object()
                    + " ended after "
                    + received
                    + " bytes",
                null));
        return;
      }
      close(
          () -> {
            report(null);
            fetcher.completed(received, System.nanoTime() - startedNanos);
            finish(null);
          });
    }

    @Override
    public void onFailure(RequestFailure failure) {
      if (published == blocks.size()) {
        // Every byte is there and was counted; how the connection ended after them does not matter.
        onDone();
        return;
      }
      close(
          () -> {
            report(failure);
            afterFailure(failure, true);
          });
    }

    private void requireHead() throws IOException {
      if (!headSeen) {
        throw new IOException("body before head in the answer to " + request);
      }
    }

    private IOException surplus(long count) {
      return new IOException(
          "Answer to GET "
              + request.range()
              + " of "
              + request.object()
              + " has "
              + count
              + " bytes or more instead of "
              + request.range().length());
    }

    private IOException closedAlready() {
      return new IOException(
          "GET " + request.range() + " of " + request.object() + " was given up");
    }
  }

  /** 4 µs a byte: 256 KiB/s, below which a link is taken for dead at the first attempt. */
  private static final long NANOS_PER_SLOW_BYTE = 4_000;
}
