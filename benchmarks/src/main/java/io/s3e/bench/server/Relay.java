// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Passes one request to S3Proxy and its answer back, byte for byte, so that signatures over the
 * {@code Host} header stay valid. Opens a connection for each request: S3Proxy may close an idle
 * one at any moment, and a request with a body cannot be sent twice. One thread.
 */
final class Relay {

  private final InetSocketAddress upstreamAddress;
  private final Shaper shaper;

  Relay(InetSocketAddress upstreamAddress, Shaper shaper) {
    this.upstreamAddress = upstreamAddress;
    this.shaper = shaper;
  }

  /** Has S3Proxy answer; whether the client's connection can carry another request. */
  boolean exchange(Exchange exchange, HttpReader clientReader, Wire client) throws IOException {
    exchange.relay();
    HttpHead request = exchange.request();
    try (SocketChannel upstream = SocketChannel.open(upstreamAddress)) {
      upstream.setOption(StandardSocketOptions.TCP_NODELAY, true);
      HttpReader upstreamReader = new HttpReader(upstream);
      writeAll(upstream, ByteBuffer.wrap(request.raw()));
      HttpHead early = null;
      if ("100-continue".equalsIgnoreCase(request.header("Expect"))) {
        early = requireHead(upstreamReader);
        if (early.status() == 100) {
          client.write(ByteBuffer.wrap(early.raw()));
          early = null;
        }
      }
      boolean refusedEarly = early != null;
      if (!refusedEarly) {
        exchange.received(clientReader.relayBody(request, piece -> writeAll(upstream, piece)));
      }
      HttpHead answer = early;
      while (answer == null || answer.status() / 100 == 1) {
        answer = requireHead(upstreamReader);
      }
      relayAnswer(exchange, answer, upstreamReader, client);
      // After a refusal the client may or may not send the body it had announced.
      return !refusedEarly && !answer.closesConnection() && hasLength(answer, request);
    }
  }

  private void relayAnswer(
      Exchange exchange, HttpHead answer, HttpReader upstreamReader, Wire client)
      throws IOException {
    HttpHead request = exchange.request();
    ShapedWriter out = shaper.begin(client, exchange.operation(), exchange.arrivedNanos());
    exchange.answered(answer.status());
    out.writeHead(answer.raw());
    try {
      if (!hasBody(answer, request)) {
        return;
      }
      if (hasLength(answer, request)) {
        upstreamReader.relayBody(answer, out::writeBody);
      } else {
        upstreamReader.relayToEnd(out::writeBody);
      }
    } finally {
      exchange.sent(out.written());
    }
  }

  private static boolean hasBody(HttpHead answer, HttpHead request) throws IOException {
    return !request.method().equals("HEAD") && answer.status() != 204 && answer.status() != 304;
  }

  /** Whether the client can tell where the answer ends without the connection being closed. */
  private static boolean hasLength(HttpHead answer, HttpHead request) throws IOException {
    return !hasBody(answer, request) || answer.isChunked() || answer.contentLength() >= 0;
  }

  private static HttpHead requireHead(HttpReader reader) throws IOException {
    HttpHead head = reader.readHead();
    if (head == null) {
      throw new EOFException("S3Proxy closed the connection without an answer");
    }
    return head;
  }

  private static void writeAll(SocketChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }
}
