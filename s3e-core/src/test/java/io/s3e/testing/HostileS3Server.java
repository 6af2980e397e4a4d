// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import io.s3e.block.ObjectRef;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ServerSocketFactory;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * A small S3 server that does wrong what it is told to: GET with one range, which may be open, and
 * HEAD, path style, no signature checks, keep-alive, objects in memory or by a formula. Every GET
 * takes its {@link Fault} from the script ({@link #next}), or else from the rule ({@link #always},
 * {@link #decide}, {@link #storm}); HEADs are honest but for what every request meets ({@link
 * #decideAll}). All requests are recorded. The server can be out of reach for a time ({@link
 * #reach}).
 *
 * <p>Plain sockets, one daemon thread for each connection. Methods may be called from any thread.
 */
public final class HostileS3Server implements AutoCloseable {

  /**
   * One request as it came.
   *
   * @param method GET or HEAD
   * @param target path and query, undecoded
   * @param headers by name, ignoring case
   * @param connection number of the connection it came on, from 0
   * @param nanos when, by {@link System#nanoTime}
   */
  public record Request(
      String method, String target, Map<String, String> headers, int connection, long nanos) {
    public String header(String name) {
      return headers.get(name);
    }
  }

  /** What a client meets that connects. */
  public enum Reach {
    /** The server. */
    ANSWERS,
    /** Nobody: the port is closed, and no connection stands. */
    REFUSES,
    /** A reset before the first byte, so before any TLS handshake; no connection stands. */
    RESETS
  }

  /** What becomes of a request's {@code If-Match}. */
  public enum IfMatch {
    HONOURED,
    IGNORED
  }

  /** How far a request's time may be off, as at S3. */
  private static final Duration MOST_SKEW = Duration.ofMinutes(15);

  private static final DateTimeFormatter SIGNING_TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmssX", Locale.ROOT);

  private static final Pattern VERSION = Pattern.compile("[?&]versionId=([^&]*)");

  private static final AtomicInteger ADDRESSES = new AtomicInteger();

  private final ServerSocketFactory sockets;
  private final String scheme;
  private final InetAddress address;
  private final int port;
  private final Map<String, StoredContent> objects = new ConcurrentHashMap<>();

  /** The ids of those that have versions. */
  private final Map<String, String> latest = new ConcurrentHashMap<>();

  private final Queue<Request> requests = new ConcurrentLinkedQueue<>();
  private final Map<String, LongAdder> answers = new ConcurrentSkipListMap<>();
  private final Queue<Fault> script = new ConcurrentLinkedQueue<>();
  private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
  private volatile Function<Request, Fault> rule = request -> Fault.none();
  private volatile Function<Request, Fault> entrance = request -> Fault.none();
  private volatile IfMatch ifMatch = IfMatch.HONOURED;
  private volatile HostileReply.Shape shape = HostileReply.Shape.NONE;
  private volatile Reach reach = Reach.ANSWERS;

  /** Guarded by this; null while connections are refused. */
  private @Nullable ServerSocket listener;

  /** Guarded by this. */
  private boolean closed;

  private HostileS3Server(ServerSocketFactory sockets, String scheme, InetAddress address)
      throws IOException {
    this(sockets, scheme, address, 0);
  }

  private HostileS3Server(
      ServerSocketFactory sockets, String scheme, InetAddress address, int wanted)
      throws IOException {
    this.sockets = sockets;
    this.scheme = scheme;
    this.address = address;
    ServerSocket first = listen(wanted);
    listener = first;
    port = first.getLocalPort();
    daemon("hostile-s3-accept", this::accept);
  }

  /** A server on a free port of the loopback interface. */
  public static HostileS3Server start() throws IOException {
    return new HostileS3Server(
        ServerSocketFactory.getDefault(), "http", InetAddress.getByName("127.0.0.1"));
  }

  /** As above, on a port that the caller knows to be free. */
  public static HostileS3Server startAt(int port) throws IOException {
    return new HostileS3Server(
        ServerSocketFactory.getDefault(), "http", InetAddress.getByName("127.0.0.1"), port);
  }

  /**
   * A server on a loopback address of its own, which only Linux has. The CRT knows stores by their
   * host, so that servers which differ in the port alone would get each other's requests.
   */
  public static HostileS3Server startApart() throws IOException {
    int number = ADDRESSES.getAndIncrement();
    byte[] address = {127, 1, (byte) (number / 250 % 250), (byte) (number % 250 + 1)};
    return new HostileS3Server(
        ServerSocketFactory.getDefault(), "http", InetAddress.getByAddress(address));
  }

  /** A server on the loopback interface's address of IPv6. */
  public static HostileS3Server startOnIpv6() throws IOException {
    return new HostileS3Server(
        ServerSocketFactory.getDefault(), "http", InetAddress.getByName("::1"));
  }

  /** A server on a free port of the loopback interface, by TLS. */
  public static HostileS3Server startTls(SSLContext context) throws IOException {
    return new HostileS3Server(
        context.getServerSocketFactory(), "https", InetAddress.getByName("127.0.0.1"));
  }

  /** An endpoint where nobody listens. */
  public static URI refusingEndpoint() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      return URI.create("http://127.0.0.1:" + socket.getLocalPort());
    }
  }

  public URI endpoint() {
    String host = address.getHostAddress();
    String inUrl = address instanceof Inet6Address ? "[" + host + "]" : host;
    return URI.create(scheme + "://" + inUrl + ":" + port);
  }

  /** Stores an object, or a new version of it, and returns its ETag with quotes. */
  public String put(ObjectRef object, byte[] content) {
    return put(object, StoredContent.of(content));
  }

  /** As above. */
  public String put(ObjectRef object, StoredContent content) {
    objects.put(path(object), content);
    return content.etag();
  }

  /** As above, as the latest version of an object that has versions, each of which can be read. */
  public String put(ObjectRef object, String versionId, byte[] content) {
    objects.put(versionOf(path(object), versionId), StoredContent.of(content));
    latest.put(path(object), versionId);
    return put(object, content);
  }

  private static String versionOf(String path, String versionId) {
    return path + "?versionId=" + versionId;
  }

  /** Deletes an object. */
  public void delete(ObjectRef object) {
    objects.remove(path(object));
  }

  private static String path(ObjectRef object) {
    return "/" + object.bucket() + "/" + object.key();
  }

  /** How fast answers come, from the next one on. */
  public HostileS3Server shape(Duration firstByte, long bytesPerSecond) {
    shape = new HostileReply.Shape(firstByte, bytesPerSecond);
    return this;
  }

  /** Whether {@code If-Match} counts; it does from the start. */
  public HostileS3Server ifMatch(IfMatch value) {
    ifMatch = value;
    return this;
  }

  /** What clients meet that connect, from now on; the port stays the same. */
  public void reach(Reach value) throws IOException {
    reach = value;
    synchronized (this) {
      if (value == Reach.REFUSES && listener != null) {
        listener.close();
        listener = null;
      } else if (value != Reach.REFUSES && listener == null && !closed) {
        listener = listen(port);
      }
      notifyAll();
    }
    if (value != Reach.ANSWERS) {
      for (Socket socket : connections) {
        reset(socket);
      }
    }
  }

  /** Faults for the next GETs that arrive, one each. */
  public HostileS3Server next(Fault... faults) {
    script.addAll(List.of(faults));
    return this;
  }

  /** The fault of every GET for which the script has none. */
  public HostileS3Server always(Fault fault) {
    return decide(request -> fault);
  }

  /** Chooses the fault of every GET for which the script has none. */
  public HostileS3Server decide(Function<Request, Fault> choice) {
    rule = choice;
    return this;
  }

  /**
   * A share of all GETs, drawn by that seed in the order in which they arrive, meets one of the
   * faults.
   */
  public HostileS3Server storm(double share, long seed, Fault... faults) {
    Random random = new Random(seed);
    return decide(
        request -> {
          synchronized (random) {
            return random.nextDouble() < share
                ? faults[random.nextInt(faults.length)]
                : Fault.none();
          }
        });
  }

  /** The fault of every request, HEADs too, on top of what a GET meets otherwise. */
  public HostileS3Server decideAll(Function<Request, Fault> choice) {
    entrance = choice;
    return this;
  }

  /**
   * A server whose clock differs from the machine's: answers tell its time, and requests that are
   * signed for another are refused.
   */
  public HostileS3Server clock(Duration offset) {
    return decideAll(
        request -> {
          Instant now = Instant.now().plus(offset);
          Fault told =
              Fault.header(
                  "Date",
                  DateTimeFormatter.RFC_1123_DATE_TIME.format(now.atOffset(ZoneOffset.UTC)));
          String date = request.header("x-amz-date");
          if (date == null) {
            return Fault.status(403, "AccessDenied").and(told);
          }
          Instant signed = SIGNING_TIME.parse(date, Instant::from);
          boolean skewed = Duration.between(signed, now).abs().compareTo(MOST_SKEW) > 0;
          return skewed ? Fault.status(403, "RequestTimeTooSkewed").and(told) : told;
        });
  }

  /**
   * Where requests are sent to: {@code toRegion} names the region for the one that a request is
   * signed for, or the same one if it is right. All others, HEADs too, are answered with that
   * status and {@code x-amz-bucket-region}.
   */
  public HostileS3Server redirect(int status, String code, UnaryOperator<String> toRegion) {
    return decideAll(
        request -> {
          String[] scope = request.header("Authorization").split("/");
          String region = toRegion.apply(scope[2]);
          return region.equals(scope[2])
              ? Fault.none()
              : Fault.status(status, code).and(Fault.header("x-amz-bucket-region", region));
        });
  }

  /** Ends all faults that have not begun. */
  public void heal() {
    script.clear();
    always(Fault.none());
    decideAll(request -> Fault.none());
  }

  /** All requests so far, in the order in which they arrived. */
  public List<Request> requests() {
    return List.copyOf(requests);
  }

  /** The GETs so far. */
  public List<Request> gets() {
    return requests.stream().filter(request -> request.method().equals("GET")).toList();
  }

  /** How many answers of each kind were begun: method and status, or how they break off. */
  public Map<String, Long> answers() {
    Map<String, Long> counts = new TreeMap<>();
    answers.forEach((kind, count) -> counts.put(kind, count.sum()));
    return counts;
  }

  /** Forgets the requests and the answers so far. */
  public void forgetRequests() {
    requests.clear();
    answers.clear();
  }

  /** How many connections are open now. */
  public int openConnections() {
    return connections.size();
  }

  @Override
  public void close() throws IOException {
    synchronized (this) {
      closed = true;
      if (listener != null) {
        listener.close();
      }
      notifyAll();
    }
    for (Socket socket : connections) {
      socket.close();
    }
  }

  private ServerSocket listen(int at) throws IOException {
    return sockets.createServerSocket(at, 256, address);
  }

  private void accept() {
    for (int number = 0; ; number++) {
      try {
        ServerSocket current = awaitListener();
        if (current == null) {
          return;
        }
        accept(current, number);
      } catch (InterruptedException e) {
        throw new IllegalStateException("nobody interrupts the hostile server", e);
      }
    }
  }

  /** Null when the server is closed. */
  private synchronized @Nullable ServerSocket awaitListener() throws InterruptedException {
    while (listener == null && !closed) {
      wait();
    }
    return closed ? null : listener;
  }

  private void accept(ServerSocket current, int connection) {
    try {
      Socket socket = current.accept();
      connections.add(socket);
      // Looked at after the entry above, so that a change in between finds the socket there.
      if (reach == Reach.ANSWERS) {
        daemon("hostile-s3-" + connection, () -> serve(socket, connection));
      } else {
        connections.remove(socket);
        reset(socket);
      }
    } catch (IOException e) {
      if (!current.isClosed()) {
        throw new IllegalStateException("the hostile server cannot accept", e);
      }
    }
  }

  private static void reset(Socket socket) {
    try (socket) {
      socket.setSoLinger(true, 0);
    } catch (IOException e) {
      // The client was faster: the connection has ended either way.
    }
  }

  private void serve(Socket socket, int connection) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      boolean more = true;
      while (more) {
        Request request = read(in, connection);
        more = request != null && answer(socket, request);
      }
    } catch (IOException | InterruptedException e) {
      // The client went away or the server was closed: the end of this connection either way.
      connections.remove(socket);
    } finally {
      connections.remove(socket);
    }
  }

  private boolean answer(Socket socket, Request request) throws IOException, InterruptedException {
    requests.add(request);
    boolean get = request.method().equals("GET");
    HostileReply reply = honest(request, get);
    if (get) {
      Fault scripted = script.poll();
      Fault fault = scripted != null ? scripted : rule.apply(request);
      fault.shape(reply);
    }
    entrance.apply(request).shape(reply);
    answers
        .computeIfAbsent(request.method() + " " + reply.kind(), kind -> new LongAdder())
        .increment();
    return reply.send(socket, shape);
  }

  private HostileReply honest(Request request, boolean get) {
    String target = request.target();
    int query = target.indexOf('?');
    String encoded = query < 0 ? target : target.substring(0, query);
    String path = URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
    Matcher version = VERSION.matcher(target);
    // An object without versions is what it is, whatever is asked for.
    String asked = latest.containsKey(path) && version.find() ? version.group(1) : null;
    StoredContent stored = objects.get(asked == null ? path : versionOf(path, asked));
    if (stored == null) {
      HostileReply reply = new HostileReply(StoredContent.of(new byte[0]), 404, get);
      reply.error(404, "NoSuchKey", "no object " + path);
      return reply;
    }
    long size = stored.size();
    HostileReply reply = new HostileReply(stored, get ? 206 : 200, get);
    reply.header("ETag", stored.etag());
    reply.header("Last-Modified", "Sun, 01 Feb 2026 03:04:05 GMT");
    reply.header("x-amz-version-id", asked == null ? latest.get(path) : asked);
    String condition = ifMatch == IfMatch.HONOURED ? request.header("If-Match") : null;
    if (condition != null && !condition.equals(stored.etag())) {
      reply.error(412, "PreconditionFailed", "the ETag is " + stored.etag());
      return reply;
    }
    String range = request.header("Range");
    if (range == null) {
      reply.status(200);
      reply.body(0, size);
      return reply;
    }
    String[] bounds = range.substring("bytes=".length()).split("-", 2);
    boolean isTail = bounds[0].isEmpty();
    long start =
        isTail ? size - Math.min(size, Long.parseLong(bounds[1])) : Long.parseLong(bounds[0]);
    long end = isTail || bounds[1].isEmpty() ? size : Long.parseLong(bounds[1]) + 1;
    if (start >= size) {
      reply.error(416, "InvalidRange", "the object has " + size + " bytes");
      return reply;
    }
    reply.body(start, Math.min(end, size));
    reply.labelRange();
    return reply;
  }

  private static Request read(InputStream in, int connection) throws IOException {
    String first = line(in);
    if (first == null) {
      return null;
    }
    String[] words = first.split(" ");
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (String line = line(in); line != null && !line.isEmpty(); line = line(in)) {
      int colon = line.indexOf(':');
      headers.put(line.substring(0, colon), line.substring(colon + 1).trim());
    }
    return new Request(words[0], words[1], headers, connection, System.nanoTime());
  }

  /** The next line without its end; null at the end of the connection. */
  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b >= 0; b = in.read()) {
      if (b == '\n') {
        return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
      }
      line.write(b);
    }
    return null;
  }

  private static void daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }
}
