// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static io.s3e.testing.Eventually.awaitTrue;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.given.SdkCredentials;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.testing.GetLines;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.S3ProxyServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** A hostile server, an engine over one of the clients that reads from it, and its readers. */
final class EngineOverServer implements AutoCloseable {
  static final int BLOCK = 64 << 10;
  private static final int REQUEST = 2 * BLOCK;
  private static final int LONG_REQUEST = 64 * BLOCK;
  private static final long READERS_SECONDS = 150;

  final HostileS3Server server;
  final GetLines lines = new GetLines();
  final S3E engine;
  private final EveryClient client;
  private final AwsClientSettings settings;
  private final MemoryBudget budget = new MemoryBudget(64L << 20);

  EngineOverServer(EveryClient client, Duration readTimeout) throws IOException {
    this(client, readTimeout, credentials());
  }

  /** With GETs of some blocks where the client copies, and of many where it lends. */
  static EngineOverServer withLongGets(EveryClient client, Duration readTimeout)
      throws IOException {
    return new EngineOverServer(client, readTimeout, credentials(), LONG_REQUEST);
  }

  private static AwsCredentialsProvider credentials() {
    return StaticCredentialsProvider.create(AwsBasicCredentials.create("access", "secret"));
  }

  EngineOverServer(EveryClient client, Duration readTimeout, AwsCredentialsProvider credentials)
      throws IOException {
    this(client, readTimeout, credentials, REQUEST);
  }

  private EngineOverServer(
      EveryClient client,
      Duration readTimeout,
      AwsCredentialsProvider credentials,
      int requestBytes)
      throws IOException {
    server = HostileS3Server.start();
    this.client = client;
    this.settings =
        AwsClientSettings.builder()
            .endpoint(server.endpoint())
            .region(S3ProxyServer.REGION)
            .pathStyle(true)
            .credentials(new SdkCredentials(credentials))
            .connectTimeout(Duration.ofSeconds(2))
            .requestTimeout(Duration.ofSeconds(20))
            .stallTimeout(Duration.ofSeconds(2))
            .build();
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder()
            .blockBytes(BLOCK)
            .requestBytes(requestBytes)
            .retryBase(Duration.ofMillis(1))
            .readTimeout(readTimeout)
            .explain(lines.config())
            .build();
    engine = S3E.create(config, budget, memory -> client.open(settings, memory));
  }

  /** One more tenant of the engine, with a client of its own. */
  S3E another() {
    return S3E.create(engine.config(), budget, memory -> client.open(settings, memory));
  }

  /** Runs so many readers at once, by their numbers, to the end; throws what one of them does. */
  void run(int readers, Reader reader) throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < readers; i++) {
        int number = i;
        Callable<Void> task =
            () -> {
              reader.run(number);
              return null;
            };
        running.add(threads.submit(task));
      }
      for (Future<?> one : running) {
        one.get(READERS_SECONDS, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** What one thread does. */
  interface Reader {
    void run(int number) throws Exception;
  }

  @Override
  public void close() throws IOException, InterruptedException {
    engine.close();
    server.close();
    EngineMetrics metrics = engine.metrics();
    // A thread of a client may still be about to hand over what nobody wants any more.
    awaitTrue(
        "bytes were used or wasted",
        () ->
            metrics.get(Counter.USED_BYTES) + metrics.get(Counter.WASTED_BYTES)
                == metrics.get(Counter.FETCHED_BYTES));
    awaitTrue("no bytes are reserved", () -> budget.reserved() == 0);
  }
}
