// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The start line and headers of one HTTP/1.1 message, with the bytes they came in, so that a relay
 * can pass them on unchanged. Immutable.
 */
final class HttpHead {

  /** One header line. */
  record Header(String name, String value) {}

  private final byte[] raw;
  private final String startLine;
  private final List<Header> headers;

  private HttpHead(byte[] raw, String startLine, List<Header> headers) {
    this.raw = raw;
    this.startLine = startLine;
    this.headers = headers;
  }

  /**
   * Parses a head.
   *
   * @param raw everything up to and including the empty line
   * @throws IOException when it is not HTTP
   */
  static HttpHead parse(byte[] raw) throws IOException {
    String[] lines = new String(raw, StandardCharsets.ISO_8859_1).split("\r\n", -1);
    if (lines[0].split(" ", -1).length < 2) {
      throw new IOException("Not an HTTP start line: " + lines[0]);
    }
    List<Header> headers = new ArrayList<>();
    for (int i = 1; i < lines.length && !lines[i].isEmpty(); i++) {
      int colon = lines[i].indexOf(':');
      if (colon <= 0) {
        throw new IOException("Not an HTTP header: " + lines[i]);
      }
      headers.add(new Header(lines[i].substring(0, colon), lines[i].substring(colon + 1).trim()));
    }
    return new HttpHead(raw, lines[0], List.copyOf(headers));
  }

  byte[] raw() {
    return raw;
  }

  /** The request's method. */
  String method() {
    return startLine.substring(0, startLine.indexOf(' '));
  }

  /** The request's target as it was sent: path and query, still percent-encoded. */
  String target() {
    return startLine.split(" ", -1)[1];
  }

  /** The target up to the query. */
  String rawPath() {
    String target = target();
    int question = target.indexOf('?');
    return question < 0 ? target : target.substring(0, question);
  }

  /** The target's query, without the question mark; empty when there is none. */
  String rawQuery() {
    String target = target();
    int question = target.indexOf('?');
    return question < 0 ? "" : target.substring(question + 1);
  }

  /**
   * The response's status code.
   *
   * @throws IOException when the status line holds no number
   */
  int status() throws IOException {
    try {
      return Integer.parseInt(startLine.split(" ", -1)[1]);
    } catch (NumberFormatException e) {
      throw new IOException("Not an HTTP status line: " + startLine, e);
    }
  }

  /** The value of a header, lines of the same name joined by commas; null when there is none. */
  @Nullable String header(String name) {
    String joined = null;
    for (Header header : headers) {
      if (header.name().equalsIgnoreCase(name)) {
        joined = joined == null ? header.value() : joined + "," + header.value();
      }
    }
    return joined;
  }

  boolean has(String name) {
    return header(name) != null;
  }

  /** Whether some header's name begins so, ignoring case. */
  boolean hasPrefix(String prefix) {
    return headers.stream()
        .anyMatch(h -> h.name().regionMatches(true, 0, prefix, 0, prefix.length()));
  }

  /** Whether the sender wants the connection closed after this message. */
  boolean closesConnection() {
    return "close".equalsIgnoreCase(header("Connection")) || startLine.contains("HTTP/1.0");
  }

  boolean isChunked() {
    String encoding = header("Transfer-Encoding");
    return encoding != null && encoding.toLowerCase(Locale.ROOT).contains("chunked");
  }

  /**
   * Length of the body that follows.
   *
   * @return the length, or -1 when the head gives none
   * @throws IOException when it is not a number
   */
  long contentLength() throws IOException {
    String length = header("Content-Length");
    if (length == null) {
      return -1;
    }
    try {
      return Long.parseLong(length);
    } catch (NumberFormatException e) {
      throw new IOException("Not a Content-Length: " + length, e);
    }
  }
}
