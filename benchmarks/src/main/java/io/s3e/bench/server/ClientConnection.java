// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Serves one client's connection until either side closes it. Runs on one thread of its own, which
 * blocks in reads, in sleeps and in writes; owns the connection.
 */
final class ClientConnection implements Runnable {

  /** Makes a connection that was accepted ready for HTTP; blocks while TLS shakes hands. */
  @FunctionalInterface
  interface WireFactory {
    Wire open(SocketChannel accepted) throws IOException;
  }

  private static final AtomicLong NEXT_REQUEST_ID = new AtomicLong();

  private final SocketChannel accepted;
  private final long number;
  private final WireFactory wires;
  private final Shaper shaper;
  private final SignatureV4 signatures;
  private final ObjectFiles files;
  private final Relay relay;
  private final RequestLog log;
  private final Predicate<HttpHead> hangs;
  private final Refusals refusals;

  /**
   * @param number in the order in which connections are accepted
   * @param hangs which object GETs are never answered
   * @param refusals which of the others are answered by 503
   */
  ClientConnection(
      SocketChannel accepted,
      long number,
      WireFactory wires,
      Shaper shaper,
      SignatureV4 signatures,
      ObjectFiles files,
      Relay relay,
      RequestLog log,
      Predicate<HttpHead> hangs,
      Refusals refusals) {
    this.accepted = accepted;
    this.number = number;
    this.wires = wires;
    this.shaper = shaper;
    this.signatures = signatures;
    this.files = files;
    this.relay = relay;
    this.log = log;
    this.hangs = hangs;
    this.refusals = refusals;
  }

  @Override
  public void run() {
    try (accepted;
        Wire client = wires.open(accepted)) {
      HttpReader reader = new HttpReader(client);
      for (HttpHead request = reader.readHead(); request != null; request = reader.readHead()) {
        if (!serve(request, reader, client) || request.closesConnection()) {
          return;
        }
      }
    } catch (IOException clientGone) {
      // Readers drop connections whenever they seek: not an event. The log counts unfinished
      // answers, and a broken request leaves nobody to tell.
      return;
    }
  }

  /** Answers one request; whether the connection can carry another. */
  private boolean serve(HttpHead request, HttpReader reader, Wire client) throws IOException {
    Exchange exchange = new Exchange(request, number);
    log.began(exchange);
    try {
      boolean keepAlive = dispatch(exchange, reader, client);
      exchange.completed();
      return keepAlive;
    } finally {
      log.ended(exchange);
    }
  }

  private boolean dispatch(Exchange exchange, HttpReader reader, Wire client) throws IOException {
    if (exchange.operation() == Operation.GET_OBJECT) {
      if (hangs.test(exchange.request())) {
        awaitEnd(client);
      }
      try (ObjectFiles.OpenObject object = openIfOwn(exchange.request())) {
        if (object != null) {
          answerGet(exchange, object, client);
          return true;
        }
      }
    }
    return relay.exchange(exchange, reader, client);
  }

  /** Says nothing until the client gives up. */
  private static void awaitEnd(Wire client) throws IOException {
    ByteBuffer ignored = ByteBuffer.allocate(1);
    while (client.read(ignored.clear()) >= 0) {
      continue;
    }
    throw new EOFException("The client has closed the connection");
  }

  private ObjectFiles.@Nullable OpenObject openIfOwn(HttpHead request) throws IOException {
    boolean own = ObjectGet.understands(request) && signatures.accepts(request);
    return own ? files.open(request.rawPath()) : null;
  }

  private void answerGet(Exchange exchange, ObjectFiles.OpenObject object, Wire client)
      throws IOException {
    String requestId = Long.toString(NEXT_REQUEST_ID.incrementAndGet());
    ShapedWriter out = shaper.begin(client, exchange.operation(), exchange.arrivedNanos());
    try {
      if (refusals.next(exchange.request())) {
        ObjectGet.refuse(exchange, requestId, out);
      } else {
        ObjectGet.answer(exchange, requestId, object, out);
      }
    } finally {
      exchange.sent(out.written());
    }
  }
}
