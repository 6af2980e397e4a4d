// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.given;

import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.InFlight;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.jvm.Background;
import io.s3e.jvm.OwnLoader;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Reads by a given SDK {@link S3Client} on threads of its own: one thread is busy for as long as
 * one GET lasts. The client that works everywhere; it owns no memory beyond a chunk of 64 KiB heap
 * for each thread.
 *
 * <p>The SDK client should neither retry nor validate checksums, for the fetch layer does the one
 * and block ranges have none of the other; time-outs are the SDK client's. Retries that it does
 * make before a response begins do no harm.
 *
 * <p>Cancelling ends the exchange at once. A thread that waits for a response to begin stays busy
 * until it does or the SDK client's time-out strikes, and keeps its connection; one that reads a
 * body is freed by dropping the connection.
 *
 * <p>Works with SDK 2.24 and later.
 */
public final class SyncObjectClient implements ObjectClient {
  private static final Logger LOG = LoggerFactory.getLogger(SyncObjectClient.class);

  static {
    if (!OwnLoader.isApplications()) {
      beginTimer();
    }
  }

  private final BlockingStore store;
  private final String name;
  private final ClientLimits limits;
  final ThreadPoolExecutor threads;
  private final InFlight inFlight = new InFlight();
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param store what to read with, for example {@link BlockingStore#of}
   * @param name for logs and reports, for example {@code s3a}
   * @param threads how many GETs may be in flight, 1 or more
   * @param requestBytes the longest GET, in bytes
   */
  public SyncObjectClient(BlockingStore store, String name, int threads, int requestBytes) {
    this.store = store;
    this.name = name;
    limits = ClientLimits.copying(requestBytes, threads, 0);
    // Whoever sends knows how many are carried. A cancelled GET gives up its place before its
    // thread is free, so others may queue behind it.
    this.threads = Background.pool("s3e-get-", threads);
  }

  /** The SDK's thread for all bodies that nobody reads, which would keep what begins it. */
  private static void beginTimer() {
    try {
      List<Class<?>> types = List.of(Object.class, AbortableInputStream.class);
      Object nothing = AbortableInputStream.create(InputStream.nullInputStream());
      OwnLoader.makeApart(ResponseInputStream.class, types, "nothing", nothing).close();
    } catch (IOException | ReflectiveOperationException | RuntimeException e) {
      LOG.debug("A thread of the SDK's may keep this class loader", e);
    }
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
    String subject = request.subject();
    if (closed.get()) {
      throw RequestFailure.closed(subject);
    }
    try {
      return store.head(request);
    } catch (RequestFailure e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      throw SdkFailures.failure(subject, e);
    }
  }

  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    SyncExchange exchange = new SyncExchange(store, request, handler, this::ended);
    // Registered before the check: close() sees either this exchange or makes the check fail.
    inFlight.add(exchange);
    if (closed.get()) {
      exchange.end(RequestFailure.closed(request.subject()));
    } else if (request.lend()) {
      exchange.end(RequestFailure.notLent(request.subject()));
    } else {
      submit(request, exchange);
    }
    return exchange;
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    inFlight.endAll();
    threads.shutdown();
  }

  private void ended(SyncExchange exchange) {
    inFlight.remove(exchange);
    // One that was cancelled in the queue is not sent any more.
    boolean unused = threads.remove(exchange);
  }

  private void submit(GetRequest request, SyncExchange exchange) {
    try {
      threads.execute(exchange);
    } catch (RejectedExecutionException e) {
      exchange.end(RequestFailure.closed(request.subject()));
    } catch (OutOfMemoryError e) {
      // The system has no thread to give: one that works takes it, if there is any.
      if (threads.getPoolSize() == 0
          || !threads.getQueue().offer(exchange)
          || (threads.getPoolSize() == 0 && threads.remove(exchange))) {
        exchange.end(SdkFailures.failure(request.subject(), e));
      }
    }
  }
}
