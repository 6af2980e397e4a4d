package io.s3e.client.sdk;

import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/**
 * Reads by any {@link S3AsyncClient} of the user's: {@code crtBuilder()}, Netty, or one with
 * interceptors and proxies that S3E's own clients cannot carry. Handlers run on that client's
 * threads.
 *
 * <p>The SDK client should not retry, for the fetch layer does. Its memory is its own: what it
 * holds for bodies must be told as {@code ownedBytes}.
 */
public final class AsyncObjectClient implements ObjectClient {
  private final S3AsyncClient s3;
  private final String name;
  private final ClientLimits limits;
  private final Duration headTimeout;
  private final Map<String, String> headers;
  private final @Nullable Runnable closeAlso;
  private final InFlight<AsyncExchange> inFlight = new InFlight<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param s3 what to read with; stays open when this client closes
   * @param name for logs and reports, for example {@code sdk-netty}
   * @param limits how many GETs of which length may be in flight, and what memory the SDK client
   *     holds for them; lends nothing
   * @param headTimeout longest wait for a HEAD
   * @param headers sent with every request, where the SDK client cannot be told
   * @param closeAlso runs last when this client closes, for example to close the SDK's; null for
   *     nothing
   */
  public AsyncObjectClient(
      S3AsyncClient s3,
      String name,
      ClientLimits limits,
      Duration headTimeout,
      Map<String, String> headers,
      @Nullable Runnable closeAlso) {
    if (limits.lends()) {
      throw new IllegalArgumentException("an SDK client lends nothing, got " + limits);
    }
    this.s3 = s3;
    this.name = name;
    this.limits = limits;
    this.headTimeout = headTimeout;
    this.headers = Map.copyOf(headers);
    this.closeAlso = closeAlso;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public ClientLimits limits() {
    return limits;
  }

  @Override
  public ObjectHead head(HeadRequest request) throws RequestFailure {
    String subject = SdkRequests.subject(request);
    if (closed.get()) {
      throw SdkFailures.closed(subject);
    }
    CompletableFuture<HeadObjectResponse> answer =
        s3.headObject(SdkRequests.head(request, headers));
    try {
      return SdkRequests.head(subject, answer.get(headTimeout.toMillis(), TimeUnit.MILLISECONDS));
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      throw SdkFailures.failure(subject, cause == null ? e : cause);
    } catch (TimeoutException e) {
      answer.cancel(true);
      IOException asSocket = new SocketTimeoutException("no answer in " + headTimeout);
      asSocket.initCause(e);
      throw SdkFailures.network(subject, asSocket);
    } catch (InterruptedException e) {
      answer.cancel(true);
      Thread.currentThread().interrupt();
      throw SdkFailures.interrupted(subject, e);
    }
  }

  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    AsyncExchange exchange = new AsyncExchange(request, handler, inFlight::remove);
    // Registered before the check: close() sees either this exchange or makes the check fail.
    inFlight.add(exchange);
    if (closed.get()) {
      exchange.endUnsent(SdkFailures.closed(exchange.subject()));
    } else if (request.lend()) {
      exchange.endUnsent(SdkFailures.lendsNothing(exchange.subject()));
    } else {
      exchange.start(s3, SdkRequests.get(request, headers));
    }
    return exchange;
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    inFlight.cancelAll();
    if (closeAlso != null) {
      closeAlso.run();
    }
  }
}
