// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A store that takes uploads of any kind, and refuses requests as it is told to. Keeps no object.
 */
final class RefusingStore implements AutoCloseable {
  private final HttpServer server;
  private final Map<String, Integer> refusals;
  private final Queue<String> taken = new ConcurrentLinkedQueue<>();

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

  /** Method and query of what was not refused. */
  List<String> taken() {
    return List.copyOf(taken);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      String method = exchange.getRequestMethod();
      boolean conditional = exchange.getRequestHeaders().containsKey("If-None-Match");
      Integer refusal =
          conditional && refusals.containsKey("If-None-Match")
              ? refusals.get("If-None-Match")
              : refusals.get(method);
      if (refusal != null) {
        send(exchange, refusal, "<Error><Code>Refused</Code><Message>refused</Message></Error>");
        return;
      }
      String query = exchange.getRequestURI().getRawQuery();
      taken.add(query == null ? method : method + "?" + query);
      exchange.getResponseHeaders().add("ETag", "\"etag\"");
      send(exchange, 200, document(method, query == null ? "" : query));
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
