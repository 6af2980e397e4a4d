// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import java.io.Serializable;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The store's answer to one request: its head and, where the store refused, its error document. The
 * same for every client.
 *
 * @param status HTTP status, 100 or more
 * @param code S3's error code, for example {@code SlowDown}; null if the answer has none
 * @param message S3's own words on one line, cut if they are long; null if the answer has none
 * @param headers of the answer, found in any case; no header appears twice
 * @param errorRegion the region that the error document names; null if it names none
 */
public record StoreAnswer(
    int status,
    @Nullable String code,
    @Nullable String message,
    Map<String, String> headers,
    @Nullable String errorRegion)
    implements Serializable {
  static final int MOST_CHARS = 1000;
  private static final String REQUEST_ID = "x-amz-request-id";
  private static final String EXTENDED_REQUEST_ID = "x-amz-id-2";

  public StoreAnswer {
    Map<String, String> anyCase = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    anyCase.putAll(headers);
    headers = Collections.unmodifiableMap(anyCase);
    code = oneLine(code);
    message = oneLine(message);
    errorRegion = oneLine(errorRegion);
  }

  /**
   * An answer with S3's XML error document, or with another body or none. Some stores name the
   * request in the document alone.
   */
  public static StoreAnswer of(int status, Map<String, String> headers, String body) {
    Map<String, String> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    all.put(REQUEST_ID, element(body, "RequestId"));
    all.put(EXTENDED_REQUEST_ID, element(body, "HostId"));
    all.values().removeIf(String::isEmpty);
    all.putAll(headers);
    return new StoreAnswer(
        status, element(body, "Code"), element(body, "Message"), all, element(body, "Region"));
  }

  /** Whether the store refused: a status below 300 begins what was asked for. */
  public boolean isRefusal() {
    return status >= 300;
  }

  /** The bucket's region as the answer names it; null if it names none. */
  public @Nullable String region() {
    String named = headers.get("x-amz-bucket-region");
    return named != null ? named : errorRegion;
  }

  /** S3's name of the request, which AWS support asks for; null if it gave none. */
  public @Nullable String requestId() {
    return oneLine(headers.get(REQUEST_ID));
  }

  /** The second half of S3's name of the request; null if it gave none. */
  public @Nullable String extendedRequestId() {
    return oneLine(headers.get(EXTENDED_REQUEST_ID));
  }

  /** The store's time as the answer was made; null if it does not tell. */
  public @Nullable Instant date() {
    String date = headers.get("Date");
    try {
      return date == null ? null : DateTimeFormatter.RFC_1123_DATE_TIME.parse(date, Instant::from);
    } catch (DateTimeParseException e) {
      return null;
    }
  }

  /** Status and S3's words, for messages: {@code 403 AccessDenied, Access Denied}. */
  String words() {
    return status + (code == null ? "" : " " + code) + (message == null ? "" : ", " + message);
  }

  /** For messages: {@code (request id A, extended id B)}; empty without ids. */
  String ids() {
    String id = requestId();
    String extended = extendedRequestId();
    if (id == null) {
      return extended == null ? "" : " (extended request id " + extended + ")";
    }
    return " (request id " + id + (extended == null ? "" : ", extended " + extended) + ")";
  }

  private static @Nullable String oneLine(@Nullable String text) {
    String cut = text == null ? "" : cut(text);
    return cut.isEmpty() ? null : cut;
  }

  /** In one line, and cut where it is long, since errors and records of GETs keep it. */
  static String cut(String text) {
    String line = text.replaceAll("\\s+", " ").trim();
    return line.length() > MOST_CHARS ? line.substring(0, MOST_CHARS) + "..." : line;
  }

  /** Text of the first element of that name in S3's flat error document; empty if there is none. */
  private static String element(String xml, String name) {
    int start = xml.indexOf("<" + name + ">");
    if (start < 0) {
      return "";
    }
    int from = start + name.length() + 2;
    int end = xml.indexOf("</" + name + ">", from);
    return end <= from ? "" : cut(xml.substring(from, end));
  }
}
