// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Slow
class ServerCheckTest {

  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  @TempDir private Path temp;

  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void everyWireAndShapeIsReadByAsManyConnectionsAsAsked() throws Exception {
    Shape shape = new Shape(FirstByteTime.constant(MILLI), 500_000_000, 0);
    ServerCheck.Plan plan =
        new ServerCheck.Plan(shape, List.of(1, 3), 300_000, 1_000_000, 0.001, 1);
    List<ServerCheck.Line> told = new ArrayList<>();
    List<ServerCheck.Line> lines = new ServerCheck(plan, temp).run(told::add);

    assertThat(told).isEqualTo(lines);
    assertThat(lines)
        .extracting(
            line -> line.tls() + " " + line.shape().equals(shape) + " " + line.connections())
        .containsExactly(
            "false true 1",
            "false true 3",
            "false false 1",
            "false false 3",
            "true true 1",
            "true true 3",
            "true false 1",
            "true false 3");
    assertThat(lines)
        .allSatisfy(
            line -> {
              assertThat(line.bytes()).isPositive();
              assertThat(line.bytes() % (300_000L * line.connections())).isZero();
              assertThat(line.nanos()).isPositive();
              assertThat(line.serverCpuNanos()).isNotNegative();
              assertThat(line.text()).startsWith(line.tls() ? "TLS" : "plain");
            });
    assertThat(lines.get(2).isEnough()).as("nothing was promised").isTrue();
  }

  @Test
  void tooSlowIsToldUnlessTheProcessorsWereFull() {
    Shape shape = new Shape(FirstByteTime.constant(30 * MILLI), 60_000_000, 0);
    ServerCheck.Line slow =
        new ServerCheck.Line(true, shape, 1, 90_000_000, 1000 * MILLI, 100e6, MILLI, MILLI);
    ServerCheck.Line busy =
        new ServerCheck.Line(
            true, shape, 1, 90_000_000, MILLI, 100e15, 1_000_000 * MILLI, 1_000_000 * MILLI);

    assertThat(slow.ratio()).isCloseTo(0.9, Offset.offset(1e-9));
    assertThat(slow.isEnough()).isFalse();
    assertThat(slow.text()).contains("0.900").endsWith("shape");
    assertThat(busy.isEnough()).isTrue();
    assertThat(busy.text()).endsWith("processors");
  }

  @Test
  void idealFollowsFromTheShape() {
    Shape shape = new Shape(FirstByteTime.constant(30 * MILLI), 60_000_000, 0);
    Shape tail = new Shape(new FirstByteTime(30 * MILLI, 5 * MILLI, 0.1, 11, 1), 60_000_000, 0);
    Shape total = new Shape(FirstByteTime.constant(30 * MILLI), 60_000_000, 100_000_000);

    assertThat(ServerCheck.idealBytesPerSecond(shape, 4, 1_800_000))
        .isCloseTo(4 * 30e6, Offset.offset(1.0));
    assertThat(ServerCheck.idealBytesPerSecond(tail, 1, 1_800_000))
        .isCloseTo(20e6, Offset.offset(1.0));
    assertThat(ServerCheck.idealBytesPerSecond(total, 16, 1_800_000)).isEqualTo(100e6);
    assertThat(ServerCheck.idealBytesPerSecond(Shape.UNSHAPED, 16, 1_800_000)).isInfinite();
  }
}
