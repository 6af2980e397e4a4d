package io.s3e.bench.server;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Serves one client's connection until either side closes it. Runs on one thread of its own, which
 * blocks in reads, in sleeps and in {@code sendfile}; owns the channel.
 */
final class ClientConnection implements Runnable {

  private static final AtomicLong NEXT_REQUEST_ID = new AtomicLong();

  private final SocketChannel client;
  private final Shape shape;
  private final SignatureV4 signatures;
  private final ObjectFiles files;
  private final Relay relay;
  private final RequestLog log;

  ClientConnection(
      SocketChannel client,
      Shape shape,
      SignatureV4 signatures,
      ObjectFiles files,
      Relay relay,
      RequestLog log) {
    this.client = client;
    this.shape = shape;
    this.signatures = signatures;
    this.files = files;
    this.relay = relay;
    this.log = log;
  }

  @Override
  public void run() {
    try (client) {
      HttpReader reader = new HttpReader(client);
      for (HttpHead request = reader.readHead(); request != null; request = reader.readHead()) {
        if (!serve(request, reader) || request.closesConnection()) {
          return;
        }
      }
    } catch (IOException clientGone) {
      // Readers drop connections whenever they seek: not an event. The log counts unfinished
      // answers, and a broken request leaves nobody who could be told.
      return;
    }
  }

  /** Answers one request; whether the connection can carry another. */
  private boolean serve(HttpHead request, HttpReader reader) throws IOException {
    Operation operation = Operation.of(request);
    log.began(operation);
    boolean complete = false;
    try {
      boolean keepAlive = dispatch(request, operation, reader);
      complete = true;
      return keepAlive;
    } finally {
      if (!complete) {
        log.aborted(operation);
      }
      log.ended();
    }
  }

  private boolean dispatch(HttpHead request, Operation operation, HttpReader reader)
      throws IOException {
    long arrived = System.nanoTime();
    if (operation == Operation.GET_OBJECT) {
      try (ObjectFiles.OpenObject object = openIfOwn(request)) {
        if (object != null) {
          answerGet(request, object, arrived);
          return true;
        }
      }
      log.relayedGet();
    }
    Relay.Outcome outcome = relay.exchange(request, operation, reader, client);
    return outcome.keepAlive();
  }

  private ObjectFiles.@Nullable OpenObject openIfOwn(HttpHead request) throws IOException {
    boolean own = ObjectGet.understands(request) && signatures.accepts(request);
    return own ? files.open(request.rawPath()) : null;
  }

  private void answerGet(HttpHead request, ObjectFiles.OpenObject object, long arrived)
      throws IOException {
    String requestId = Long.toString(NEXT_REQUEST_ID.incrementAndGet());
    ShapedWriter out = new ShapedWriter(client, shape, arrived);
    try {
      int status = ObjectGet.answer(request, requestId, object, out);
      log.answered(Operation.GET_OBJECT, status);
    } finally {
      log.sent(Operation.GET_OBJECT, out.written());
    }
  }
}
