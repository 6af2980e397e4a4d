package io.s3e.testing;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** One answer of {@link HostileS3Server}, honest until {@link Fault}s change it. */
public final class HostileReply {
  /** How an answer breaks off. */
  enum Cut {
    /** Not at all. */
    NONE,
    /** By a TCP reset. */
    RESET,
    /** By an orderly end of the connection. */
    END,
    /** Not visibly: nothing more comes. */
    STALL
  }

  private static final int NO_PACE = 64 << 10;

  private final byte[] object;
  private final boolean withBody;
  private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private int status;
  private byte[] content;
  private int from;
  private int to;
  private boolean chunked;
  private int overflow;
  private Cut cut = Cut.NONE;
  private int cutAfter;
  private Duration delay = Duration.ZERO;
  private int pieceBytes = NO_PACE;
  private Duration pause = Duration.ZERO;

  HostileReply(byte[] object, int status, boolean withBody) {
    this.object = object;
    this.content = object;
    this.status = status;
    this.withBody = withBody;
  }

  int objectSize() {
    return object.length;
  }

  int from() {
    return from;
  }

  int to() {
    return to;
  }

  void status(int value) {
    status = value;
  }

  /** Bytes [from, to) of the object, as far as there are any. */
  void body(int newFrom, int newTo) {
    from = Math.max(0, Math.min(newFrom, object.length));
    to = Math.max(from, Math.min(newTo, object.length));
  }

  /** Content-Range for the present body. */
  void labelRange() {
    header(
        "Content-Range", String.format(Locale.ROOT, "bytes %d-%d/%d", from, to - 1, object.length));
  }

  void header(String name, String value) {
    if (value == null) {
      headers.remove(name);
    } else {
      headers.put(name, value);
    }
  }

  void error(int newStatus, String code, String message) {
    refuse(newStatus, Fault.document(code, message, "scripted"));
  }

  /** An answer with nothing of the object: an error document, or with an empty one no body. */
  void refuse(int newStatus, String document) {
    status = newStatus;
    content = document.getBytes(StandardCharsets.UTF_8);
    from = 0;
    to = content.length;
    headers.clear();
    if (!document.isEmpty()) {
      headers.put("Content-Type", "application/xml");
    }
  }

  void cut(int afterBytes, Cut how) {
    cutAfter = afterBytes;
    cut = how;
  }

  void delay(Duration value) {
    delay = value;
  }

  void pace(int bytes, Duration between) {
    pieceBytes = bytes;
    pause = between;
  }

  void overflow(int by) {
    overflow = by;
  }

  void chunked() {
    chunked = true;
  }

  /**
   * Sends the answer.
   *
   * @return whether the connection can carry another request
   */
  boolean send(Socket socket) throws IOException, InterruptedException {
    sleep(delay);
    if (cut != Cut.NONE && cutAfter < 0) {
      return breakOff(socket);
    }
    OutputStream out = socket.getOutputStream();
    out.write(head().getBytes(StandardCharsets.ISO_8859_1));
    out.flush();
    if (!withBody) {
      return true;
    }
    int end = cut == Cut.NONE ? to : Math.min(to, from + cutAfter);
    for (int at = from; at < end; ) {
      int count = Math.min(pieceBytes, end - at);
      sleep(pause);
      piece(out, at, count);
      at += count;
    }
    if (cut != Cut.NONE) {
      return breakOff(socket);
    }
    if (chunked) {
      out.write("0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
    }
    out.write(new byte[overflow]);
    out.flush();
    return overflow == 0;
  }

  private String head() {
    StringBuilder head = new StringBuilder("HTTP/1.1 ").append(status).append(" Scripted\r\n");
    if (chunked) {
      headers.put("Transfer-Encoding", "chunked");
    } else {
      headers.putIfAbsent("Content-Length", String.valueOf(to - from));
    }
    headers.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    return head.append("\r\n").toString();
  }

  private void piece(OutputStream out, int at, int count) throws IOException {
    if (chunked) {
      out.write((Integer.toHexString(count) + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
    }
    out.write(content, at, count);
    if (chunked) {
      out.write("\r\n".getBytes(StandardCharsets.ISO_8859_1));
    }
    out.flush();
  }

  private boolean breakOff(Socket socket) throws IOException {
    switch (cut) {
      case RESET -> {
        socket.setSoLinger(true, 0);
        socket.close();
      }
      case END -> socket.close();
      // Returns when the client gives up or the server is closed.
      case STALL -> {
        while (socket.getInputStream().read() >= 0) {
          // What a client sends into a stalled connection has no meaning.
        }
      }
      case NONE -> throw new IllegalStateException("nothing to break off");
    }
    return false;
  }

  private static void sleep(Duration time) throws InterruptedException {
    if (!time.isZero()) {
      Thread.sleep(time.toMillis(), time.toNanosPart() % 1_000_000);
    }
  }
}
