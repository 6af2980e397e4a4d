// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A store that takes uploads of any kind, and refuses requests, or loses its answers, as it is told
 * to. Of an object it keeps the ETag alone.
 */
final class RefusingStore implements AutoCloseable {
  private final HttpServer server;
  private final Map<String, Integer> refusals;
  private final Queue<String> taken = new ConcurrentLinkedQueue<>();
  private final Map<Integer, byte[]> parts = new ConcurrentSkipListMap<>();
  private final AtomicBoolean loses = new AtomicBoolean();
  private volatile @Nullable String stored;
  private volatile @Nullable String replacement;

  /**
   * @param refusals a status by the method; {@code If-None-Match} stands for requests with it
   */
  RefusingStore(Map<String, Integer> refusals) throws IOException {
    this.refusals = refusals;
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    var unused = server.createContext("/", this::answer);
    server.start();
  }

  URI endpoint() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /**
   * The answer to the next request that makes an object is lost, once it has made it.
   *
   * @param replacement the ETag of what somebody else puts in its place then; null for none
   */
  RefusingStore losingOne(@Nullable String replacement) {
    this.replacement = replacement;
    loses.set(true);
    return this;
  }

  /** An object of this ETag is there. */
  void store(String etag) {
    stored = etag;
  }

  /** The ETag of the object; null if there is none. */
  @Nullable String stored() {
    return stored;
  }

  /** Method and query of what was not refused. */
  List<String> taken() {
    return List.copyOf(taken);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = content(exchange);
      String method = exchange.getRequestMethod();
      boolean conditional = exchange.getRequestHeaders().containsKey("If-None-Match");
      Integer refusal =
          conditional && refusals.containsKey("If-None-Match")
              ? refusals.get("If-None-Match")
              : refusals.get(method);
      String etag = stored;
      if (method.equals("HEAD") && etag != null && !Integer.valueOf(403).equals(refusal)) {
        exchange.getResponseHeaders().add("ETag", etag);
        send(exchange, 200, "");
        return;
      }
      if (conditional && etag != null) {
        refusal = 412;
      }
      if (refusal != null) {
        send(exchange, refusal, "<Error><Code>Refused</Code><Message>refused</Message></Error>");
        return;
      }
      String query = exchange.getRequestURI().getRawQuery();
      taken.add(query == null ? method : method + "?" + query);
      String made = make(method, query == null ? "" : query, body);
      if (stored != null && loses.compareAndSet(true, false)) {
        stored = replacement == null ? stored : replacement;
        return;
      }
      exchange.getResponseHeaders().add("ETag", made);
      send(exchange, 200, document(method, query == null ? "" : query));
    }
  }

  /** The ETag of what the request makes. */
  private String make(String method, String query, byte[] body) {
    Matcher part = Pattern.compile("partNumber=(\\d+)").matcher(query);
    byte[] md5 = md5(body);
    String etag = '"' + HexFormat.of().formatHex(md5) + '"';
    if (part.find()) {
      parts.put(Integer.valueOf(part.group(1)), md5);
    } else if (method.equals("PUT")) {
      stored = etag;
    } else if (query.startsWith("uploadId")) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      parts.values().forEach(all::writeBytes);
      String whole = HexFormat.of().formatHex(md5(all.toByteArray()));
      stored = '"' + whole + '-' + parts.size() + '"';
    }
    return etag;
  }

  /** The body without the frames that its signature puts around pieces of it. */
  private static byte[] content(HttpExchange exchange) throws IOException {
    byte[] sent = exchange.getRequestBody().readAllBytes();
    if (!exchange.getRequestHeaders().containsKey("x-amz-decoded-content-length")) {
      return sent;
    }
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (int at = 0; at < sent.length; ) {
      int line = at;
      while (sent[line] != '\n') {
        line++;
      }
      String frame = new String(sent, at, line - 1 - at, UTF_8);
      int length = Integer.parseInt(frame.split(";")[0], 16);
      content.write(sent, line + 1, length);
      at = length == 0 ? sent.length : line + 1 + length + 2;
    }
    return content.toByteArray();
  }

  private static byte[] md5(byte[] bytes) {
    try {
      return MessageDigest.getInstance("MD5").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String document(String method, String query) {
    if (!method.equals("POST")) {
      return "";
    }
    return query.startsWith("uploads")
        ? "<InitiateMultipartUploadResult><UploadId>upload-1</UploadId>"
            + "</InitiateMultipartUploadResult>"
        : "<CompleteMultipartUploadResult><ETag>etag</ETag></CompleteMultipartUploadResult>";
  }

  private static void send(HttpExchange exchange, int status, String document) throws IOException {
    byte[] body = document.getBytes(UTF_8);
    boolean none = exchange.getRequestMethod().equals("HEAD") || body.length == 0;
    exchange.sendResponseHeaders(status, none ? -1 : body.length);
    if (!none) {
      try (OutputStream out = exchange.getResponseBody()) {
        out.write(body);
      }
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
