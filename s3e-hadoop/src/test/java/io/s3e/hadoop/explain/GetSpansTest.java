// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.Fault;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each GET that went out is a span, as far as the application's SDK samples it. */
@Timeout(120)
class GetSpansTest {
  private static final byte[] CONTENT = MemoryObjectClient.bytes(3 << 20, 5);
  private static final String SPAN = "span ";

  /**
   * Reads a file with an SDK that samples all or nothing, and prints what that has exported. Where
   * it is late, another file is read before it is registered.
   */
  static final class Reader {
    private Reader() {}

    public static void main(String[] args) throws Exception {
      InMemorySpanExporter exporter = InMemorySpanExporter.create();
      boolean isLate = args[1].equals("late");
      if (!isLate) {
        register(exporter, args[1].equals("sampled") ? Sampler.alwaysOn() : Sampler.alwaysOff());
      }
      Configuration conf = S3AReads.small(S3AServer.s3e(URI.create(args[0])));
      conf.set("fs.s3a.s3e.explain", args[2]);
      try (FileSystem files = S3AReads.open(conf)) {
        if (isLate) {
          read(files, "/early");
          register(exporter, Sampler.alwaysOn());
        }
        read(files, "/spans");
      }
      exporter.getFinishedSpanItems().forEach(span -> System.out.println(SPAN + text(span)));
    }

    /** Throws if anybody has asked for a global one before. */
    private static void register(InMemorySpanExporter exporter, Sampler sampler) {
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .setSampler(sampler)
                  .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                  .build())
          .buildAndRegisterGlobal();
    }

    private static void read(FileSystem files, String path) throws IOException {
      try (FSDataInputStream in = files.open(new Path(path))) {
        assertArrayEquals(CONTENT, in.readAllBytes());
        assertThat(Span.current().getSpanContext().isValid()).isFalse();
      }
    }

    private static String text(SpanData span) {
      assertThat(span.getStartEpochNanos()).isPositive().isLessThan(span.getEndEpochNanos());
      List<String> parts =
          new ArrayList<>(
              List.of(
                  span.getName(),
                  span.getKind().toString(),
                  span.getParentSpanContext().isValid() ? "child" : "root",
                  span.getStatus().getStatusCode().toString(),
                  span.getInstrumentationScopeInfo().getName()));
      TreeMap<String, Object> attributes = new TreeMap<>();
      span.getAttributes().forEach((key, value) -> attributes.put(key.getKey(), value));
      attributes.forEach((key, value) -> parts.add(key + "=" + value));
      return String.join(" ", parts);
    }
  }

  /** In a JVM of its own: the engine and the SDK belong to all of a JVM. */
  private static List<String> read(HostileS3Server server, String sampling, String explain)
      throws Exception {
    server.put(new ObjectRef(S3AServer.BUCKET, "early"), CONTENT);
    server.put(new ObjectRef(S3AServer.BUCKET, "spans"), CONTENT);
    try (ForkedJvm jvm =
        ForkedJvm.of(Reader.class.getName())
            .unverified()
            .start(server.endpoint().toString(), sampling, explain)) {
      jvm.awaitEnd();
      List<String> output = jvm.rest();
      assertThat(jvm.exitCode()).as("%s", output).isZero();
      return output.stream().filter(line -> line.startsWith(SPAN)).toList();
    }
  }

  @Slow
  @Test
  void eachGetIsASpanByTheConventions() throws Exception {
    AtomicInteger gets = new AtomicInteger();
    try (HostileS3Server server = HostileS3Server.start()) {
      server.decide(
          request -> gets.incrementAndGet() == 1 ? Fault.status(503, "SlowDown") : Fault.none());
      List<String> spans = read(server, "sampled", "spans");
      assertThat(spans)
          .hasSizeGreaterThan(1)
          .allSatisfy(
              span ->
                  assertThat(span)
                      .startsWith(SPAN + "S3.GetObject CLIENT root ")
                      .contains(
                          " io.s3e aws.s3.bucket=" + S3AServer.BUCKET + " aws.s3.key=spans ",
                          " rpc.method=GetObject rpc.service=S3 rpc.system=aws-api "));
      // The CRT may have sent one again by itself.
      assertThat(spans.stream().mapToInt(GetSpansTest::timesSent).sum())
          .isEqualTo(server.gets().size());
      assertThat(spans)
          .filteredOn(span -> span.contains(" ERROR "))
          .hasSize(1)
          .first()
          .asString()
          .contains("error.type=_OTHER", "s3e.received=0", "s3e.state=FAILED");
      assertThat(spans)
          .filteredOn(span -> span.contains(" s3e.state=DONE"))
          .isNotEmpty()
          .allSatisfy(span -> assertThat(span).contains(" UNSET "));
    }
  }

  private static int timesSent(String span) {
    return Integer.parseInt(span.replaceAll(".* s3e\\.sent=(\\d+) .*", "$1"));
  }

  @Slow
  @Test
  void anApplicationMayRegisterItsSdkAfterItsFirstRead() throws Exception {
    try (HostileS3Server server = HostileS3Server.start()) {
      List<String> spans = read(server, "late", "spans");
      long sent = server.gets().stream().filter(get -> get.target().endsWith("/spans")).count();
      assertThat(
              spans.stream()
                  .filter(span -> span.contains(" aws.s3.key=spans "))
                  .mapToLong(GetSpansTest::timesSent)
                  .sum())
          .isEqualTo(sent)
          .isPositive();
    }
  }

  @Test
  void aLongTextOfARecordIsTaken() {
    String words = "it's \\\"said\\\" \\\\ \\u00e4";
    String json =
        "{\"label\":\"a \\\"failure\\\":\\\"b\",\"failure\":\"" + words.repeat(20_000) + "\"}";
    assertThat(GetSpans.text(json, "failure")).isEqualTo("it's \"said\" \\ \\u00e4".repeat(20_000));
    assertThat(GetSpans.text(json, "label")).isEqualTo("a \"failure\":\"b");
    assertThat(GetSpans.text(json, "requestId")).isNull();
  }

  @Slow
  @Test
  void noneIsMadeWhereTheSdkSamplesNoneOrNobodyAsks() throws Exception {
    try (HostileS3Server server = HostileS3Server.start()) {
      assertThat(read(server, "dropped", "spans")).isEmpty();
      assertThat(read(server, "sampled", "recent")).isEmpty();
      assertThat(server.gets()).isNotEmpty();
    }
  }
}
