// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.bench.process.ChildJvm;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Checks the server against its own settings: what it gives to the cheapest client beside what
 * these settings promise, shaped and unshaped, plain and TLS, and what that costs either side.
 */
public final class ServerCheck {

  /** The part of the ideal that the server has to reach. */
  public static final double ENOUGH = 0.95;

  /** Share of the machine's processor time at which nothing is left to be had. */
  private static final double PROCESSORS_FULL = 0.9;

  private static final String BUCKET = "check";
  private static final String KEY = "object";
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final AwsBasicCredentials CREDENTIALS = AwsBasicCredentials.create("check", "it");

  /** Enough for the compiler to have seen all of the server, TLS's cipher above all. */
  private static final int WARM_UP_CONNECTIONS = 4;

  /**
   * The checks to do.
   *
   * @param shape what the server is set to; it is also checked without any
   * @param connections numbers of connections to try, in this order
   * @param requestBytes length of a ranged GET
   * @param objectBytes length of the object that is read
   * @param seconds how long a line shall take at the ideal rate; one request a connection at least
   * @param warmUpBytes how much to read from each server before the first line
   */
  public record Plan(
      Shape shape,
      List<Integer> connections,
      long requestBytes,
      long objectBytes,
      double seconds,
      long warmUpBytes) {

    /** The check of a shape as the command makes it: 1, 4, 16 and 32 connections, 8 MiB GETs. */
    public static Plan of(Shape shape) {
      return new Plan(shape, List.of(1, 4, 16, 32), 8 << 20, 64 << 20, 3, 4L << 30);
    }
  }

  /**
   * One line.
   *
   * @param tls whether by TLS
   * @param shape what the server was set to
   * @param connections how many at once
   * @param bytes bodies read
   * @param nanos time from the first request to the last byte
   * @param idealBytesPerSecond what the shape promises; infinite where it promises nothing
   * @param serverCpuNanos processor time of the server's process; -1 when it cannot tell
   * @param clientCpuNanos processor time of the client's process; -1 when it cannot tell
   */
  public record Line(
      boolean tls,
      Shape shape,
      int connections,
      long bytes,
      long nanos,
      double idealBytesPerSecond,
      long serverCpuNanos,
      long clientCpuNanos) {

    /** Bytes a second that were read. */
    public double bytesPerSecond() {
      return bytes * 1e9 / nanos;
    }

    /** Share of the ideal that was read; 0 where there is no ideal. */
    public double ratio() {
      return bytesPerSecond() / idealBytesPerSecond;
    }

    /** Whether server and client together left the machine nothing that could have made more. */
    public boolean isLimitedByProcessors() {
      double available = (double) nanos * Runtime.getRuntime().availableProcessors();
      return serverCpuNanos + clientCpuNanos >= PROCESSORS_FULL * available;
    }

    /** Whether it is as good as it has to be, or as it can be on this machine. */
    public boolean isEnough() {
      return Double.isInfinite(idealBytesPerSecond) || ratio() >= ENOUGH || isLimitedByProcessors();
    }

    /** Names of the columns of {@link #text}. */
    public static String heading() {
      return "wire   shape     connections  ideal MB/s  MB/s  ratio"
          + "  server CPU s/GB  client CPU s/GB  limit";
    }

    /** The line for people. */
    public String text() {
      boolean ideal = Double.isFinite(idealBytesPerSecond);
      String limit = isLimitedByProcessors() ? "processors" : ideal ? "shape" : "";
      return String.format(
          Locale.ROOT,
          "%-5s  %-8s  %11d  %10s  %4.0f  %5s  %15s  %15s  %s",
          tls ? "TLS" : "plain",
          shape.equals(Shape.UNSHAPED) ? "unshaped" : "shaped",
          connections,
          ideal ? String.format(Locale.ROOT, "%.0f", idealBytesPerSecond / 1e6) : "",
          bytesPerSecond() / 1e6,
          ideal ? String.format(Locale.ROOT, "%.3f", ratio()) : "",
          secondsPerGigabyte(serverCpuNanos),
          secondsPerGigabyte(clientCpuNanos),
          limit);
    }

    private String secondsPerGigabyte(long cpuNanos) {
      return cpuNanos < 0 ? "n/a" : String.format(Locale.ROOT, "%.3f", (double) cpuNanos / bytes);
    }
  }

  private final Plan plan;
  private final Path directory;

  /**
   * @param directory where object, certificate and log go; it must exist
   */
  public ServerCheck(Plan plan, Path directory) {
    this.plan = plan;
    this.directory = directory;
  }

  /** Runs the check; tells each line as soon as it is there. */
  public List<Line> run(Consumer<Line> told) throws IOException, InterruptedException {
    List<Line> lines = new ArrayList<>();
    for (boolean tls : new boolean[] {false, true}) {
      for (Shape shape : List.of(plan.shape(), Shape.UNSHAPED)) {
        lines.addAll(check(shape, tls, told));
      }
    }
    return lines;
  }

  private List<Line> check(Shape shape, boolean tls, Consumer<Line> told)
      throws IOException, InterruptedException {
    Path own = Files.createTempDirectory(directory, tls ? "tls-" : "plain-");
    ChildJvm server =
        ChildJvm.start(
            "the S3 server",
            ServerProcess.class,
            ServerProcess.jvmOptions(),
            own.resolve("server.log"));
    try (server) {
      ServerProcess.Start start =
          new ServerProcess.Start(
              own.resolve("objects").toString(),
              BUCKET,
              CREDENTIALS.accessKeyId(),
              CREDENTIALS.secretAccessKey(),
              shape,
              tls ? own.resolve("tls").toString() : null,
              null,
              List.of(),
              null,
              null);
      ServerProcess.Started started =
          server.call(ServerProcess.START, start, PATIENCE, ServerProcess.Started.class);
      write(URI.create(started.backEndpoint()));
      CheckClient client =
          new CheckClient(
              URI.create(started.endpoint()),
              '/' + BUCKET + '/' + KEY,
              plan.objectBytes(),
              CREDENTIALS,
              started.certificate());
      int warmUps = requests(plan.warmUpBytes() / WARM_UP_CONNECTIONS);
      client.read(WARM_UP_CONNECTIONS, warmUps, plan.requestBytes());
      List<Line> lines = new ArrayList<>();
      for (int connections : plan.connections()) {
        Line line = measure(server, client, shape, tls, connections);
        lines.add(line);
        told.accept(line);
      }
      server.call(ServerProcess.STOP, null, PATIENCE, JsonNode.class);
      return lines;
    }
  }

  private int requests(double bytesOfOneConnection) {
    return (int) Math.max(1, Math.round(bytesOfOneConnection / plan.requestBytes()));
  }

  private void write(URI endpoint) {
    try (S3Client s3 =
        S3Client.builder()
            .endpointOverride(endpoint)
            .region(Region.US_EAST_1)
            .forcePathStyle(true)
            .httpClientBuilder(ApacheHttpClient.builder())
            .credentialsProvider(StaticCredentialsProvider.create(CREDENTIALS))
            .build()) {
      RequestBody body = RequestBody.fromBytes(new byte[Math.toIntExact(plan.objectBytes())]);
      s3.putObject(put -> put.bucket(BUCKET).key(KEY), body);
    }
  }

  private Line measure(
      ChildJvm server, CheckClient client, Shape shape, boolean tls, int connections)
      throws IOException, InterruptedException {
    double ideal = idealBytesPerSecond(shape, connections, plan.requestBytes());
    double assumed = Double.isInfinite(ideal) ? 1e9 : ideal;
    int requests = requests(assumed * plan.seconds() / connections);
    long clientCpu = ServerStats.processCpuNanos();
    ServerStats before = server.call(ServerProcess.STATS, null, PATIENCE, ServerStats.class);
    long nanos = client.read(connections, requests, plan.requestBytes());
    ServerStats after = server.call(ServerProcess.STATS, null, PATIENCE, ServerStats.class);
    clientCpu = clientCpu < 0 ? -1 : ServerStats.processCpuNanos() - clientCpu;
    long bytes = plan.requestBytes() * requests * connections;
    return new Line(
        tls, shape, connections, bytes, nanos, ideal, after.since(before).cpuNanos(), clientCpu);
  }

  /**
   * The rate of connections that ask for the next range as soon as they have the last. Infinite
   * when nothing is limited.
   */
  static double idealBytesPerSecond(Shape shape, int connections, long requestBytes) {
    FirstByteTime first = shape.firstByte();
    double wait =
        first.baseNanos()
            * (1 + first.tailProbability() * (first.tailFactor() - 1))
            / TimeUnit.SECONDS.toNanos(1);
    double transfer =
        shape.bytesPerSecond() == 0 ? 0 : (double) requestBytes / shape.bytesPerSecond();
    double all = connections * requestBytes / (wait + transfer);
    return shape.totalBytesPerSecond() == 0 ? all : Math.min(all, shape.totalBytesPerSecond());
  }
}
