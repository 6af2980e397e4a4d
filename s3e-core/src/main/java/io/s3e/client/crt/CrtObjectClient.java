package io.s3e.client.crt;

import io.s3e.block.ObjectRef;
import io.s3e.client.ClientLimits;
import io.s3e.client.ClientProvider.ClientMemory;
import io.s3e.client.GetRequest;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.ObjectHead;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import io.s3e.client.StoreAnswer;
import io.s3e.client.library.CrtCapability;
import io.s3e.client.library.CrtLibrary;
import io.s3e.client.library.CrtSettings;
import io.s3e.jvm.JvmEnd;
import io.s3e.jvm.JvmMemory;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.crt.auth.signing.AwsSigningConfig;
import software.amazon.awssdk.crt.http.HttpRequest;
import software.amazon.awssdk.crt.s3.S3Client;
import software.amazon.awssdk.crt.s3.S3MetaRequest;
import software.amazon.awssdk.crt.s3.S3MetaRequestOptions;
import software.amazon.awssdk.crt.s3.S3MetaRequestOptions.MetaRequestType;

/**
 * Reads by the CRT's native {@code S3Client}, without the SDK's wrapper around it.
 *
 * <h2>Two pools</h2>
 *
 * The CRT puts every response into a slot of one part size. This client therefore holds two CRT
 * clients over the same event loops, TLS context and credentials: a <i>wide</i> one, whose slots
 * are lent to the engine without a copy, and a <i>narrow</i> one for short reads whose bytes are
 * copied during the callback. {@link CrtLayout} says how long and how many the slots are. Both
 * pools live in Java direct memory, start empty, grow 16 slots at a time and shrink when idle; what
 * {@link #limits()} reports as owned is their ceiling. A request for which no slot is free waits in
 * the CRT until one is closed.
 *
 * <p>With a version of aws-crt that cannot lend (before 0.50), or direct memory too small for the
 * pools ({@code -XX:MaxDirectMemorySize}, of which the CRT takes 80 % at most), there is only a
 * narrow client, whose slots are native memory and whose bodies pass through a {@code byte[]}.
 *
 * <p>Where the JVM refuses direct memory later, because the application has taken it, the request
 * in question fails with {@link Kind#NOT_LENT}, and the client goes on with a copying CRT client of
 * the same narrow slots: one WARN line says so. It lends nothing any more then.
 *
 * <h2>What the CRT does to a response</h2>
 *
 * A range no longer than a slot is one GET. The CRT reports status 206 for any response that has a
 * Content-Range, and rewrites that header from the range it asked for. A response without one, or
 * with another range than asked for, fails inside the CRT (from 0.50 on) and is told as {@link
 * Kind#REJECTED}, but for one that ends with the object before the asked end, which passes as the
 * server labelled it; earlier versions let every short answer pass, which then shows in the number
 * of bytes only. The fetch layer counts them. A response without ETag fails too, unless the request
 * named one: the CRT does not read from stores that have none. Redirects are not followed.
 *
 * <h2>Retries</h2>
 *
 * The fetch layer owns them. The CRT cannot be told to do none, but a request is cancelled as soon
 * as it begins its second attempt ({@link CrtCall}).
 *
 * <h2>Threads and closing</h2>
 *
 * {@code get} returns without waiting, except that signing needs credentials: {@link
 * CredentialsCache}. Handlers run on native event loops. {@link #close} refuses new calls, cancels
 * those in flight, waits for their terminal calls, then closes the CRT clients and what they share,
 * all within about {@value #CLOSE_WAIT_SECONDS} s. Buffers still on loan stay valid until they are
 * closed. A cancelled request ends at once, except while it waits for a connection: then it ends
 * with the attempt to connect, which the connect time-out bounds, but not a TLS handshake with a
 * server that is not trusted (10 to 30 s). In a JVM that is ending {@link #close} waits for nothing
 * ({@link CrtHold}).
 */
final class CrtObjectClient implements ObjectClient {
  private static final Logger LOG = LoggerFactory.getLogger(CrtObjectClient.class);
  private static final long CLOSE_WAIT_SECONDS = 10;

  /** Statuses with which S3 refuses credentials that are wrong or (400) have expired. */
  private static final Set<Integer> MAY_BE_CREDENTIALS = Set.of(400, 401, 403);

  private final CrtSettings settings;
  private final CrtLayout layout;
  private final boolean borrowed;
  private final Addressing addressing;
  private final CrtConnections connections;

  /** Whether the JVM has refused memory to a pool: from then on every answer is copied. */
  private final AtomicBoolean refused = new AtomicBoolean();

  /** Those that read after a refusal; made and closed with the monitor of {@link #refused}. */
  private volatile @Nullable CrtConnections copying;

  private final Set<CrtCall> inFlight = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Read-locked while a request is handed to the CRT: its clients must not be closed meanwhile. */
  private final ReentrantReadWriteLock sending = new ReentrantReadWriteLock();

  private final Runnable closing = this::close;

  private CrtObjectClient(
      CrtSettings settings, CrtLayout layout, boolean borrowed, CrtConnections connections) {
    this.settings = settings;
    this.layout = layout;
    this.borrowed = borrowed;
    this.connections = connections;
    addressing = new Addressing(settings);
    CrtHold.opened(closing);
  }

  /**
   * Opens a client.
   *
   * @param delivery what the library can do at most; with {@link CrtCapability#LENDS} the client
   *     lends if the memory allows it
   * @throws IllegalArgumentException if the memory is less than {@link CrtLayout#minimumBytes}, or
   *     the CA file cannot be read
   */
  static CrtObjectClient open(CrtSettings settings, ClientMemory memory, CrtCapability delivery) {
    if (delivery == CrtCapability.LENDS && hasRoomFor(memory)) {
      CrtLayout layout = CrtLayout.lending(memory);
      try {
        return new CrtObjectClient(
            settings, layout, true, CrtConnections.open(settings, layout, true));
      } catch (IllegalStateException e) {
        LOG.info(
            "The CRT's direct buffer pool does not fit ({}); reading through byte arrays instead",
            e.getMessage());
      }
    }
    CrtLayout layout = CrtLayout.copying(memory);
    return new CrtObjectClient(
        settings, layout, false, CrtConnections.open(settings, layout, false));
  }

  /** Asked first, since the CRT says what it misses by stack traces of its event loops. */
  private static boolean hasRoomFor(ClientMemory memory) {
    long free = JvmMemory.freeDirectBytes();
    if (free >= memory.ownedBytes()) {
      return true;
    }
    LOG.warn(
        "The CRT's buffers of {} bytes do not fit into the {} bytes of direct memory that the JVM"
            + " has left: answers are copied, which is slower. Raise -XX:MaxDirectMemorySize or"
            + " lower the memory budget (fs.s3a.s3e.memory.budget under Hadoop)",
        memory.ownedBytes(),
        free);
    return false;
  }

  @Override
  public String name() {
    return borrowed ? "crt-borrowed" : "crt-copied";
  }

  @Override
  public ClientLimits limits() {
    return layout.limits();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Goes through the narrow CRT client as a plain request, so it shares its connections, signing
   * and time-outs.
   */
  @Override
  public ObjectHead head(HeadRequest request) throws RequestFailure {
    String bucket = request.object().bucket();
    String region = addressing.target(bucket).region();
    try {
      return sendHead(request);
    } catch (RequestFailure e) {
      if (!addressing.follow(bucket, region, e)) {
        throw e;
      }
    }
    return sendHead(request);
  }

  private ObjectHead sendHead(HeadRequest request) throws RequestFailure {
    CrtHead call = new CrtHead(request, this::ended);
    CrtConnections way = connections();
    start(
        call,
        way,
        way.narrow(),
        request.object(),
        target ->
            new S3MetaRequestOptions()
                .withMetaRequestType(MetaRequestType.DEFAULT)
                .withOperationName("HeadObject")
                .withHttpRequest(
                    message(
                        "HEAD", target, request.object(), request.versionId(), request.headers())));
    return call.await(settings.requestTimeout());
  }

  @Override
  public Exchange get(GetRequest request, ResponseHandler handler) {
    return settings.followRegion()
        ? new FollowedGet(this::sendGet, addressing, request, handler).start()
        : sendGet(request, handler);
  }

  private Exchange sendGet(GetRequest request, ResponseHandler handler) {
    CrtConnections way;
    try {
      way = connections();
    } catch (RuntimeException | LinkageError e) {
      // A second send runs on an event loop, where nobody would hear of it.
      CrtGet unsent = new CrtGet(request, handler, this::ended);
      unsent.endUnsent(CrtFailures.unexpected(unsent.subject(), e));
      return unsent;
    }
    CrtGet call =
        borrowed && way == connections
            ? BorrowedPools.get(request, handler, this::ended)
            : new CrtGet(request, handler, this::ended);
    S3Client wide = way.wide();
    if (request.lend() && wide == null) {
      call.endUnsent(
          new RequestFailure(Kind.NOT_LENT, call.subject(), "this client lends nothing", null));
      return call;
    }
    start(
        call,
        way,
        request.lend() && wide != null ? wide : way.narrow(),
        request.object(),
        target ->
            new S3MetaRequestOptions()
                .withMetaRequestType(MetaRequestType.GET_OBJECT)
                .withHttpRequest(rangedGet(target, request)));
    return call;
  }

  /** Those with pools of direct memory, or the ones that do without. */
  private CrtConnections connections() {
    if (!refused.get()) {
      return connections;
    }
    synchronized (refused) {
      CrtConnections way = copying;
      if (way == null && !closed.get()) {
        way = CrtConnections.open(settings, layout, false);
        copying = way;
      }
      // A closed client sends nothing: its calls end before they get to a connection.
      return way == null ? connections : way;
    }
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    CrtHold.closed(closing);
    for (CrtCall call : inFlight) {
      call.cancel();
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_WAIT_SECONDS);
    awaitCalls(deadline);
    // A send that began before is over now, and a later one finds the client closed. In a JVM that
    // is ending nothing else keeps a send and the close of the CRT's clients apart.
    sending.writeLock().lock();
    try {
      inFlight.forEach(CrtCall::cancel);
    } finally {
      sending.writeLock().unlock();
    }
    connections.close(deadline);
    synchronized (refused) {
      CrtConnections second = copying;
      if (second != null) {
        second.close(deadline);
      }
    }
  }

  /** Builds the options of a request once there are credentials to sign it with. */
  private interface Preparation {
    S3MetaRequestOptions options(Addressing.Target target);
  }

  private void start(
      CrtCall call,
      CrtConnections way,
      S3Client client,
      ObjectRef object,
      Preparation preparation) {
    // Registered before the check: close() sees either this call or makes the check fail.
    inFlight.add(call);
    if (closed.get()) {
      call.endUnsent(CrtFailures.closed(call.subject()));
      return;
    }
    if (CrtHold.isOver()) {
      call.endUnsent(CrtFailures.jvmEnds(call.subject()));
      return;
    }
    CredentialsCache credentials = way.credentials();
    if (credentials == null) {
      send(call, way, client, object, preparation);
    } else {
      credentials.whenReady(
          () -> send(call, way, client, object, preparation),
          e -> call.endUnsent(CrtFailures.noCredentials(call.subject(), e)));
    }
  }

  private void send(
      CrtCall call,
      CrtConnections way,
      S3Client client,
      ObjectRef object,
      Preparation preparation) {
    if (call.isCancelled()) {
      call.endUnsent(CrtFailures.cancelled(call.subject()));
      return;
    }
    S3MetaRequest sent = null;
    RequestFailure failure = null;
    sending.readLock().lock();
    try {
      if (closed.get()) {
        failure = CrtFailures.closed(call.subject());
      } else {
        sent = client.makeMetaRequest(options(call, way, object, preparation));
      }
    } catch (RuntimeException e) {
      failure = CrtFailures.unexpected(call.subject(), e);
    } catch (LinkageError e) {
      // Nobody else would end the call.
      failure = CrtFailures.unexpected(call.subject(), CrtLibrary.broken(e));
    } finally {
      sending.readLock().unlock();
    }
    if (sent != null) {
      call.attach(sent);
    } else if (failure != null) {
      call.endUnsent(failure);
    }
  }

  private S3MetaRequestOptions options(
      CrtCall call, CrtConnections way, ObjectRef object, Preparation preparation) {
    Addressing.Target target = addressing.target(object.bucket());
    S3MetaRequestOptions options =
        preparation.options(target).withEndpoint(target.endpoint()).withResponseHandler(call);
    AwsSigningConfig signing = way.signing(target.region());
    if (signing != null && !target.region().equals(settings.region())) {
      options.withSigningConfig(signing);
    }
    return options;
  }

  private HttpRequest rangedGet(Addressing.Target target, GetRequest request) {
    HttpRequest message =
        message("GET", target, request.object(), request.versionId(), request.headers());
    message.addHeader("Range", request.range().httpHeader());
    if (request.etag() != null) {
      message.addHeader("If-Match", request.etag());
    }
    return message;
  }

  private HttpRequest message(
      String method,
      Addressing.Target target,
      ObjectRef object,
      @Nullable String versionId,
      Map<String, String> headers) {
    HttpRequest message = new HttpRequest(method, Addressing.path(target, object, versionId));
    message.addHeader("Host", target.host());
    message.addHeader("User-Agent", settings.userAgent());
    settings.headers().forEach(message::addHeader);
    headers.forEach(message::addHeader);
    return message;
  }

  private void ended(CrtCall call, @Nullable RequestFailure failure) {
    if (failure != null && failure.kind() == Kind.NOT_LENT && borrowed) {
      copyFromNowOn();
    }
    StoreAnswer refusal = failure == null ? null : failure.refusal();
    if (refusal != null && MAY_BE_CREDENTIALS.contains(refusal.status())) {
      suspect(connections);
      suspect(copying);
    }
    inFlight.remove(call);
  }

  private static void suspect(@Nullable CrtConnections connections) {
    CredentialsCache credentials = connections == null ? null : connections.credentials();
    if (credentials != null) {
      credentials.suspect();
    }
  }

  private void copyFromNowOn() {
    if (refused.compareAndSet(false, true)) {
      LOG.warn(
          "The JVM has no direct memory for the CRT's buffers ({} bytes): answers are copied from"
              + " now on, which is slower. Raise -XX:MaxDirectMemorySize or lower the memory budget"
              + " (fs.s3a.s3e.memory.budget under Hadoop)",
          layout.limits().ownedBytes());
    }
  }

  private void awaitCalls(long deadline) {
    while (!inFlight.isEmpty() && System.nanoTime() < deadline && !JvmEnd.hasBegun()) {
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
    if (!inFlight.isEmpty() && !JvmEnd.hasBegun()) {
      LOG.warn(
          "{} requests did not end within {} s of cancelling", inFlight.size(), CLOSE_WAIT_SECONDS);
    }
  }
}
