// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The front's own answer to a GET of an object: head and span of the file. It answers what a reader
 * asks for in the ordinary course of things and leaves the rest to S3Proxy.
 */
final class ObjectGet {

  private static final DateTimeFormatter HTTP_DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH);

  private ObjectGet() {}

  /** Whether the front knows every header that changes the answer. */
  static boolean understands(HttpHead request) throws IOException {
    return request.contentLength() <= 0
        && !request.isChunked()
        && !request.has("If-None-Match")
        && !request.has("If-Modified-Since")
        && !request.has("If-Unmodified-Since")
        && !request.has("If-Range")
        && !request.hasPrefix("x-amz-server-side-encryption");
  }

  /** Answers with the object's bytes, or with 412 or 416. */
  static void answer(
      Exchange exchange, String requestId, ObjectFiles.OpenObject object, ShapedWriter out)
      throws IOException {
    HttpHead request = exchange.request();
    String etag = object.headers().etag();
    String ifMatch = request.header("If-Match");
    if (ifMatch != null && !matches(ifMatch, etag)) {
      String reason = "At least one of the pre-conditions you specified did not hold";
      answerError(out, exchange, requestId, 412, "PreconditionFailed", reason, null);
      return;
    }
    String range = request.header("Range");
    ByteSpan span;
    try {
      span = range == null ? null : ByteSpan.parse(range, object.length());
    } catch (ByteSpan.NotSatisfiableException e) {
      String contentRange = "bytes */" + object.length();
      String reason = "The requested range is not satisfiable";
      answerError(out, exchange, requestId, 416, "InvalidRange", reason, contentRange);
      return;
    }
    ByteSpan body = span == null ? new ByteSpan(0, object.length()) : span;
    exchange.answered(span == null ? 200 : 206);
    out.writeHead(head(requestId, object, span, body.length()));
    out.transfer(object, body);
  }

  /** Answers as S3 does when it is asked too much. */
  static void refuse(Exchange exchange, String requestId, ShapedWriter out) throws IOException {
    answerError(
        out, exchange, requestId, 503, "SlowDown", "Please reduce your request rate.", null);
  }

  private static boolean matches(String ifMatch, String etag) {
    for (String candidate : ifMatch.split(",", -1)) {
      String tag = candidate.trim();
      if (tag.equals("*") || tag.equals(etag) || ('"' + tag + '"').equals(etag)) {
        return true;
      }
    }
    return false;
  }

  private static byte[] head(
      String requestId, ObjectFiles.OpenObject object, @Nullable ByteSpan span, long length) {
    StringBuilder head = new StringBuilder(512);
    head.append(span == null ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 206 Partial Content\r\n");
    appendCommon(head, requestId);
    ObjectFiles.Headers headers = object.headers();
    line(head, "ETag", headers.etag());
    line(head, "Last-Modified", HTTP_DATE.format(headers.lastModified().atZone(ZoneOffset.UTC)));
    line(head, "Accept-Ranges", "bytes");
    line(head, "Content-Type", headers.contentType());
    headers
        .userMetadata()
        .forEach(
            (name, value) ->
                line(
                    head,
                    "x-amz-meta-" + name,
                    value.chars().allMatch(c -> c >= ' ' && c < 0x7f)
                        ? value
                        : URLEncoder.encode(value, StandardCharsets.UTF_8)));
    if (span != null) {
      line(
          head,
          "Content-Range",
          "bytes " + span.start() + '-' + span.endInclusive() + '/' + object.length());
    }
    line(head, "Content-Length", Long.toString(length));
    return head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  private static void answerError(
      ShapedWriter out,
      Exchange exchange,
      String requestId,
      int status,
      String code,
      String message,
      @Nullable String contentRange)
      throws IOException {
    String xml =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>"
            + code
            + "</Code><Message>"
            + message
            + "</Message><Resource>"
            + exchange.request().rawPath().replace("&", "&amp;").replace("<", "&lt;")
            + "</Resource><RequestId>"
            + requestId
            + "</RequestId></Error>";
    byte[] body = xml.getBytes(StandardCharsets.UTF_8);
    StringBuilder head = new StringBuilder(256);
    head.append("HTTP/1.1 ").append(status).append(' ').append(code).append("\r\n");
    appendCommon(head, requestId);
    if (contentRange != null) {
      line(head, "Content-Range", contentRange);
    }
    line(head, "Content-Type", "application/xml");
    line(head, "Content-Length", Integer.toString(body.length));
    exchange.answered(status);
    out.writeHead(head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
    out.writeBody(ByteBuffer.wrap(body));
  }

  private static void appendCommon(StringBuilder head, String requestId) {
    line(head, "Date", HTTP_DATE.format(ZonedDateTime.now(ZoneOffset.UTC)));
    line(head, "Server", "s3e-bench");
    line(head, "x-amz-request-id", requestId);
  }

  private static void line(StringBuilder head, String name, String value) {
    head.append(name).append(": ").append(value).append("\r\n");
  }
}
