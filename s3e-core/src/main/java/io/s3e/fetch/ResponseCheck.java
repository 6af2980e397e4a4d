// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.GetRequest;
import io.s3e.client.ResponseHead;
import java.io.IOException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The conditions on the head of an answer before a byte of its body is taken: status 206, no
 * Content-Encoding but the one that the object is stored with, the ETag that the stream was opened
 * on, a Content-Range that starts and ends where asked with a known total length, and a
 * Content-Length that agrees, or a Transfer-Encoding and none. That the body then has exactly these
 * bytes is counted by {@link Body}.
 *
 * <p><b>The total</b> is pinned by the first accepted answer ({@link ObjectHandle}). A range that
 * ends earlier than asked is accepted only if it ends at that total: the object's opener was wrong
 * about the length. An answer with another total than the pinned one never shortens a stream.
 */
final class ResponseCheck {
  private static final Pattern CONTENT_RANGE =
      Pattern.compile("bytes\\s+(\\d{1,18})-(\\d{1,18})/(\\d{1,18})", Pattern.CASE_INSENSITIVE);

  private ResponseCheck() {}

  /**
   * @return the range that the body brings, from where the request begins; shorter than asked if
   *     the object ends there
   * @throws ObjectChangedException if the ETag is another one, or there is none and the object has
   *     another size
   * @throws EncodedBodyException if there is an encoding and it is not known how the object is
   *     stored
   * @throws IOException if the answer is not the one to this request; sending it again may help
   */
  static ByteRange check(GetRequest request, ResponseHead head, ObjectHandle handle)
      throws IOException {
    if (head.status() != 206) {
      throw rejected(request, "status " + head.status() + " instead of 206");
    }
    String encoding = head.contentEncoding();
    String stored = handle.storedEncoding;
    if (encoding != null && !isTransparent(encoding) && !encoding.equals(stored)) {
      if (stored != null) {
        String why = ", which the object is not stored with: something on the way changes bodies";
        throw rejected(request, "Content-Encoding " + encoding + why);
      }
      throw new EncodedBodyException(
          "Answer to GET " + request.range() + " has Content-Encoding " + encoding);
    }
    if (head.transferEncoding() != null && head.contentLength() >= 0) {
      // RFC 9112, 6.3: not to be believed. Clients differ in which of the two they go by, and one
      // that takes bytes of the object for the lengths of chunks hands over wrong ones.
      throw rejected(
          request, "Transfer-Encoding " + head.transferEncoding() + " beside a Content-Length");
    }
    Matcher range = CONTENT_RANGE.matcher(String.valueOf(head.contentRange()).trim());
    if (!range.matches()) {
      throw rejected(request, "Content-Range " + head.contentRange());
    }
    ByteRange body = body(request, head, range);
    String etag = head.etag();
    if (etag == null ? handle.etag() != null : !handle.learnEtag(etag)) {
      throw changed(handle, "ETag " + handle.etag(), String.valueOf(etag));
    }
    long total = Long.parseLong(range.group(3));
    if (!handle.pinTotal(total)) {
      if (etag == null) {
        throw changed(handle, handle.size() + " bytes", String.valueOf(total));
      }
      throw rejected(
          request, "Content-Range " + head.contentRange() + ", another size than before");
    }
    return body;
  }

  private static ObjectChangedException changed(ObjectHandle handle, String before, String now) {
    String what = handle.version.object() + " was opened with " + before + " and now has " + now;
    return new ObjectChangedException("Object changed while it was read: " + what, null);
  }

  /** {@code aws-chunked} is left over from uploads and says nothing about the stored bytes. */
  private static boolean isTransparent(String encoding) {
    String value = encoding.trim().toLowerCase(Locale.ROOT);
    return value.isEmpty() || value.equals("identity") || value.equals("aws-chunked");
  }

  private static ByteRange body(GetRequest request, ResponseHead head, Matcher contentRange)
      throws IOException {
    long start = Long.parseLong(contentRange.group(1));
    long told = Long.parseLong(contentRange.group(2)) + 1;
    long end = Math.min(Long.parseLong(contentRange.group(3)), request.range().end());
    // Versions of the CRT before 0.50 write the range that was asked for over the one that came.
    boolean isToldEnd = told == end || told == request.range().end();
    if (start != request.range().start() || end <= start || !isToldEnd) {
      throw rejected(request, "Content-Range " + head.contentRange());
    }
    if (head.contentLength() >= 0 && head.contentLength() != end - start) {
      throw rejected(request, "Content-Length " + head.contentLength());
    }
    return new ByteRange(start, end);
  }

  private static IOException rejected(GetRequest request, String why) {
    return new IOException(
        "Answer to GET " + request.range() + " of " + request.object() + " not accepted: " + why);
  }
}
