package io.s3e.fetch;

import io.s3e.client.GetRequest;
import io.s3e.client.ResponseHead;
import java.io.IOException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the head of an answer must say before a byte of its body is taken: status 206, no
 * Content-Encoding but the one that the object is stored with, a Content-Range that starts and ends
 * where asked with a known total length, a Content-Length that agrees, and the ETag that the stream
 * was opened on. That the body then has exactly these bytes is counted by {@link RunFetch}. Pure.
 */
final class ResponseCheck {
  private static final Pattern CONTENT_RANGE =
      Pattern.compile("bytes\\s+(\\d{1,18})-(\\d{1,18})/(\\d{1,18})", Pattern.CASE_INSENSITIVE);

  private ResponseCheck() {}

  /**
   * @throws ObjectChangedException if the ETag is another one
   * @throws ObjectTruncatedException if the object ends before the range does
   * @throws EncodedBodyException if there is an encoding that the object is not known to have
   * @throws IOException if the answer is not the one to this request; sending it again may help
   */
  static void check(GetRequest request, ResponseHead head, ObjectHandle handle) throws IOException {
    if (head.status() != 206) {
      throw rejected(request, "status " + head.status() + " instead of 206");
    }
    String encoding = head.contentEncoding();
    if (encoding != null && !isTransparent(encoding) && !handle.isStoredAs(encoding)) {
      throw new EncodedBodyException(
          "Answer to GET " + request.range() + " has Content-Encoding " + encoding, encoding);
    }
    checkRange(request, head, handle);
    String etag = head.etag();
    if (etag == null ? handle.etag() != null : !handle.learnEtag(etag)) {
      throw new ObjectChangedException(
          "Object changed while it was read: "
              + handle.version().object()
              + " was opened with ETag "
              + handle.etag()
              + " and now has "
              + etag,
          null);
    }
  }

  /** {@code aws-chunked} is left over from uploads and says nothing about the stored bytes. */
  private static boolean isTransparent(String encoding) {
    String value = encoding.trim().toLowerCase(Locale.ROOT);
    return value.isEmpty() || value.equals("identity") || value.equals("aws-chunked");
  }

  private static void checkRange(GetRequest request, ResponseHead head, ObjectHandle handle)
      throws IOException {
    String contentRange = head.contentRange();
    Matcher matcher = contentRange == null ? null : CONTENT_RANGE.matcher(contentRange.trim());
    if (matcher == null || !matcher.matches()) {
      throw rejected(request, "Content-Range " + contentRange);
    }
    long start = Long.parseLong(matcher.group(1));
    long end = Long.parseLong(matcher.group(2)) + 1;
    long total = Long.parseLong(matcher.group(3));
    if (total < request.range().end()) {
      throw new ObjectTruncatedException(
          handle.version().object()
              + " has "
              + total
              + " bytes, fewer than the "
              + handle.layout().objectSize()
              + " it was opened with",
          total,
          null);
    }
    if (start != request.range().start() || end != request.range().end()) {
      throw rejected(request, "Content-Range " + contentRange);
    }
    if (head.contentLength() >= 0 && head.contentLength() != request.range().length()) {
      throw rejected(request, "Content-Length " + head.contentLength());
    }
  }

  private static IOException rejected(GetRequest request, @Nullable String why) {
    return new IOException(
        "Answer to GET " + request.range() + " of " + request.object() + " not accepted: " + why);
  }
}
