// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.cli.CommandRig.Outcome;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The question for size and version survives what the reads after it do. */
@Slow
@Timeout(60)
class StatedHeadTest {
  private static final String URI = "s3a://bucket/key";
  private static final byte[] BYTES = {1, 2, 3};

  private HostileS3Server server;
  private CommandRig rig;

  @BeforeEach
  void open() throws IOException {
    server = HostileS3Server.start();
    server.put(new ObjectRef("bucket", "key"), BYTES);
    rig = new CommandRig(server.endpoint());
  }

  @AfterEach
  void close() throws IOException {
    rig.close();
    server.close();
  }

  private void firstHeads(int count, Fault fault) {
    AtomicInteger left = new AtomicInteger(count);
    server.decideAll(
        request ->
            request.method().equals("HEAD") && left.getAndDecrement() > 0 ? fault : Fault.none());
  }

  @Test
  void aStoreThatAsksToSlowDownIsAskedAgain() throws IOException {
    firstHeads(2, Fault.status(503, "SlowDown"));

    Outcome get = rig.run("get", "--discard", URI, "--json");

    assertThat(get.code()).as(get.err()).isZero();
    // The CRT may have sent one again before it told of the first.
    assertThat(get.json().get("requests").asLong()).isBetween(3L, (long) server.requests().size());
    assertThat(get.json().get("retries").asLong()).isBetween(1L, 2L);
  }

  @Test
  void aConnectionThatBreaksIsMadeAgain() {
    firstHeads(1, Fault.resetAtOnce());

    Outcome cat = rig.run("cat", URI);

    assertThat(cat.out()).as(cat.err()).isEqualTo(BYTES);
  }

  @Test
  void aClockThatIsOffIsSet() {
    server.clock(Duration.ofHours(2));

    Outcome cat = rig.run("cat", URI);

    assertThat(cat.out()).as(cat.err()).isEqualTo(BYTES);
  }

  @Test
  void aRefusalThatStaysIsToldAtOnce() {
    firstHeads(1_000, Fault.status(403, "AccessDenied"));

    Outcome cat = rig.run("cat", URI);

    assertThat(cat.code()).isEqualTo(1);
    assertThat(cat.err()).contains("access denied", "HTTP 403");
    assertThat(server.requests().size()).isLessThanOrEqualTo(2);
  }

  @Test
  void aStoreThatIsNotThereIsToldSoon() throws IOException {
    try (CommandRig refused = new CommandRig(HostileS3Server.refusingEndpoint())) {
      long start = System.nanoTime();
      Outcome cat = refused.run("cat", URI);

      assertThat(cat.code()).isEqualTo(1);
      assertThat(cat.err()).hasLineCount(1).contains("cannot be reached", "--endpoint");
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    }
  }
}
