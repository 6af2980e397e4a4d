// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static io.s3e.testing.Eventually.awaitTrue;

import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.LentBuffer;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import io.s3e.client.ResponseHead.LengthSource;
import io.s3e.client.StoreAnswer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A client whose every answer is a script that may keep the contract of {@link ResponseHandler} or
 * break it. What a script must never see, whatever it does, is an exception other than the
 * IOException of a refused answer: those are collected in {@link #violations()}.
 */
final class ScriptedClient implements ObjectClient {
  static final String ETAG = "\"v1\"";

  private final byte[] content;
  private final ClientLimits limits;
  private final Queue<Throwable> violations = new ConcurrentLinkedQueue<>();
  private final List<GetRequest> gets = new CopyOnWriteArrayList<>();
  private final List<Call> calls = new CopyOnWriteArrayList<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private final AtomicInteger lentOut = new AtomicInteger();
  private final AtomicInteger running = new AtomicInteger();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private volatile Script script = (call, number) -> call.answerWell();

  /** Runs at the end of each cancel, which it may make fail. */
  volatile Runnable whenCancelled = () -> {};

  /** Takes what is to run once a remedy is brought about; as a rule it runs at once. */
  volatile Consumer<Runnable> whenRemedied = Runnable::run;

  /** One answer; runs on a thread of the client's. An IOException counts as heard. */
  interface Script {
    void answer(Call call, int number) throws Exception;
  }

  ScriptedClient(byte[] content, ClientLimits limits) {
    this.content = content;
    this.limits = limits;
  }

  ScriptedClient script(Script value) {
    script = value;
    return this;
  }

  /** All answers are good, and none comes before the latch is down. */
  CountDownLatch holdAnswers() {
    CountDownLatch gate = new CountDownLatch(1);
    script =
        (call, number) -> {
          gate.await();
          call.answerWell();
        };
    return gate;
  }

  /** GETs so far, in the order of their arrival. */
  List<GetRequest> gets() {
    return gets;
  }

  /** The same GETs with what became of them. */
  List<Call> calls() {
    return calls;
  }

  /** Exceptions that came out of a handler and are no refusals. */
  Queue<Throwable> violations() {
    return violations;
  }

  /** Lent buffers that nobody has given back. */
  int lentOut() {
    return lentOut.get();
  }

  /** Waits until no script runs. */
  void awaitQuiet() throws InterruptedException {
    awaitTrue("no script runs", () -> running.get() == 0);
  }

  @Override
  public String name() {
    return "scripted";
  }

  @Override
  public ClientLimits limits() {
    return limits;
  }

  @Override
  public ObjectHead head(HeadRequest request) {
    return new ObjectHead(content.length, ETAG, null, null);
  }

  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    Call call = new Call(request, handler);
    gets.add(request);
    calls.add(call);
    handler.onSent();
    int number = numbers.getAndIncrement();
    running.incrementAndGet();
    threads.execute(() -> run(call, number));
    return call::cancel;
  }

  @Override
  public void remedy(Remedy remedy, @Nullable StoreAnswer answer, Runnable then) {
    whenRemedied.accept(then);
  }

  private void run(Call call, int number) {
    try {
      script.answer(call, number);
    } catch (IOException e) {
      call.heard(e);
    } catch (Throwable e) {
      violations.add(e);
    } finally {
      running.decrementAndGet();
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }

  /** One GET and what a script can do with it. */
  final class Call {
    final GetRequest request;
    private final ResponseHandler handler;
    private final CountDownLatch cancelled = new CountDownLatch(1);
    private final AtomicBoolean terminal = new AtomicBoolean();

    Call(GetRequest request, ResponseHandler handler) {
      this.request = request;
      this.handler = handler;
    }

    int length() {
      return (int) request.range().length();
    }

    boolean isCancelled() {
      return cancelled.getCount() == 0;
    }

    boolean awaitCancel(long millis) throws InterruptedException {
      return cancelled.await(millis, TimeUnit.MILLISECONDS);
    }

    private void cancel() {
      cancelled.countDown();
      whenCancelled.run();
    }

    /** As the contract has it: a refused answer ends with onFailure. */
    private void heard(IOException refusal) {
      if (!terminal.get()) {
        fail(new RequestFailure(RequestFailure.Kind.REJECTED, "GET", "refused", refusal));
      }
    }

    void head() throws IOException {
      head(LengthSource.STORE);
    }

    /** The right head; without a length where it is nobody's word. */
    void head(LengthSource source) throws IOException {
      head(206, rightRange(), ETAG, source);
    }

    void head(int status, String contentRange, String etag) throws IOException {
      head(status, contentRange, etag, LengthSource.STORE);
    }

    private void head(int status, String contentRange, String etag, LengthSource source)
        throws IOException {
      long length = source == LengthSource.NOBODY ? -1 : length();
      handler.onHead(
          new ResponseHead(status, contentRange, length, etag, null, null, null, source, null));
    }

    private String rightRange() {
      long start = request.range().start();
      long end = request.range().end();
      return "bytes " + start + "-" + (end - 1) + "/" + content.length;
    }

    /** Bytes {@code [from, to)} of the range, in one chunk; beyond the object's end come zeros. */
    void data(int from, int to) throws IOException {
      byte[] chunk = new byte[to - from];
      int start = (int) request.range().start() + from;
      int there = Math.max(0, Math.min(chunk.length, content.length - start));
      System.arraycopy(content, Math.min(start, content.length), chunk, 0, there);
      handler.onData(ByteBuffer.wrap(chunk));
    }

    /** Bytes that are not the object's. */
    void garbage(int length) throws IOException {
      handler.onData(ByteBuffer.wrap(new byte[length]));
    }

    /** The first {@code length} bytes in a buffer that must come back exactly once. */
    void lend(int length) throws IOException {
      handler.onLent(lent(length));
    }

    /** All bytes in a buffer that can be looked at once. */
    void lendBroken() throws IOException {
      Lent lent = lent(length());
      lent.looks.set(1);
      handler.onLent(lent);
    }

    private Lent lent(int length) {
      ByteBuffer memory = ByteBuffer.allocateDirect(length);
      memory.put(content, (int) request.range().start(), length).flip();
      lentOut.incrementAndGet();
      return new Lent(memory);
    }

    void body() throws IOException {
      if (request.lend()) {
        lend(length());
      } else {
        data(0, length());
      }
    }

    void done() {
      terminal.set(true);
      handler.onDone();
    }

    void fail(RequestFailure.Kind kind) {
      fail(new RequestFailure(kind, "GET", "scripted " + kind, null));
    }

    private void fail(RequestFailure failure) {
      terminal.set(true);
      handler.onFailure(failure);
    }

    /** The client sends it again by itself. */
    void resend() {
      RequestFailure failure =
          new RequestFailure(RequestFailure.Kind.NETWORK, "GET", "scripted silence", null);
      handler.onResent(failure);
    }

    void answerWell() throws IOException {
      head();
      body();
      done();
    }
  }

  private final class Lent implements LentBuffer {
    private final ByteBuffer memory;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** How often the bytes can still be had. */
    final AtomicInteger looks = new AtomicInteger(Integer.MAX_VALUE);

    Lent(ByteBuffer memory) {
      this.memory = memory;
    }

    @Override
    public ByteBuffer bytes() {
      if (looks.getAndDecrement() <= 0) {
        throw new OutOfMemoryError("as if");
      }
      return memory;
    }

    @Override
    public void close() {
      if (!closed.compareAndSet(false, true)) {
        violations.add(new AssertionError("a lent buffer was given back twice"));
        return;
      }
      for (int i = 0; i < memory.capacity(); i++) {
        memory.put(i, (byte) 0xDD);
      }
      lentOut.decrementAndGet();
    }
  }
}
