package io.s3e.bench.server;

import io.s3e.bench.process.ControlLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** Runs a {@link ShapedS3Server} as a process of its own, on the orders of a parent. */
public final class ServerProcess {

  /** Name of the command that takes {@link Start} and answers with the endpoint. */
  public static final String START = "start";

  /** Name of the command that answers with {@link ServerStats}. */
  public static final String STATS = "stats";

  /**
   * What to start.
   *
   * @param root directory of the objects; created if need be
   * @param bucket bucket that shall exist
   * @param accessKey the one identity
   * @param secretKey its secret
   * @param timeToFirstByteMillis see {@link Shape}
   * @param bytesPerSecond see {@link Shape}
   */
  public record Start(
      String root,
      String bucket,
      String accessKey,
      String secretKey,
      long timeToFirstByteMillis,
      long bytesPerSecond) {}

  private ServerProcess() {}

  /** Serves the parent's commands until the parent is gone. */
  public static void main(String[] args) throws InterruptedException {
    ControlLoop loop = new ControlLoop();
    ShapedS3Server[] server = new ShapedS3Server[1];
    loop.serve(
        Map.of(
            START,
            body -> {
              server[0] = start(loop.parse(body, Start.class));
              return server[0].endpoint().toString();
            },
            STATS,
            body -> server[0].stats()));
  }

  private static ShapedS3Server start(Start start) throws IOException {
    Path root = Path.of(start.root());
    // A bucket is a directory of the store.
    Files.createDirectories(root.resolve(start.bucket()));
    Shape shape =
        new Shape(Duration.ofMillis(start.timeToFirstByteMillis()), start.bytesPerSecond());
    return ShapedS3Server.start(
        new ShapedS3Server.Settings(root, 0, start.accessKey(), start.secretKey(), shape));
  }
}
