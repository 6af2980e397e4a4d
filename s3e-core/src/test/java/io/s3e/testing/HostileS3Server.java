package io.s3e.testing;

import io.s3e.block.ObjectRef;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32;
import javax.net.ServerSocketFactory;
import javax.net.ssl.SSLContext;

/**
 * A small S3 server that does wrong what it is told to: GET with one range and HEAD, path style, no
 * signature checks, objects in memory, keep-alive. Every GET takes its {@link Fault} from the
 * script ({@link #next}), or else from the rule ({@link #always}, {@link #decide}); HEADs are
 * always honest. All requests are recorded.
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
   */
  public record Request(String method, String target, Map<String, String> headers, int connection) {
    public String header(String name) {
      return headers.get(name);
    }
  }

  private record Stored(byte[] content, String etag) {}

  private final ServerSocket listener;
  private final String scheme;
  private final Map<String, Stored> objects = new ConcurrentHashMap<>();
  private final List<Request> requests = new CopyOnWriteArrayList<>();
  private final Queue<Fault> script = new ConcurrentLinkedQueue<>();
  private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
  private volatile Function<Request, Fault> rule = request -> Fault.none();
  private volatile Function<Request, Fault> redirect = request -> Fault.none();
  private volatile boolean closed;

  private HostileS3Server(ServerSocketFactory sockets, String scheme) throws IOException {
    listener = sockets.createServerSocket(0, 256, InetAddress.getByName("127.0.0.1"));
    this.scheme = scheme;
    daemon("hostile-s3-accept", this::accept);
  }

  /** A server on a free port of the loopback interface. */
  public static HostileS3Server start() throws IOException {
    return new HostileS3Server(ServerSocketFactory.getDefault(), "http");
  }

  /** As above, by TLS. */
  public static HostileS3Server startTls(SSLContext context) throws IOException {
    return new HostileS3Server(context.getServerSocketFactory(), "https");
  }

  /** An endpoint where nobody listens. */
  public static URI refusingEndpoint() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      return URI.create("http://127.0.0.1:" + socket.getLocalPort());
    }
  }

  public URI endpoint() {
    return URI.create(scheme + "://127.0.0.1:" + listener.getLocalPort());
  }

  /** Stores an object, or a new version of it, and returns its ETag with quotes. */
  public String put(ObjectRef object, byte[] content) {
    CRC32 crc = new CRC32();
    crc.update(content);
    String etag = "\"" + Long.toHexString(crc.getValue()) + "-" + content.length + "\"";
    objects.put("/" + object.bucket() + "/" + object.key(), new Stored(content.clone(), etag));
    return etag;
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
   * Where requests are sent to: {@code toRegion} names the region for the one that a request is
   * signed for, or the same one if it is right. All others, HEADs too, are answered with that
   * status and {@code x-amz-bucket-region}.
   */
  public HostileS3Server redirect(int status, String code, UnaryOperator<String> toRegion) {
    redirect =
        request -> {
          String[] scope = request.header("Authorization").split("/");
          String region = toRegion.apply(scope[2]);
          return region.equals(scope[2])
              ? Fault.none()
              : Fault.status(status, code).and(Fault.header("x-amz-bucket-region", region));
        };
    return this;
  }

  /** Ends all faults that have not begun. */
  public void heal() {
    script.clear();
    always(Fault.none());
    redirect = request -> Fault.none();
  }

  /** All requests so far, in the order in which they arrived. */
  public List<Request> requests() {
    return List.copyOf(requests);
  }

  /** The GETs so far. */
  public List<Request> gets() {
    return requests.stream().filter(request -> request.method().equals("GET")).toList();
  }

  /** Forgets the requests so far. */
  public void forgetRequests() {
    requests.clear();
  }

  /** How many connections are open now. */
  public int openConnections() {
    return connections.size();
  }

  @Override
  public void close() throws IOException {
    closed = true;
    listener.close();
    for (Socket socket : connections) {
      socket.close();
    }
  }

  private void accept() {
    for (int number = 0; !closed; number++) {
      try {
        Socket socket = listener.accept();
        int connection = number;
        connections.add(socket);
        daemon("hostile-s3-" + connection, () -> serve(socket, connection));
      } catch (IOException e) {
        if (!closed) {
          throw new IllegalStateException("the hostile server cannot accept", e);
        }
      }
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
    redirect.apply(request).shape(reply);
    return reply.send(socket);
  }

  private HostileReply honest(Request request, boolean get) {
    String target = request.target();
    int query = target.indexOf('?');
    String encoded = query < 0 ? target : target.substring(0, query);
    String path = URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
    Stored stored = objects.get(path);
    if (stored == null) {
      HostileReply reply = new HostileReply(new byte[0], 404, get);
      reply.error(404, "NoSuchKey", "no object " + path);
      return reply;
    }
    int size = stored.content().length;
    HostileReply reply = new HostileReply(stored.content(), get ? 206 : 200, get);
    reply.header("ETag", stored.etag());
    reply.header("Last-Modified", "Sun, 01 Feb 2026 03:04:05 GMT");
    String ifMatch = request.header("If-Match");
    if (ifMatch != null && !ifMatch.equals(stored.etag())) {
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
    long start = Long.parseLong(bounds[0]);
    long end = Long.parseLong(bounds[1]) + 1;
    if (start >= size) {
      reply.error(416, "InvalidRange", "the object has " + size + " bytes");
      return reply;
    }
    reply.body((int) start, (int) Math.min(end, size));
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
    return new Request(words[0], words[1], headers, connection);
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
