// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SequenceWriter;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A file with one JSON object a line for every request, in the order in which they ended. Any
 * thread; the file is complete after {@link #close}, and up to a {@link #flush}.
 */
final class RequestLogFile implements AutoCloseable {

  /**
   * One line.
   *
   * @param time when the request's head had come: ISO 8601, UTC
   * @param connection number of the connection, in the order of their coming
   * @param operation what was asked for, as S3 names it
   * @param path bucket and key as they were sent, percent-encoded, without the query
   * @param range the Range header; null when there was none
   * @param agent the User-Agent header; null when there was none
   * @param status status of the answer; 0 when there was none
   * @param relayed whether S3Proxy answered
   * @param complete whether the whole answer went out
   * @param received bytes of the request's body
   * @param sent bytes of the answer's body
   * @param waitMicros from the request's head to the answer's
   * @param durationMicros from the request's head to the answer's last byte
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record Line(
      String time,
      long connection,
      Operation operation,
      String path,
      @Nullable String range,
      @Nullable String agent,
      int status,
      boolean relayed,
      boolean complete,
      long received,
      long sent,
      long waitMicros,
      long durationMicros) {}

  private final BufferedWriter out;
  private final SequenceWriter writer;
  private boolean closed;

  /** Creates the file, or empties it. */
  RequestLogFile(Path path) throws IOException {
    out = Files.newBufferedWriter(path);
    writer =
        new ObjectMapper()
            .disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM)
            .writerFor(Line.class)
            .withRootValueSeparator("\n")
            .writeValues(out);
  }

  void append(Exchange exchange, long durationNanos) throws IOException {
    Line line =
        new Line(
            exchange.arrived().toString(),
            exchange.connection(),
            exchange.operation(),
            exchange.request().rawPath(),
            exchange.request().header("Range"),
            exchange.request().header("User-Agent"),
            exchange.status(),
            exchange.isRelayed(),
            exchange.isComplete(),
            exchange.bytesReceived(),
            exchange.bytesSent(),
            TimeUnit.NANOSECONDS.toMicros(exchange.waitNanos()),
            TimeUnit.NANOSECONDS.toMicros(durationNanos));
    synchronized (this) {
      if (!closed) {
        writer.write(line);
      }
    }
  }

  /** Writes out what the buffer holds. */
  synchronized void flush() throws IOException {
    if (!closed) {
      writer.flush();
      // The writer passes no flush on.
      out.flush();
    }
  }

  @Override
  public synchronized void close() throws IOException {
    closed = true;
    writer.close();
  }
}
