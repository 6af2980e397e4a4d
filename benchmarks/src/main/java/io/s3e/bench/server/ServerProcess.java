// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.bench.process.ControlLoop;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs a {@link ShapedS3Server} as a process of its own, on the orders of a parent. */
public final class ServerProcess {

  /** Name of the command that takes {@link Start} and answers with {@link Started}. */
  public static final String START = "start";

  /** Name of the command that answers with {@link ServerStats}. */
  public static final String STATS = "stats";

  /** Name of the command that closes the server and with it the file of requests. */
  public static final String STOP = "stop";

  /**
   * The server to start.
   *
   * @param root directory of the objects; created if need be
   * @param bucket bucket that shall exist
   * @param accessKey the one identity
   * @param secretKey its secret
   * @param shape pace of the answers to reads
   * @param certificateDirectory where the server makes itself a certificate for TLS; created if
   *     need be; null for plain HTTP
   * @param requestLog file that takes a line of every request; null for none
   * @param aliases more buckets, each of which shows the objects of {@code bucket} as its own
   * @param hangingBucket one of the aliases, whose object GETs are never answered; null for none
   * @param refusing see {@link ShapedS3Server.Settings#refusing}
   */
  public record Start(
      String root,
      String bucket,
      String accessKey,
      String secretKey,
      Shape shape,
      @Nullable String certificateDirectory,
      @Nullable String requestLog,
      List<String> aliases,
      @Nullable String hangingBucket,
      @Nullable String refusing) {}

  /**
   * The server that was started.
   *
   * @param endpoint see {@link ShapedS3Server#endpoint}
   * @param backEndpoint see {@link ShapedS3Server#backEndpoint}
   * @param certificate what clients have to trust; null for plain HTTP
   */
  public record Started(
      String endpoint, String backEndpoint, @Nullable SelfSignedCertificate certificate) {}

  private final ControlLoop loop;
  private @Nullable ShapedS3Server server;

  private ServerProcess(ControlLoop loop) {
    this.loop = loop;
  }

  /**
   * Options that suit this process: a heap for some hundred connections, and a collector without
   * threads of its own, for this process shares the processors with the clients it serves. A parent
   * without the second compiler lives too briefly for it, and so does this process.
   */
  public static List<String> jvmOptions() {
    return Stream.concat(
            Stream.of("-Xmx512m", "-XX:+UseSerialGC"),
            ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> option.startsWith("-XX:TieredStopAtLevel=")))
        .toList();
  }

  /** Serves the parent's commands until the parent is gone. */
  public static void main(String[] args) throws InterruptedException {
    ControlLoop loop = new ControlLoop();
    ServerProcess process = new ServerProcess(loop);
    loop.serve(
        Map.of(
            START,
            process::start,
            STATS,
            body -> process.running().stats(),
            STOP,
            body -> process.stop()));
  }

  private ShapedS3Server running() {
    if (server == null) {
      throw new IllegalStateException("No server was started");
    }
    return server;
  }

  private Started start(JsonNode body) throws IOException, InterruptedException {
    Start start = loop.parse(body, Start.class);
    Path root = Path.of(start.root());
    // A bucket is a directory of the store.
    Files.createDirectories(root.resolve(start.bucket()));
    for (String alias : start.aliases()) {
      Files.createSymbolicLink(root.resolve(alias), Path.of(start.bucket()));
    }
    SelfSignedCertificate certificate = null;
    if (start.certificateDirectory() != null) {
      certificate =
          SelfSignedCertificate.create(
              Files.createDirectories(Path.of(start.certificateDirectory())));
    }
    Path requestLog = start.requestLog() == null ? null : Path.of(start.requestLog());
    server =
        ShapedS3Server.start(
            new ShapedS3Server.Settings(
                root,
                0,
                start.accessKey(),
                start.secretKey(),
                start.shape(),
                certificate,
                requestLog,
                start.hangingBucket(),
                start.refusing()));
    return new Started(server.endpoint().toString(), server.backEndpoint().toString(), certificate);
  }

  private @Nullable Object stop() throws IOException {
    running().close();
    return null;
  }
}
