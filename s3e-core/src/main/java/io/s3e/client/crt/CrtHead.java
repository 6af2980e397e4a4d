package io.s3e.client.crt;

import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.http.HttpHeader;

/** A HEAD, which one thread waits for. */
final class CrtHead extends CrtCall {
  private final HeadRequest request;
  private final CountDownLatch ended = new CountDownLatch(1);

  // Written by the CRT's callbacks before the latch opens, read after.
  private int status;
  private HttpHeader @Nullable [] headers;
  private @Nullable RequestFailure failure;

  CrtHead(HeadRequest request, BiConsumer<CrtCall, @Nullable RequestFailure> onEnded) {
    super(onEnded);
    this.request = request;
  }

  @Override
  public void onResponseHeaders(int responseStatus, HttpHeader[] responseHeaders) {
    status = responseStatus;
    headers = responseHeaders;
  }

  /**
   * Waits for the answer, at most {@code timeout}; the call is cancelled then.
   *
   * @throws RequestFailure as {@code ObjectClient.head} says; {@link Kind#CANCELLED} with the
   *     interrupt flag set again if the thread is interrupted
   */
  ObjectHead await(Duration timeout) throws RequestFailure {
    try {
      if (!ended.await(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        cancel();
        throw new RequestFailure(Kind.NETWORK, 0, subject() + ": no answer in " + timeout, null);
      }
    } catch (InterruptedException e) {
      cancel();
      Thread.currentThread().interrupt();
      throw new RequestFailure(Kind.CANCELLED, 0, subject() + ": interrupted", e);
    }
    if (failure != null) {
      throw failure;
    }
    HttpHeader[] answer = headers;
    long size = answer == null ? -1 : CrtHeaders.contentLength(answer);
    if (answer == null || size < 0) {
      throw new RequestFailure(
          Kind.OTHER, status, subject() + ": answer without Content-Length", null);
    }
    return new ObjectHead(
        size,
        CrtHeaders.find(answer, "ETag"),
        CrtHeaders.find(answer, "x-amz-version-id"),
        CrtHeaders.find(answer, "Content-Encoding"));
  }

  @Override
  protected @Nullable RequestFailure outcome(@Nullable RequestFailure outcome) {
    return outcome;
  }

  @Override
  protected void ended(@Nullable RequestFailure outcome) {
    failure = outcome;
    ended.countDown();
  }

  @Override
  protected String subject() {
    return "HEAD " + request.object();
  }
}
