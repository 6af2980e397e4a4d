// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One answer of {@link HostileS3Server}, honest until {@link Fault}s change it. */
public final class HostileReply {
  /**
   * How fast answers come, for every connection by itself. Waiting costs no processor.
   *
   * @param firstByte how long an answer takes to begin
   * @param bytesPerSecond of a body; 0 for as many as the machine moves
   */
  public record Shape(Duration firstByte, long bytesPerSecond) {
    /** As fast as the machine goes. */
    public static final Shape NONE = new Shape(Duration.ZERO, 0);

    /** When so many bytes of a body have come, from its beginning. */
    Duration due(long bytes) {
      return bytesPerSecond == 0
          ? Duration.ZERO
          : Duration.ofNanos((long) (1e9 * bytes / bytesPerSecond));
    }
  }

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

  /** How an answer tells where its body ends. */
  enum Framing {
    /** By its Content-Length. */
    LENGTH,
    /** By its last chunk. */
    CHUNKS,
    /** By the end of the connection. */
    CLOSE
  }

  /** Of a body, at once: 2 ms of it at the pace of one connection to S3. */
  private static final int PIECE_BYTES = 128 << 10;

  /** Makes an answer that need not be HTTP. */
  @FunctionalInterface
  public interface Rewriter {
    /**
     * The bytes to send in place of an answer, before the connection ends.
     *
     * @param head of the answer, its empty line included
     */
    byte[] rewrite(String head, byte[] body);
  }

  private final StoredContent object;
  private final boolean withBody;
  private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private int status;
  private StoredContent content;
  private long from;
  private long to;
  private Framing framing = Framing.LENGTH;
  private boolean junk;
  private int overflow;
  private Cut cut = Cut.NONE;
  private long cutAfter;
  private Duration delay = Duration.ZERO;
  private @Nullable Rewriter rewriter;
  private int pieceBytes = PIECE_BYTES;
  private Duration pause = Duration.ZERO;

  HostileReply(StoredContent object, int status, boolean withBody) {
    this.object = object;
    this.content = object;
    this.status = status;
    this.withBody = withBody;
  }

  long objectSize() {
    return object.size();
  }

  long from() {
    return from;
  }

  long to() {
    return to;
  }

  void status(int value) {
    status = value;
  }

  /** Bytes [from, to) of the object, as far as there are any. */
  void body(long newFrom, long newTo) {
    from = Math.max(0, Math.min(newFrom, object.size()));
    to = Math.max(from, Math.min(newTo, object.size()));
  }

  /** Content-Range for the present body. */
  void labelRange() {
    header(
        "Content-Range", String.format(Locale.ROOT, "bytes %d-%d/%d", from, to - 1, object.size()));
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
    content = StoredContent.of(document.getBytes(StandardCharsets.UTF_8));
    from = 0;
    to = content.size();
    headers.clear();
    if (!document.isEmpty()) {
      headers.put("Content-Type", "application/xml");
    }
  }

  void cut(long afterBytes, Cut how) {
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

  void rewrite(Rewriter how) {
    rewriter = how;
  }

  void framing(Framing how) {
    framing = how;
  }

  /** Other bytes in place of the body, under the head of the right ones. */
  void junk(StoredContent other) {
    junk = true;
    content = other;
    from = 0;
    to = other.size();
  }

  /** For the counts: status, or how it breaks off, or that it is junk. */
  String kind() {
    if (cut != Cut.NONE) {
      return cut.name().toLowerCase(Locale.ROOT);
    }
    return junk ? "junk" : String.valueOf(status);
  }

  /**
   * Sends the answer.
   *
   * @return whether the connection can carry another request
   */
  boolean send(Socket socket, Shape shape) throws IOException, InterruptedException {
    sleep(delay.plus(shape.firstByte()));
    if (cut != Cut.NONE && cutAfter < 0) {
      return breakOff(socket);
    }
    OutputStream out = socket.getOutputStream();
    if (rewriter != null) {
      byte[] body = new byte[(int) (to - from)];
      content.copy(from, body, 0, body.length);
      out.write(rewriter.rewrite(head(), body));
      out.flush();
      socket.close();
      return false;
    }
    out.write(head().getBytes(StandardCharsets.ISO_8859_1));
    out.flush();
    if (!withBody) {
      return true;
    }
    long end = cut == Cut.NONE ? to : Math.min(to, from + cutAfter);
    byte[] piece = new byte[(int) Math.min(pieceBytes, end - from)];
    long start = System.nanoTime();
    for (long at = from; at < end; ) {
      int count = (int) Math.min(piece.length, end - at);
      content.copy(at, piece, 0, count);
      at += count;
      sleep(pause);
      sleep(shape.due(at - from).minusNanos(System.nanoTime() - start));
      piece(out, piece, count);
    }
    if (cut != Cut.NONE) {
      return breakOff(socket);
    }
    if (framing == Framing.CHUNKS) {
      out.write("0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
    }
    out.write(new byte[overflow]);
    out.flush();
    return overflow == 0 && framing != Framing.CLOSE;
  }

  private String head() {
    StringBuilder head = new StringBuilder("HTTP/1.1 ").append(status).append(" Scripted\r\n");
    switch (framing) {
      case LENGTH -> headers.putIfAbsent("Content-Length", String.valueOf(to - from));
      case CHUNKS -> headers.put("Transfer-Encoding", "chunked");
      case CLOSE -> headers.put("Connection", "close");
    }
    headers.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    return head.append("\r\n").toString();
  }

  private void piece(OutputStream out, byte[] piece, int count) throws IOException {
    if (framing == Framing.CHUNKS) {
      out.write((Integer.toHexString(count) + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
    }
    out.write(piece, 0, count);
    if (framing == Framing.CHUNKS) {
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
    if (time.compareTo(Duration.ZERO) > 0) {
      Pause.of(time, "a server that is slow");
    }
  }
}
