// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.s3e.Engines;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.ClientMemory;
import io.s3e.client.CredentialsSource;
import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.testing.Eventually;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.RecordingHandler;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.crt.CrtResource;

/** Opening and closing the CRT client: nothing native stays behind, also of what was in flight. */
@Timeout(120)
@Slow
class CrtLifecycleTest {
  private static final ClientMemory MEMORY = new ClientMemory(16L << 20, 1 << 20, 64 << 10);
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "object");

  private HostileS3Server server;

  @BeforeEach
  void start() throws Exception {
    Engines.endIdle();
    server = HostileS3Server.start();
    server.put(OBJECT, new byte[300_000]);
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  @Test
  void nothingNativeStaysBehind() throws Exception {
    Map<String, Integer> before = nativeResources();
    for (int round = 0; round < 50; round++) {
      server.heal();
      if (round % 5 == 4) {
        server.always(Fault.stallAfter(1000));
      }
      try (ObjectClient client = open(round % 3 != 0)) {
        List<RecordingHandler> handlers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
          RecordingHandler handler = new RecordingHandler();
          client.get(request(i, client.limits().lends() && i % 2 == 0), handler);
          handlers.add(handler);
        }
        if (round % 5 < 3) {
          for (RecordingHandler handler : handlers) {
            handler.awaitDone();
          }
        }
      }
    }
    assertNothingIsLeft(before);
  }

  @Test
  void aLentBufferKeepsItsMemoryUntilItIsClosed() throws Exception {
    Map<String, Integer> before = nativeResources();
    RecordingHandler handler = new RecordingHandler().keepLent();
    try (ObjectClient client = open(true)) {
      client.get(request(0, true), handler);
      handler.awaitDone();
    }
    assertThat(handler.lent().bytes().get(999)).isZero();
    handler.lent().close();
    assertNothingIsLeft(before);
  }

  @Test
  void clientsShareTheEventLoops() throws Exception {
    try (ObjectClient one = open(true)) {
      // Those of other clients of the JVM may still be about to end.
      int withOne = nativeResources().get("EventLoopGroup");
      try (ObjectClient two = open(true)) {
        assertThat(nativeResources().get("EventLoopGroup")).isLessThanOrEqualTo(withOne);
        one.close();
        RecordingHandler handler = new RecordingHandler();
        two.get(request(0, false), handler);
        handler.awaitDone();
      }
    }
  }

  @Test
  void aClientThatCannotOpenLeavesNothingBehind() throws Exception {
    Map<String, Integer> before = nativeResources();
    AwsClientSettings broken =
        settings()
            .endpoint(java.net.URI.create("https://127.0.0.1:1"))
            .caFile(Path.of("no-such-file.pem"))
            .build();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> AwsClients.crt(broken).create(MEMORY))
        .withMessageContaining("no-such-file.pem");
    assertNothingIsLeft(before);
  }

  @Test
  void closingRacesWithStarting() throws Exception {
    for (int round = 0; round < 20; round++) {
      ObjectClient client = open(true);
      CyclicBarrier together = new CyclicBarrier(3);
      List<RecordingHandler> handlers = new ArrayList<>();
      List<Thread> starters = new ArrayList<>();
      for (int t = 0; t < 2; t++) {
        List<RecordingHandler> own = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
          own.add(new RecordingHandler());
        }
        handlers.addAll(own);
        Thread starter =
            new Thread(
                () -> {
                  await(together);
                  for (RecordingHandler handler : own) {
                    client.get(request(0, false), handler);
                  }
                });
        starter.start();
        starters.add(starter);
      }
      await(together);
      client.close();
      for (Thread starter : starters) {
        starter.join(Duration.ofSeconds(20).toMillis());
      }
      for (RecordingHandler handler : handlers) {
        handler.awaitEnd();
      }
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static GetRequest request(int start, boolean lend) {
    return new GetRequest(
        OBJECT, ByteRange.ofLength(start, 60_000), null, null, lend, Map.of(), null);
  }

  private AwsClientSettings.Builder settings() {
    return AwsClientSettings.builder()
        .endpoint(server.endpoint())
        .region("us-east-1")
        .pathStyle(true)
        .credentials(CredentialsSource.of("access", "secret"));
  }

  private ObjectClient open(boolean lend) {
    AwsClientSettings settings = settings().build();
    return lend
        ? AwsClients.crt(settings).create(MEMORY)
        : AwsClients.crtWithoutLending(settings).create(MEMORY);
  }

  /** How many native resources of each class there are. */
  private static Map<String, Integer> nativeResources() {
    Map<String, Integer> counts = new ConcurrentHashMap<>();
    CrtResource.collectNativeResource(
        resource ->
            counts.merge(resource.getWrapper().getClass().getSimpleName(), 1, Integer::sum));
    return counts;
  }

  /** The native side ends a moment after its owner, as that of an engine of before may. */
  private static void assertNothingIsLeft(Map<String, Integer> before) throws InterruptedException {
    Eventually.awaitTrue(
        "no more than " + before,
        () ->
            nativeResources().entrySet().stream()
                .allMatch(now -> now.getValue() <= before.getOrDefault(now.getKey(), 0)));
  }
}
