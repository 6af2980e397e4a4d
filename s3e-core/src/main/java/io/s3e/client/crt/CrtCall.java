// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.block.ObjectRef;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.StoreAnswer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.crt.http.HttpHeader;
import software.amazon.awssdk.crt.s3.S3FinishedResponseContext;
import software.amazon.awssdk.crt.s3.S3MetaRequest;
import software.amazon.awssdk.crt.s3.S3MetaRequestResponseHandler;
import software.amazon.awssdk.crt.s3.S3RequestMetrics;

/**
 * One request in the CRT, from before its native half exists until after it has ended.
 *
 * <p>States, moved under this object's monitor:
 *
 * <pre>
 * NEW ──attach──▶ SENT ──onFinished──▶ ENDED
 *   └──end / onFinished before attach──▶ ENDED
 * </pre>
 *
 * The one terminal call comes from the caller that reaches ENDED first: native {@code onFinished}
 * once the request was handed over (the CRT calls it exactly once, also for cancelled requests), or
 * {@link #end} if it never was. {@link #cancel} only asks; it never ends a call by itself, so no
 * terminal call can overtake a data callback.
 *
 * <p>The CRT cannot be told not to retry. It tells of a failed attempt only when it begins the next
 * one ({@link #onTelemetry}): that cancels the request, and the end gives the failed attempt's
 * reason. So the server may see a second request, but the fetch layer never waits for its answer.
 *
 * <p><b>What was sent.</b> A call that is handed to the CRT waits there for a connection, and may
 * be cancelled before it has one. Telemetry tells whether an attempt that is over was written to
 * one, and a head shows that one was: whichever comes first counts it, both before {@code
 * onFinished}.
 *
 * <p>The native handle is closed by whichever of {@code attach} and {@code onFinished} comes
 * second: the event loop may finish a request before {@code makeMetaRequest} has returned it.
 */
abstract class CrtCall implements S3MetaRequestResponseHandler, ObjectClient.Exchange {
  private static final Logger LOG = LoggerFactory.getLogger(CrtCall.class);

  /** Hears of the end of a call; must not block. */
  interface Owner {
    /** The call has failed: the failure as the terminal call, which follows, tells it. */
    RequestFailure failed(CrtCall call, RequestFailure failure);

    /** The call is over; after its terminal call. */
    void ended(CrtCall call);
  }

  final ObjectRef object;
  final String subject;
  private final Owner owner;

  // Written before the call is handed to the CRT.
  /** When that was, by {@link System#nanoTime()}. */
  volatile long sentNanos;

  /** The region that it was sent to; null if it was not sent. */
  volatile @Nullable String sentTo;

  /** The access key that it is signed with, or an older one of the provider's; null if none. */
  volatile @Nullable String keyId;

  /**
   * The head of the answer, if one has begun and is none of a refusal; null otherwise. Touched by
   * the CRT's callbacks only.
   */
  @Nullable StoreAnswer begun;

  // Guarded by this.
  private boolean hasEnded;

  /** Heads without telemetry of their attempt; less than 0, attempts written without a head. */
  private int unpaired;

  private boolean cancelled;
  private @Nullable S3MetaRequest nativeHalf;
  private CrtFailures.@Nullable FailedAttempt failedAttempt;

  CrtCall(ObjectRef object, String subject, Owner owner) {
    this.object = object;
    this.subject = subject;
    this.owner = owner;
  }

  /** The terminal call: success if {@code failure} is null. */
  protected abstract void ended(@Nullable RequestFailure failure);

  /** How it ended, null for success, where the CRT says {@code failure}. */
  protected @Nullable RequestFailure outcome(@Nullable RequestFailure failure) {
    return failure;
  }

  /** The answer has begun, once at most, and is none of a refusal. */
  protected void began(StoreAnswer head) {}

  /** One attempt has gone out to the store: any event loop, any time before the terminal call. */
  protected void sent() {}

  final synchronized boolean isCancelled() {
    return cancelled;
  }

  /** The call is about to be handed to the CRT, for the store of that region, with that key. */
  final void sending(String region, @Nullable String key) {
    sentNanos = System.nanoTime();
    sentTo = region;
    keyId = key;
  }

  /** Takes the native half, which this call closes when both are done with each other. */
  final void attach(S3MetaRequest request) {
    synchronized (this) {
      if (!hasEnded) {
        nativeHalf = request;
        if (cancelled || failedAttempt != null) {
          request.cancel();
        }
        return;
      }
    }
    request.close();
  }

  @Override
  public final void cancel() {
    synchronized (this) {
      if (cancelled || hasEnded) {
        return;
      }
      cancelled = true;
      if (nativeHalf != null) {
        nativeHalf.cancel();
      }
    }
  }

  @Override
  public final void onResponseHeaders(int status, HttpHeader[] headers) {
    count(1);
    if (begun == null && status / 100 == 2) {
      StoreAnswer head = new StoreAnswer(status, null, null, CrtHeaders.asMap(headers), null);
      begun = head;
      began(head);
    }
  }

  /** Counts a head as 1, telemetry of an attempt that was written as −1: the first is news. */
  private void count(int one) {
    boolean isNews;
    synchronized (this) {
      unpaired += one;
      isNews = unpaired * one > 0;
    }
    if (isNews) {
      sent();
    }
  }

  @Override
  public final void onTelemetry(S3RequestMetrics attempt) {
    if (SentAttempts.wasSent(attempt)) {
      count(-1);
    }
    if (attempt.getErrorCode() == 0) {
      return;
    }
    synchronized (this) {
      if (cancelled || failedAttempt != null || hasEnded) {
        return;
      }
      failedAttempt = CrtFailures.FailedAttempt.of(attempt);
      if (nativeHalf != null) {
        nativeHalf.cancel();
      }
    }
  }

  @Override
  public final void onFinished(S3FinishedResponseContext context) {
    RequestFailure failure = null;
    try {
      failure = outcome(failure(context));
    } catch (RuntimeException | Error e) {
      failure = CrtFailures.unexpected(subject, e);
    } finally {
      // Where not even a failure can be made, the owner counts what has come.
      end(failure);
    }
  }

  private @Nullable RequestFailure failure(S3FinishedResponseContext context) {
    if (context.getErrorCode() == 0) {
      return null;
    }
    CrtFailures.FailedAttempt attempt;
    boolean wanted;
    synchronized (this) {
      attempt = failedAttempt;
      wanted = cancelled;
    }
    return CrtFailures.of(subject, context, attempt, wanted, begun);
  }

  /** What the terminal call tells, which comes whatever the owner makes of the failure. */
  private RequestFailure told(RequestFailure failure) {
    try {
      return owner.failed(this, failure);
    } catch (RuntimeException | Error e) {
      return CrtFailures.unexpected(subject, e);
    }
  }

  /** Ends the call: one that was not sent, or in {@link #onFinished}. */
  final void end(@Nullable RequestFailure failure) {
    S3MetaRequest finished;
    synchronized (this) {
      if (hasEnded) {
        LOG.warn("{} ended twice, the second time with {}", subject, String.valueOf(failure));
        return;
      }
      hasEnded = true;
      finished = nativeHalf;
      nativeHalf = null;
    }
    if (finished != null) {
      finished.close();
    }
    try {
      ended(failure == null ? null : told(failure));
    } catch (Throwable e) {
      // Nobody above: this runs on a native event loop, which an exception must not reach.
      LOG.error("The handler of {} failed in its terminal call", subject, e);
    } finally {
      owner.ended(this);
    }
  }
}
