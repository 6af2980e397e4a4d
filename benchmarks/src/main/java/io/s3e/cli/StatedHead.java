// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import io.s3e.fault.FaultPolicy;
import io.s3e.fault.FaultPolicy.SendAgain;
import io.s3e.fault.History;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * What the store says of an object, asked for again as the engine asks for bytes, but not for
 * minutes: somebody sits before the command, who may have mistyped the endpoint.
 *
 * @param sent HEADs, the answered one included
 */
record StatedHead(ObjectHead head, int sent) {
  private static final FaultPolicy POLICY = FaultPolicy.from(Duration.ofMillis(100));

  /** For a store that refuses: it is there. */
  private static final Duration REFUSED = Duration.ofSeconds(30);

  /** For one that gives no answer at all. */
  private static final Duration UNANSWERED = Duration.ofSeconds(2);

  /**
   * Waits on the caller's thread.
   *
   * @throws RequestFailure the last failure
   * @throws InterruptedIOException if the thread was interrupted; its flag is set
   */
  static StatedHead ask(ObjectClient client, HeadRequest request) throws IOException {
    long start = System.nanoTime();
    History history = History.NONE;
    for (int sent = 1; ; sent++) {
      try {
        return new StatedHead(client.head(request), sent);
      } catch (RequestFailure e) {
        boolean hasAnswered = history.hasAnswered() || e.answer() != null;
        history = history.failed(e, hasAnswered);
        SendAgain again = POLICY.after(e, history, ThreadLocalRandom.current().nextDouble());
        long left = start + (hasAnswered ? REFUSED : UNANSWERED).toNanos() - System.nanoTime();
        if (again == null || left <= again.pauseNanos()) {
          throw e;
        }
        await(client, again, e, left);
        history = history.after(e, again.remedy());
      }
    }
  }

  private static void await(ObjectClient client, SendAgain again, RequestFailure failure, long left)
      throws InterruptedIOException {
    CountDownLatch ready = new CountDownLatch(again.remedy() == Remedy.NONE ? 0 : 1);
    try {
      if (ready.getCount() > 0) {
        client.remedy(again.remedy(), failure.answer(), ready::countDown);
        var unused = ready.await(left, TimeUnit.NANOSECONDS);
      }
      TimeUnit.NANOSECONDS.sleep(again.pauseNanos());
    } catch (RuntimeException e) {
      // The client's: what the store has said counts more, and the next HEAD tells it.
      failure.addSuppressed(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted = new InterruptedIOException(failure.getMessage());
      interrupted.initCause(failure);
      throw interrupted;
    }
  }
}
