// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import io.s3e.block.ObjectRef;
import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.LentBuffer;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import io.s3e.client.StoreAnswer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Objects in memory behind the client contract, answered on threads of its own, as badly as a test
 * wants: {@link Faults} decides for each GET. Lent buffers are poisoned when they are given back,
 * so that a reader that still looks at one reads wrong bytes and not, by luck, the right ones.
 */
public final class MemoryObjectClient implements ObjectClient {
  /** What lent memory holds once it was given back. */
  private static final byte[] SCRIBBLE = new byte[64 << 10];

  static {
    Arrays.fill(SCRIBBLE, (byte) 0x5A);
  }

  private final Map<ObjectRef, Content> objects = new ConcurrentHashMap<>();
  private final Map<ObjectRef, String> etags = new ConcurrentHashMap<>();
  private final Queue<GetRequest> gets = new ConcurrentLinkedQueue<>();
  private final AtomicInteger heads = new AtomicInteger();
  private final AtomicInteger lentOut = new AtomicInteger();
  private final AtomicInteger doubleCloses = new AtomicInteger();
  private final AtomicInteger active = new AtomicInteger();
  private final AtomicInteger unended = new AtomicInteger();
  private final AtomicInteger mostActive = new AtomicInteger();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "memory-client");
            thread.setDaemon(true);
            return thread;
          });
  private final ClientLimits limits;
  private volatile Faults faults = (request, number) -> Answer.GOOD;
  private volatile String storedEncoding;
  private volatile RequestFailure headFailure;
  private volatile CountDownLatch gate = new CountDownLatch(0);
  private volatile boolean answersAtOnce;

  /** The bytes of an object. */
  public record Content(long size, Slices slices) {
    /** Gives {@code count} bytes from an offset on. */
    @FunctionalInterface
    public interface Slices {
      ByteBuffer slice(long at, int count);
    }
  }

  /** How one GET is answered. */
  public record Answer(
      int chunkBytes,
      int truncateAt,
      RequestFailure failure,
      ResponseHead head,
      long delayMillis,
      boolean lateAfterCancel,
      boolean neverEnds) {
    public static final Answer GOOD =
        new Answer(Integer.MAX_VALUE, Integer.MAX_VALUE, null, null, 0, false, false);

    /** Delivers the body in chunks of so many bytes. */
    public Answer inChunksOf(int bytes) {
      return new Answer(bytes, truncateAt, failure, head, delayMillis, lateAfterCancel, neverEnds);
    }

    /** Ends the body well-formed after so many bytes, for the store has told no length. */
    public Answer shortAfter(int bytes) {
      return new Answer(chunkBytes, bytes, failure, head, delayMillis, lateAfterCancel, neverEnds);
    }

    boolean isShort() {
      return truncateAt < Integer.MAX_VALUE && failure == null && !neverEnds;
    }

    /** Breaks after so many bytes of body. */
    public Answer failingAfter(int bytes, RequestFailure.Kind kind) {
      return new Answer(
          chunkBytes,
          bytes,
          new RequestFailure(kind, "GET", "injected " + kind, null),
          head,
          delayMillis,
          lateAfterCancel,
          neverEnds);
    }

    /** Answers with another head. */
    public Answer withHead(ResponseHead value) {
      return new Answer(
          chunkBytes, truncateAt, failure, value, delayMillis, lateAfterCancel, neverEnds);
    }

    /** Waits before each chunk. */
    public Answer after(long millis) {
      return new Answer(chunkBytes, truncateAt, failure, head, millis, lateAfterCancel, neverEnds);
    }

    /** Goes on delivering after a cancel, as if it had not heard. */
    public Answer deaf() {
      return new Answer(chunkBytes, truncateAt, failure, head, delayMillis, true, neverEnds);
    }

    /** Falls silent after {@code truncateAt} bytes and stays so until cancelled. */
    public Answer silentAfter(int bytes) {
      return new Answer(chunkBytes, bytes, failure, head, delayMillis, lateAfterCancel, true);
    }
  }

  /** Chooses the answer to the {@code number}th GET, counted from 0. */
  @FunctionalInterface
  public interface Faults {
    Answer answer(GetRequest request, int number);
  }

  public MemoryObjectClient(ClientLimits limits) {
    this.limits = limits;
  }

  /** Random but reproducible content, as {@link StoredContent#generated} makes it. */
  public static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    StoredContent.generated(length, seed).copy(0, bytes, 0, length);
    return bytes;
  }

  /** The same in 17 MiB of memory, however many they are: no GET is longer than 16 MiB. */
  public static Content repeating(long length, long seed) {
    byte[] bytes = bytes(StoredContent.PATTERN_BYTES + (16 << 20), seed);
    return new Content(
        length,
        (at, count) -> ByteBuffer.wrap(bytes, (int) (at % StoredContent.PATTERN_BYTES), count));
  }

  public void put(ObjectRef object, byte[] content, String etag) {
    put(
        object,
        new Content(content.length, (at, count) -> ByteBuffer.wrap(content, (int) at, count)),
        etag);
  }

  /** As above, of any length. */
  public void put(ObjectRef object, Content content, String etag) {
    objects.put(object, content);
    etags.put(object, etag);
  }

  /** What HEAD tells as the objects' Content-Encoding. */
  public void storedEncoding(String value) {
    storedEncoding = value;
  }

  /** Has all HEADs fail so; none if null. */
  public void headsFail(RequestFailure value) {
    headFailure = value;
  }

  public void faults(Faults value) {
    faults = value;
  }

  /** Answers on the thread that asks, before it goes on: nobody ever waits for a GET. */
  public void answerAtOnce() {
    answersAtOnce = true;
  }

  /** Holds all answers back until {@link #open()}. */
  public void hold() {
    gate = new CountDownLatch(1);
  }

  /** Lets all answers go. */
  public void open() {
    gate.countDown();
  }

  public List<GetRequest> gets() {
    return List.copyOf(gets);
  }

  public int heads() {
    return heads.get();
  }

  /** Lent buffers that nobody has given back. */
  public int lentOut() {
    return lentOut.get();
  }

  /** Lent buffers given back more than once. */
  public int doubleCloses() {
    return doubleCloses.get();
  }

  /** GETs whose bytes have not all been handed over. */
  public int active() {
    return active.get();
  }

  /** GETs whose handlers have not heard their last word, or have not done what that asks for. */
  public int unended() {
    return unended.get();
  }

  /** The most GETs that were under way at once. */
  public int mostActive() {
    return mostActive.get();
  }

  public long bytesAsked() {
    return gets.stream().mapToLong(request -> request.range().length()).sum();
  }

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public ClientLimits limits() {
    return limits;
  }

  @Override
  public ObjectHead head(HeadRequest request) throws IOException {
    heads.incrementAndGet();
    RequestFailure failure = headFailure;
    if (failure != null) {
      throw failure;
    }
    Content content = objects.get(request.object());
    if (content == null) {
      throw refused(404, "no " + request.object());
    }
    return new ObjectHead(content.size(), etags.get(request.object()), null, storedEncoding);
  }

  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    int number;
    synchronized (gets) {
      number = gets.size();
      gets.add(request);
    }
    unended.incrementAndGet();
    int now = active.incrementAndGet();
    mostActive.accumulateAndGet(now, Math::max);
    handler.onSent();
    Delivery delivery = new Delivery(request, handler, faults.answer(request, number));
    if (answersAtOnce) {
      delivery.run();
    } else {
      threads.execute(delivery);
    }
    return delivery::cancel;
  }

  @Override
  public void close() {
    gate.countDown();
    threads.shutdownNow();
    try {
      if (!threads.awaitTermination(10, TimeUnit.SECONDS)) {
        throw new IllegalStateException("deliveries still run");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private final class Delivery implements Runnable {
    private final GetRequest request;
    private final ResponseHandler handler;
    private final Answer answer;
    private final CountDownLatch cancelled = new CountDownLatch(1);

    Delivery(GetRequest request, ResponseHandler handler, Answer answer) {
      this.request = request;
      this.handler = handler;
      this.answer = answer;
    }

    void cancel() {
      cancelled.countDown();
    }

    private boolean heedsCancel() {
      return cancelled.getCount() == 0 && !answer.lateAfterCancel();
    }

    @Override
    public void run() {
      RequestFailure failure;
      try {
        failure = deliver();
      } catch (IOException e) {
        failure =
            new RequestFailure(
                RequestFailure.Kind.REJECTED, "GET", "response refused: " + e.getMessage(), e);
      } catch (InterruptedException e) {
        failure = new RequestFailure(RequestFailure.Kind.CANCELLED, "GET", "client closed", e);
      } finally {
        active.decrementAndGet();
      }
      try {
        if (failure == null) {
          handler.onDone();
        } else {
          handler.onFailure(failure);
        }
      } finally {
        unended.decrementAndGet();
      }
    }

    private RequestFailure deliver() throws IOException, InterruptedException {
      gate.await();
      Content content = objects.get(request.object());
      if (content == null) {
        return refused(404, "no such key");
      }
      String etag = etags.get(request.object());
      if (request.etag() != null && !request.etag().equals(etag) && answer.head() == null) {
        return refused(412, "precondition failed");
      }
      if (request.range().start() >= content.size()) {
        return refused(416, "behind the end");
      }
      long start = request.range().start();
      long end = Math.min(content.size(), request.range().end());
      if (answer.failure() != null && answer.truncateAt() < 0) {
        return answer.failure();
      }
      ResponseHead head =
          answer.head() != null
              ? answer.head()
              : new ResponseHead(
                  206,
                  "bytes " + start + "-" + (end - 1) + "/" + content.size(),
                  answer.isShort() ? -1 : end - start,
                  etag,
                  null,
                  null);
      handler.onHead(head);
      if (request.lend()) {
        return lend(content, start, end);
      }
      return copy(content, start, end);
    }

    private RequestFailure copy(Content content, long start, long end)
        throws IOException, InterruptedException {
      long stop = Math.min(end, start + answer.truncateAt());
      for (long at = start; at < stop; ) {
        if (answer.delayMillis() > 0) {
          Pause.millis(answer.delayMillis(), "a store that is slow");
        }
        if (heedsCancel()) {
          return new RequestFailure(RequestFailure.Kind.CANCELLED, "GET", "cancelled", null);
        }
        int count = (int) Math.min(stop - at, answer.chunkBytes());
        handler.onData(content.slices().slice(at, count).slice());
        at += count;
      }
      return ending();
    }

    private RequestFailure lend(Content content, long start, long end)
        throws IOException, InterruptedException {
      if (answer.delayMillis() > 0) {
        Pause.millis(answer.delayMillis(), "a store that is slow");
      }
      if (heedsCancel()) {
        return new RequestFailure(RequestFailure.Kind.CANCELLED, "GET", "cancelled", null);
      }
      if (answer.failure() == null && !answer.neverEnds()) {
        int count = (int) Math.max(0, Math.min(end - start, answer.truncateAt()));
        ByteBuffer memory = ByteBuffer.allocateDirect(count);
        memory.put(content.slices().slice(start, count)).flip();
        handler.onLent(new Lent(memory));
      }
      return ending();
    }

    private RequestFailure ending() throws InterruptedException {
      if (answer.neverEnds()) {
        cancelled.await();
        return new RequestFailure(RequestFailure.Kind.CANCELLED, "GET", "cancelled", null);
      }
      return answer.failure();
    }
  }

  private final class Lent implements LentBuffer {
    private final ByteBuffer memory;
    private final AtomicBoolean closed = new AtomicBoolean();

    Lent(ByteBuffer memory) {
      this.memory = memory;
      lentOut.incrementAndGet();
    }

    @Override
    public ByteBuffer bytes() {
      return memory;
    }

    @Override
    public void close() {
      if (closed.compareAndSet(false, true)) {
        for (int at = 0; at < memory.limit(); at += SCRIBBLE.length) {
          memory.put(at, SCRIBBLE, 0, Math.min(SCRIBBLE.length, memory.limit() - at));
        }
        lentOut.decrementAndGet();
      } else {
        doubleCloses.incrementAndGet();
      }
    }
  }

  private static RequestFailure refused(int status, String message) {
    return RequestFailure.refused(
        "GET", new StoreAnswer(status, null, message, Map.of(), null), null);
  }
}
