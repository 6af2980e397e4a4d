// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.block.ObjectRef;
import io.s3e.client.ClientLimits;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.InFlight;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import io.s3e.client.StoreAnswer;
import io.s3e.client.Transport;
import io.s3e.client.crt.Addressing.Target;
import io.s3e.client.library.CrtSettings;
import io.s3e.jvm.JvmEnd;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.s3.S3Client;
import software.amazon.awssdk.crt.s3.S3MetaRequest;
import software.amazon.awssdk.crt.s3.S3MetaRequestOptions;

/**
 * Reads by the CRT's native {@code S3Client}, without the SDK's wrapper around it.
 *
 * <p>Connections and buffers belong to a {@link CrtTransport}, which other clients may share; the
 * client itself has the address of the store, the credentials and the requests in flight.
 *
 * <h2>What the CRT does to a response</h2>
 *
 * A range no longer than a slot is one GET. The CRT reports status 206 for any response that has a
 * Content-Range, and rewrites that header from the range it asked for. A response without one, or
 * with another range than asked for, fails inside the CRT and is told as {@link Kind#REJECTED}, but
 * for one that ends with the object before the asked end, which passes as the server labelled it.
 * The fetch layer counts the bytes. The Content-Length that the CRT tells is computed from
 * Content-Range. A body is handed over in one call once the response has ended in order, short ones
 * too, and nothing of one that breaks off; one without Content-Length and chunks ends empty. A
 * response without ETag fails as {@link Kind#NO_ETAG}, unless the request named one: the CRT does
 * not read from stores that have none. Redirects are not followed, but a refusal that names another
 * region for the bucket is told as {@link Kind#MOVED}: what is sent next goes there.
 *
 * <h2>Threads and closing</h2>
 *
 * A GET waits for credentials to be signed with ({@link CredentialsCache}), on no thread of its
 * caller's. Handlers run on native event loops. A cancelled request ends at once, except while it
 * waits for a connection: then it ends with the attempt to connect, which the connect time-out
 * bounds, but not a TLS handshake with a server that is not trusted (10 to 30 s). Buffers on loan
 * stay valid after {@link #close} until they are closed. In a JVM that is ending it waits for
 * nothing ({@link CrtHold}).
 */
final class CrtObjectClient implements ObjectClient, CrtCall.Owner {
  /** Statuses with which S3 refuses credentials that are wrong or (400) have expired. */
  private static final Set<Integer> MAY_BE_CREDENTIALS = Set.of(400, 401, 403);

  /** Says that the key may not, and not that it is none. */
  private static final String DENIED = "AccessDenied";

  private final CrtSettings settings;
  private final Transport.Lease<CrtTransport> lease;
  private final CrtTransport transport;
  private final @Nullable Signers signers;
  private final Addressing addressing;
  private final InFlight inFlight = new InFlight();
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Read-locked while a request is handed to the CRT, whose clients must not close meanwhile. */
  private final ReentrantReadWriteLock sending = new ReentrantReadWriteLock();

  private final Runnable closing = this::closeAtEnd;

  /** Asks the store for the time; lands with its answer, or with null if none came. */
  private final SingleFlight<StoreAnswer> askingTime = new SingleFlight<>();

  /** What the store has refused last, perhaps for its signature: where it is asked for the time. */
  private volatile @Nullable ObjectRef refused;

  /** Takes over the lease. */
  CrtObjectClient(CrtSettings settings, Transport.Lease<CrtTransport> lease) {
    this.settings = settings;
    this.lease = lease;
    transport = lease.transport();
    signers = settings.credentials() == null ? null : new Signers(settings.credentials());
    addressing = new Addressing(settings);
    JvmEnd.beforeLast(closing);
  }

  @Override
  public String name() {
    return transport.borrowed ? "crt-borrowed" : "crt-copied";
  }

  @Override
  public ClientLimits limits() {
    return transport.limits();
  }

  /** By the narrow CRT client, whose connections, signing and time-outs it shares. */
  @Override
  public ObjectHead head(HeadRequest request) throws RequestFailure {
    CrtHead call = new CrtHead(request, answer -> {}, this);
    start(call, false, target -> addressing.head(target, request));
    return call.await(settings.requestTimeout());
  }

  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    CrtGet call = new CrtGet(request, handler, this);
    start(call, request.lend(), target -> addressing.get(target, request));
    return call;
  }

  private void closeAtEnd() {
    CrtHold.end();
    close();
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    JvmEnd.forget(closing);
    if (signers != null) {
      // Calls that wait for the provider were not sent: they end here, whatever it does.
      signers.credentials.close();
    }
    inFlight.endAll();
    // A send that began before is over now, and a later one finds the client closed.
    sending.writeLock().lock();
    try {
      inFlight.cancelAll();
    } finally {
      sending.writeLock().unlock();
    }
    if (signers != null) {
      signers.close();
    }
    lease.close();
  }

  /**
   * The CRT keeps no header of a refusal that it would repeat by itself, as it would one for the
   * time: the store is asked by a request that is not signed.
   */
  @Override
  public void remedy(Remedy remedy, @Nullable StoreAnswer answer, Runnable then) {
    Signers own = signers;
    if (own == null) {
      then.run();
      return;
    }
    // A refused HEAD has no code, so the time may be the reason whatever the remedy is.
    boolean timeIsKnown = own.clock.learn(answer);
    ObjectRef object = refused;
    if (remedy == Remedy.CREDENTIALS) {
      own.credentials.renew(answer != null && answer.code() != null, then);
    } else if (timeIsKnown || object == null) {
      then.run();
    } else {
      learnTime(own.clock, object, then);
    }
  }

  private void learnTime(StoreClock clock, ObjectRef object, Runnable then) {
    if (!askingTime.join(answer -> then.run())) {
      return;
    }
    HeadRequest question = new HeadRequest(object, null, Map.of(), null);
    // Not signed: the store refuses it whatever the time, and all that counts is the Date.
    CrtHead call =
        new CrtHead(
            question,
            answer -> {
              boolean unused = clock.learn(answer);
              askingTime.land(answer);
            },
            this);
    inFlight.add(call);
    send(call, false, target -> addressing.head(target, question));
    // Nobody waits for it with a deadline: who asks is told when it ends.
    long millis = settings.requestTimeout().toMillis();
    CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(call::cancel);
  }

  @Override
  public @Nullable Object credentials() {
    Signers own = signers;
    return own == null ? null : own.identity();
  }

  private void start(CrtCall call, boolean lend, Function<Target, S3MetaRequestOptions> request) {
    // Registered before send looks: close() sees either this call or makes it fail there.
    inFlight.add(call);
    Signers own = signers;
    if (own == null || closed.get() || CrtHold.isOver()) {
      // Where it is over nobody is asked for credentials any more: it is not sent.
      send(call, lend, request);
    } else {
      own.credentials.whenReady(
          () -> send(call, lend, to -> own.sign(request.apply(to), to)),
          e ->
              call.end(
                  closed.get()
                      ? RequestFailure.closed(call.subject)
                      : CrtFailures.noCredentials(call.subject, e)));
    }
  }

  private void send(CrtCall call, boolean lend, Function<Target, S3MetaRequestOptions> request) {
    S3MetaRequest sent = null;
    RequestFailure failure = null;
    sending.readLock().lock();
    try {
      if (closed.get()) {
        failure = RequestFailure.closed(call.subject);
      } else if (call.isCancelled()) {
        failure = RequestFailure.cancelled(call.subject);
      } else if (CrtHold.isOver()) {
        // Never retried: the CRT would not tell how the request ends.
        String over = "the JVM is ending, and the CRT has ended";
        failure = new RequestFailure(Kind.OTHER, call.subject, over, null);
      } else {
        S3Client client = transport.connections().client(lend);
        if (client == null) {
          failure = RequestFailure.notLent(call.subject);
        } else {
          Target target = addressing.target(call.object.bucket());
          call.sending(target.region(), signers == null ? null : signers.credentials.keyId());
          sent =
              client.makeMetaRequest(
                  request.apply(target).withEndpoint(target.endpoint()).withResponseHandler(call));
        }
      }
    } catch (RuntimeException | Error e) {
      // Nobody else would end the call.
      failure = CrtFailures.unexpected(call.subject, e);
    } finally {
      sending.readLock().unlock();
    }
    if (sent != null) {
      call.attach(sent);
    } else if (failure != null) {
      call.end(failure);
    }
  }

  @Override
  public RequestFailure failed(CrtCall call, RequestFailure failure) {
    if (failure.kind() == Kind.NOT_LENT) {
      transport.copyFromNowOn();
    }
    StoreAnswer refusal = failure.refusal();
    boolean isDoubt =
        refusal != null
            && MAY_BE_CREDENTIALS.contains(refusal.status())
            && !DENIED.equals(refusal.code());
    if (signers != null && isDoubt) {
      refused = call.object;
      signers.credentials.suspect(call.sentNanos, call.keyId);
    }
    return addressing.follow(call.object.bucket(), call.sentTo, failure)
        ? failure.moved()
        : failure;
  }

  @Override
  public void ended(CrtCall call) {
    inFlight.remove(call);
  }
}
