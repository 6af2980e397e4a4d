// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A program that knows nothing of S3E's spans runs under OpenTelemetry's agent: a collector gets
 * the program's own spans, those of S3A's client, which the agent makes, and S3E's.
 */
@Slow
@Tag("one-hadoop")
@Timeout(120)
class OpenTelemetryAgentTest {
  private static final byte[] CONTENT = MemoryObjectClient.bytes(3 << 20, 5);

  private final Queue<ScopeSpans> collected = new ConcurrentLinkedQueue<>();
  private HttpServer collector;

  @BeforeEach
  void collect() throws IOException {
    collector = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 50);
    collector.createContext(
        "/v1/traces",
        exchange -> {
          try (InputStream body = exchange.getRequestBody()) {
            ExportTraceServiceRequest request = ExportTraceServiceRequest.parseFrom(body);
            for (ResourceSpans spans : request.getResourceSpansList()) {
              collected.addAll(spans.getScopeSpansList());
            }
          }
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.start();
  }

  @AfterEach
  void stop() {
    collector.stop(0);
  }

  /** Names of the spans whose scope's name begins so. */
  private List<String> names(String scope) {
    return collected.stream()
        .filter(spans -> spans.getScope().getName().startsWith(scope))
        .flatMap(spans -> spans.getSpansList().stream())
        .map(span -> span.getName())
        .toList();
  }

  @Test
  void aCollectorGetsEachGetBesideTheAgentsOwnSpans() throws Exception {
    Path agent = Path.of(System.getProperty("s3e.test.readers"), "opentelemetry");
    try (HostileS3Server server = HostileS3Server.start();
        Stream<Path> jars = Files.list(agent)) {
      server.put(new ObjectRef(S3AServer.BUCKET, "spans"), CONTENT);
      ForkedJvm.Launch launch =
          ForkedJvm.of(Program.class.getName())
              .options(
                  "-javaagent:" + jars.findAny().orElseThrow(),
                  "-Dotel.exporter.otlp.endpoint=http://127.0.0.1:"
                      + collector.getAddress().getPort(),
                  "-Dotel.exporter.otlp.protocol=http/protobuf",
                  "-Dotel.metrics.exporter=none",
                  "-Dotel.logs.exporter=none",
                  "-Dotel.service.name=a-job");
      try (ForkedJvm jvm = launch.start(server.endpoint().toString())) {
        jvm.awaitEnd();
        assertThat(jvm.exitCode()).as("%s", jvm.rest()).isZero();
      }
      assertThat(names("a-program")).containsExactly("a job");
      assertThat(names("io.opentelemetry.aws-sdk")).contains("S3.HeadObject");
      // The agent sees no GET of its own: those are the CRT's.
      assertThat(names("io.opentelemetry.aws-sdk")).doesNotContain("S3.GetObject");
      assertThat(names("io.s3e"))
          .hasSameSizeAs(server.gets())
          .isNotEmpty()
          .containsOnly("S3.GetObject");
    }
  }

  /** Reads a file below a span of its own. */
  static final class Program {
    private Program() {}

    public static void main(String[] arguments) throws Exception {
      Configuration conf = S3AReads.small(S3AServer.s3e(URI.create(arguments[0])));
      conf.set("fs.s3a.s3e.explain", "spans");
      Span job = GlobalOpenTelemetry.getTracer("a-program").spanBuilder("a job").startSpan();
      try (Scope scope = job.makeCurrent();
          FileSystem files = S3AReads.open(conf);
          FSDataInputStream in = files.open(new org.apache.hadoop.fs.Path("/spans"))) {
        assertThat(scope).isNotNull();
        assertArrayEquals(CONTENT, in.readAllBytes());
      } finally {
        job.end();
      }
    }
  }
}
