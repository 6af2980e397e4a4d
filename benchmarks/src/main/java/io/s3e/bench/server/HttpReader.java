// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Takes heads and bodies off one blocking channel. One thread; owns its buffer, never the channel.
 */
final class HttpReader {

  /** Longest head accepted, and the size of the pieces in which bodies are relayed. */
  static final int BUFFER_BYTES = 64 * 1024;

  /** Where pieces of a body go: the other side of a relay. */
  @FunctionalInterface
  interface Sink {
    /** Takes all that remains in the buffer. */
    void write(ByteBuffer piece) throws IOException;
  }

  private final ReadableByteChannel channel;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES).flip();

  HttpReader(ReadableByteChannel channel) {
    this.channel = channel;
  }

  /**
   * Reads the next head.
   *
   * @return the head, or null when the peer closed the connection between two messages
   * @throws EOFException when it closed within a head
   * @throws IOException when the head is too long or is not HTTP
   */
  @Nullable HttpHead readHead() throws IOException {
    int scanned = 0;
    while (true) {
      int end = endOfHead(scanned);
      if (end > 0) {
        byte[] raw = new byte[end];
        buffer.get(raw);
        return HttpHead.parse(raw);
      }
      scanned = Math.max(0, buffer.remaining() - 3);
      if (buffer.remaining() == BUFFER_BYTES) {
        throw new IOException("Head longer than " + BUFFER_BYTES + " bytes");
      }
      if (!fill()) {
        if (buffer.hasRemaining()) {
          throw new EOFException("Connection closed within a head");
        }
        return null;
      }
    }
  }

  /** Length of the head at the front of the buffer, or -1 when its end has not come yet. */
  private int endOfHead(int from) {
    int base = buffer.position();
    for (int i = from; i + 3 < buffer.remaining(); i++) {
      if (buffer.get(base + i) == '\r'
          && buffer.get(base + i + 1) == '\n'
          && buffer.get(base + i + 2) == '\r'
          && buffer.get(base + i + 3) == '\n') {
        return i + 4;
      }
    }
    return -1;
  }

  private boolean fill() throws IOException {
    buffer.compact();
    try {
      return channel.read(buffer) >= 0;
    } finally {
      buffer.flip();
    }
  }

  /**
   * Passes on the body that follows a head, as it is framed on the wire.
   *
   * @return bytes passed on, chunk framing included
   */
  long relayBody(HttpHead head, Sink sink) throws IOException {
    return head.isChunked() ? relayChunks(sink) : relay(Math.max(0, head.contentLength()), sink);
  }

  /** Passes on everything until the peer closes. */
  long relayToEnd(Sink sink) throws IOException {
    long total = 0;
    do {
      total += buffer.remaining();
      sink.write(buffer);
    } while (fill());
    return total;
  }

  private long relay(long length, Sink sink) throws IOException {
    long left = length;
    while (left > 0) {
      if (!buffer.hasRemaining() && !fill()) {
        throw new EOFException("Connection closed " + left + " bytes before the body's end");
      }
      int piece = (int) Math.min(left, buffer.remaining());
      ByteBuffer slice = buffer.slice(buffer.position(), piece);
      buffer.position(buffer.position() + piece);
      sink.write(slice);
      left -= piece;
    }
    return length;
  }

  private long relayChunks(Sink sink) throws IOException {
    long total = 0;
    while (true) {
      byte[] line = readLine();
      total += relayBytes(line, sink);
      long size = chunkSize(line);
      if (size == 0) {
        break;
      }
      total += relay(size + 2, sink);
    }
    byte[] trailer;
    do {
      trailer = readLine();
      total += relayBytes(trailer, sink);
    } while (trailer.length > 2);
    return total;
  }

  private static long relayBytes(byte[] bytes, Sink sink) throws IOException {
    sink.write(ByteBuffer.wrap(bytes));
    return bytes.length;
  }

  private static long chunkSize(byte[] line) throws IOException {
    String text = new String(line, StandardCharsets.ISO_8859_1).trim();
    int semicolon = text.indexOf(';');
    try {
      return Long.parseLong(semicolon < 0 ? text : text.substring(0, semicolon), 16);
    } catch (NumberFormatException e) {
      throw new IOException("Not a chunk size: " + text, e);
    }
  }

  /** Reads up to and including the next line feed. */
  private byte[] readLine() throws IOException {
    int scanned = 0;
    while (true) {
      for (int i = scanned; i < buffer.remaining(); i++) {
        if (buffer.get(buffer.position() + i) == '\n') {
          byte[] line = new byte[i + 1];
          buffer.get(line);
          return line;
        }
      }
      scanned = buffer.remaining();
      if (scanned == BUFFER_BYTES || !fill()) {
        throw new EOFException("Connection closed within a chunk, or the chunk's head is too long");
      }
    }
  }
}
