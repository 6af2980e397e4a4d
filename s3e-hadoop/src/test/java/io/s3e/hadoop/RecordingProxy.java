// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

/**
 * Stands before an S3 server and writes down every request. Bytes pass unchanged, so that
 * signatures hold; only the head of a response may be rewritten. Two daemon threads a connection.
 */
public final class RecordingProxy implements AutoCloseable {
  /**
   * One request.
   *
   * @param target path and query
   * @param headers by name in any case; repeated ones joined by commas
   */
  public record Request(String method, String target, Map<String, String> headers) {
    boolean isRead(String key) {
      return method.equals("GET") && target.contains(key) && !target.contains("list-type");
    }
  }

  private final URI server;
  private final ServerSocket listener;
  private final List<Request> requests = new CopyOnWriteArrayList<>();
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private volatile UnaryOperator<String> responseHead = UnaryOperator.identity();

  public RecordingProxy(URI server) throws IOException {
    this.server = server;
    listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    daemon("accept", this::accept);
  }

  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + listener.getLocalPort());
  }

  /** All requests so far. */
  public List<Request> requests() {
    return List.copyOf(requests);
  }

  public List<Request> reads(String key) {
    return requests.stream().filter(request -> request.isRead(key)).toList();
  }

  long heads(String key) {
    return requests.stream()
        .filter(request -> request.method().equals("HEAD") && request.target().contains(key))
        .count();
  }

  void clear() {
    requests.clear();
  }

  /** Changes the head of every response from now on; for servers that forget or lie. */
  void rewriteResponseHeads(UnaryOperator<String> rewrite) {
    responseHead = rewrite;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : open) {
      socket.close();
    }
  }

  private static void daemon(String name, Runnable body) {
    Thread thread = new Thread(body, "recording-proxy-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        Socket upstream = new Socket(server.getHost(), server.getPort());
        open.add(client);
        open.add(upstream);
        Queue<String> methods = new ConcurrentLinkedQueue<>();
        daemon("up", () -> pass(client, upstream, true, methods));
        daemon("down", () -> pass(upstream, client, false, methods));
      } catch (IOException e) {
        if (!listener.isClosed()) {
          throw new IllegalStateException(e);
        }
      }
    }
  }

  /** Copies until either side ends; then ends both. */
  private void pass(Socket from, Socket to, boolean up, Queue<String> methods) {
    try (from;
        to) {
      InputStream in = new BufferedInputStream(from.getInputStream(), 64 << 10);
      OutputStream out = to.getOutputStream();
      while (true) {
        String head = readHead(in);
        Map<String, String> headers = headers(head);
        if (up) {
          String[] line = head.substring(0, head.indexOf('\r')).split(" ");
          requests.add(new Request(line[0], line[1], headers));
          methods.add(line[0]);
        } else {
          head = responseHead.apply(head);
        }
        out.write(head.getBytes(StandardCharsets.ISO_8859_1));
        copyBody(in, out, up ? length(headers) : responseLength(head, headers, methods));
        out.flush();
      }
    } catch (IOException e) {
      // The connection has ended, which is how every connection ends.
      return;
    }
  }

  private static String readHead(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    int matched = 0;
    while (matched < 4) {
      int next = in.read();
      if (next < 0) {
        throw new EOFException();
      }
      head.write(next);
      boolean expected = next == (matched % 2 == 0 ? '\r' : '\n');
      matched = expected ? matched + 1 : (next == '\r' ? 1 : 0);
    }
    return head.toString(StandardCharsets.ISO_8859_1);
  }

  private static Map<String, String> headers(String head) {
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (String line : head.split("\r\n")) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        headers.merge(
            line.substring(0, colon),
            line.substring(colon + 1).trim(),
            (first, second) -> first + "," + second);
      }
    }
    return headers;
  }

  private static long length(Map<String, String> headers) {
    return Long.parseLong(headers.getOrDefault("Content-Length", "0"));
  }

  /** -1 for a chunked body. */
  private long responseLength(String head, Map<String, String> headers, Queue<String> methods) {
    if (head.startsWith("HTTP/1.1 100")) {
      return 0;
    }
    if ("HEAD".equals(methods.poll()) || head.startsWith("HTTP/1.1 204")) {
      return 0;
    }
    boolean chunked =
        headers.getOrDefault("Transfer-Encoding", "").toLowerCase(Locale.ROOT).contains("chunked");
    return chunked ? -1 : length(headers);
  }

  private static void copyBody(InputStream in, OutputStream out, long length) throws IOException {
    if (length >= 0) {
      copy(in, out, length);
      return;
    }
    long chunk;
    do {
      String line = readLine(in);
      out.write(line.getBytes(StandardCharsets.ISO_8859_1));
      chunk = Long.parseLong(line.trim().split(";")[0], 16);
      copy(in, out, chunk + 2);
    } while (chunk > 0);
  }

  private static String readLine(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    while (line.length() == 0 || line.charAt(line.length() - 1) != '\n') {
      int next = in.read();
      if (next < 0) {
        throw new EOFException();
      }
      line.append((char) next);
    }
    return line.toString();
  }

  private static void copy(InputStream in, OutputStream out, long length) throws IOException {
    byte[] chunk = new byte[64 << 10];
    long left = length;
    while (left > 0) {
      int count = in.read(chunk, 0, (int) Math.min(left, chunk.length));
      if (count < 0) {
        throw new EOFException();
      }
      out.write(chunk, 0, count);
      out.flush();
      left -= count;
    }
  }
}
