// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHead;
import io.s3e.client.StoreAnswer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A HEAD, which one thread waits for, or somebody else hears of. */
final class CrtHead extends CrtCall {
  private final Consumer<@Nullable StoreAnswer> whenEnded;
  private final CountDownLatch ended = new CountDownLatch(1);

  /** Written before the latch opens, read after. */
  private @Nullable RequestFailure failure;

  /** {@code whenEnded} hears the store's answer, be it a refusal; null if none came. */
  CrtHead(HeadRequest request, Consumer<@Nullable StoreAnswer> whenEnded, Owner owner) {
    super(request.object(), request.subject(), owner);
    this.whenEnded = whenEnded;
  }

  /** Waits for the answer, at most {@code timeout}; cancels the call then, or if interrupted. */
  ObjectHead await(Duration timeout) throws RequestFailure {
    try {
      if (!ended.await(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        cancel();
        throw RequestFailure.timedOut(subject, "no answer in " + timeout);
      }
    } catch (InterruptedException e) {
      cancel();
      Thread.currentThread().interrupt();
      throw new RequestFailure(Kind.CANCELLED, subject, "interrupted", e);
    }
    if (failure != null) {
      throw failure;
    }
    StoreAnswer answer = begun;
    ResponseHead head = answer == null ? null : CrtHeaders.responseHead(answer);
    if (head == null || head.contentLength() < 0) {
      throw new RequestFailure(Kind.OTHER, subject, "answer without Content-Length", null);
    }
    return new ObjectHead(
        head.contentLength(), head.etag(), head.versionId(), head.contentEncoding());
  }

  @Override
  protected void ended(@Nullable RequestFailure outcome) {
    failure = outcome;
    ended.countDown();
    whenEnded.accept(outcome == null ? begun : outcome.answer());
  }
}
