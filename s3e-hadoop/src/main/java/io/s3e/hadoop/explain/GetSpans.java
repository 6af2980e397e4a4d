// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.explain;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.s3e.fetch.GetRecord;
import io.s3e.fetch.GetSink;
import io.s3e.version.Version;
import java.time.Instant;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The GETs of one engine as spans of OpenTelemetry, by its conventions for clients of S3; what they
 * have no name for begins with {@code s3e}. The application's SDK samples and exports.
 *
 * <p>A span has the times of its GET, and is made when the GET is settled, which may be long after
 * its end. It is the root of a trace, since a GET serves readers of several. A GET that did not go
 * out has none, nor has one that is under way when the engine ends, or is settled before the
 * application has registered its SDK.
 *
 * <p>Any thread. Nothing that the SDK throws reaches a reader.
 */
public final class GetSpans implements GetSink {
  private static final Logger LOG = LoggerFactory.getLogger(GetSpans.class);
  private static final double NANOS_PER_MILLI = 1e6;

  /** Null until the application has registered its SDK. */
  private volatile @Nullable Tracer tracer;

  private GetSpans() {}

  /** Makes the spans of an engine by the application's OpenTelemetry. */
  public record OfApplication() implements Supplier<GetSink> {
    /** Whether the API is there; no class of it is loaded where it is not asked for. */
    public static boolean isPossible() {
      try {
        Class.forName(
            "io.opentelemetry.api.GlobalOpenTelemetry",
            false,
            OfApplication.class.getClassLoader());
        return true;
      } catch (ClassNotFoundException | LinkageError e) {
        return false;
      }
    }

    @Override
    public GetSink get() {
      return new GetSpans();
    }

    /** As a user says it. */
    @Override
    public String toString() {
      return "spans";
    }
  }

  @Override
  public void take(GetRecord get) {
    if (get.hasEnded() && get.timesSent() > 0) {
      try {
        Tracer known = tracer();
        if (known != null) {
          tell(get, known);
        }
      } catch (RuntimeException | LinkageError e) {
        LOG.debug("No span of {}", get, e);
      }
    }
  }

  /** To ask for one earlier would register an SDK that does nothing, for good. */
  private @Nullable Tracer tracer() {
    Tracer known = tracer;
    if (known == null && isRegistered()) {
      known = GlobalOpenTelemetry.getTracer("io.s3e", Version.text());
      tracer = known;
    }
    return known;
  }

  /**
   * Whether there is an SDK, or the first who asks is to make one, by OpenTelemetry's own setting.
   */
  private static boolean isRegistered() {
    try {
      return GlobalOpenTelemetry.isSet()
          || Boolean.getBoolean("otel.java.global-autoconfigure.enabled")
          || Boolean.parseBoolean(System.getenv("OTEL_JAVA_GLOBAL_AUTOCONFIGURE_ENABLED"));
    } catch (NoSuchMethodError e) {
      // An older one that nobody can ask.
      return true;
    }
  }

  private static void tell(GetRecord get, Tracer tracer) {
    String json = get.json();
    Instant start = Instant.parse(String.valueOf(text(json, "time")));
    Span span =
        tracer
            .spanBuilder("S3.GetObject")
            .setNoParent()
            .setSpanKind(SpanKind.CLIENT)
            .setStartTimestamp(start)
            .setAttribute("rpc.system", "aws-api")
            .setAttribute("rpc.service", "S3")
            .setAttribute("rpc.method", "GetObject")
            .setAttribute("aws.s3.bucket", get.object().bucket())
            .setAttribute("aws.s3.key", get.object().key())
            .startSpan();
    if (span.isRecording()) {
      put(span, "aws.request_id", text(json, "requestId"));
      put(span, "s3e.label", text(json, "label"));
      put(span, "s3e.reason", get.reason().name());
      put(span, "s3e.state", get.state().name());
      span.setAttribute("s3e.start", get.range().start());
      span.setAttribute("s3e.end", get.range().end());
      span.setAttribute("s3e.sent", get.timesSent());
      span.setAttribute("s3e.received", get.received());
      span.setAttribute("s3e.used", get.used());
      span.setAttribute("s3e.wasted", get.wasted());
      if (get.state() == GetRecord.State.FAILED) {
        String failure = text(json, "failure");
        put(span, "error.type", "_OTHER");
        span.setStatus(StatusCode.ERROR, failure == null ? "" : failure);
      }
    }
    Matcher took = Pattern.compile("\"tookMillis\":([0-9.E-]+)").matcher(json);
    double millis = took.find() ? Double.parseDouble(took.group(1)) : 0;
    span.end(start.plusNanos(Math.round(millis * NANOS_PER_MILLI)));
  }

  private static void put(Span span, String name, @Nullable String value) {
    if (value != null) {
      span.setAttribute(name, value);
    }
  }

  /** A text of the record's JSON; null if it is not told. Quotes within a value are escaped. */
  static @Nullable String text(String json, String name) {
    String start = '"' + name + "\":\"";
    int from = json.indexOf(start) + start.length();
    if (from < start.length()) {
      return null;
    }
    // By hand: an expression that knows escapes takes a frame of the stack for each character.
    int end = from;
    while (json.charAt(end) != '"') {
      end += json.charAt(end) == '\\' ? 2 : 1;
    }
    return json.substring(from, end).replaceAll("\\\\([\"\\\\])", "$1");
  }

  @Override
  public void close() {}
}
