// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.LentBuffer;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Records one exchange and checks what clients promise about it: one call at a time, head before
 * body, one terminal call and nothing after it. Violations are collected, since an assertion that
 * fails on a client's thread would be lost, and checked by {@link #awaitDone} and {@link
 * #awaitFailure}.
 */
public final class RecordingHandler implements ResponseHandler {
  private static final long DEADLINE_SECONDS = 30;

  /** Something to do, or to throw, in the middle of a call. */
  public interface Action {
    void run() throws IOException;
  }

  private final AtomicInteger sent = new AtomicInteger();
  private final AtomicInteger callsInside = new AtomicInteger();
  private final AtomicInteger terminalCalls = new AtomicInteger();
  private final List<String> violations = new CopyOnWriteArrayList<>();
  private final CompletableFuture<RequestFailure> ended = new CompletableFuture<>();
  private final CompletableFuture<ResponseHead> begun = new CompletableFuture<>();
  private final CompletableFuture<Void> firstBytes = new CompletableFuture<>();
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private volatile LentBuffer lent;
  private volatile Action duringHead = () -> {};
  private volatile Action duringData = () -> {};
  private volatile boolean keepLent;

  /** Runs during {@code onHead}. */
  public RecordingHandler duringHead(Action action) {
    duringHead = action;
    return this;
  }

  /** Runs during each {@code onData}, and during {@code onLent}, after the bytes were taken. */
  public RecordingHandler duringData(Action action) {
    duringData = action;
    return this;
  }

  /** Leaves a lent buffer open; {@link #lent()} gives it. */
  public RecordingHandler keepLent() {
    keepLent = true;
    return this;
  }

  /** How often the request has gone out, as far as the client has told. */
  public int sent() {
    return sent.get();
  }

  @Override
  public void onSent() {
    sent.incrementAndGet();
  }

  @Override
  public void onHead(ResponseHead head) throws IOException {
    enter("onHead");
    try {
      violateIf(begun.isDone(), "a second onHead");
      begun.complete(head);
      duringHead.run();
    } finally {
      callsInside.decrementAndGet();
    }
  }

  @Override
  public void onData(ByteBuffer chunk) throws IOException {
    enter("onData");
    try {
      violateIf(!begun.isDone(), "onData before onHead");
      violateIf(!chunk.hasRemaining(), "an empty chunk");
      take(chunk);
      firstBytes.complete(null);
      duringData.run();
    } finally {
      callsInside.decrementAndGet();
    }
  }

  @Override
  public void onLent(LentBuffer buffer) throws IOException {
    enter("onLent");
    try {
      violateIf(!begun.isDone(), "onLent before onHead");
      violateIf(lent != null, "a second onLent");
      violateIf(!buffer.bytes().isDirect(), "a lent buffer that is not direct");
      violateIf(buffer.bytes().position() != 0, "a lent buffer that does not begin at 0");
      lent = buffer;
      take(buffer.bytes().duplicate());
      firstBytes.complete(null);
      if (!keepLent) {
        buffer.close();
      }
      duringData.run();
    } finally {
      callsInside.decrementAndGet();
    }
  }

  @Override
  public void onDone() {
    end("onDone", null);
  }

  @Override
  public void onFailure(RequestFailure failure) {
    end("onFailure", failure);
  }

  /** Waits for the response to begin. */
  public ResponseHead awaitHead() throws Exception {
    return begun.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  /** Waits for bytes of the body. */
  public void awaitBytes() throws Exception {
    firstBytes.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  /** Waits for the success of the exchange and returns the body. */
  public byte[] awaitDone() throws Exception {
    RequestFailure failure = ended.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    if (failure != null) {
      throw new AssertionError("the exchange failed: " + failure.getMessage(), failure);
    }
    assertThat(violations).isEmpty();
    return bytes();
  }

  /** Waits for the failure of the exchange and returns it. */
  public RequestFailure awaitFailure() throws Exception {
    RequestFailure failure = ended.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    assertThat(failure).as("an exchange that should fail").isNotNull();
    assertThat(violations).isEmpty();
    return failure;
  }

  /** Waits for the end, whichever it is; null is success. */
  public RequestFailure awaitEnd() throws Exception {
    RequestFailure failure = ended.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    assertThat(violations).isEmpty();
    return failure;
  }

  public boolean hasEnded() {
    return ended.isDone();
  }

  /** What promises were broken, so far. */
  public List<String> violations() {
    return List.copyOf(violations);
  }

  /** The bytes received so far. */
  public byte[] bytes() {
    synchronized (body) {
      return body.toByteArray();
    }
  }

  public LentBuffer lent() {
    return lent;
  }

  private void take(ByteBuffer chunk) {
    byte[] copy = new byte[chunk.remaining()];
    chunk.get(copy);
    synchronized (body) {
      body.writeBytes(copy);
    }
  }

  private void enter(String call) {
    violateIf(terminalCalls.get() > 0, call + " after the terminal call");
    violateIf(callsInside.incrementAndGet() > 1, call + " during another call");
  }

  private void end(String call, RequestFailure failure) {
    violateIf(terminalCalls.incrementAndGet() > 1, call + " as a second terminal call");
    violateIf(callsInside.get() > 0, call + " during another call");
    ended.complete(failure);
  }

  private void violateIf(boolean broken, String what) {
    if (broken) {
      violations.add(what);
    }
  }
}
