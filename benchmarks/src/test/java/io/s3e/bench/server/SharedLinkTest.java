// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Connections that always have something to send, on a clock that the test moves. */
class SharedLinkTest {

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final int CHUNK = 256 * 1024;

  private record Turn(int connection, long atNanos, boolean ownPaceOver) {}

  /** Bytes that each connection sent within ten seconds. */
  private static long[] simulate(long totalBytesPerSecond, long... bytesPerSecond) {
    SharedLink link = new SharedLink(totalBytesPerSecond, 0);
    Pacer[] pacers =
        Arrays.stream(bytesPerSecond)
            .mapToObj(rate -> new Pacer(rate, ShapedWriter.CATCH_UP_NANOS, 0))
            .toArray(Pacer[]::new);
    long[] sent = new long[bytesPerSecond.length];
    PriorityQueue<Turn> turns = new PriorityQueue<>(Comparator.comparingLong(Turn::atNanos));
    IntStream.range(0, sent.length).forEach(i -> turns.add(new Turn(i, 0, false)));
    for (Turn turn = turns.remove(); turn.atNanos() < 10 * SECOND; turn = turns.remove()) {
      int i = turn.connection();
      long now = turn.atNanos();
      long delay =
          turn.ownPaceOver() ? link.delayBefore(CHUNK, now) : pacers[i].delayBefore(CHUNK, now);
      long then = now + Math.max(0, delay);
      if (turn.ownPaceOver() && then < 10 * SECOND) {
        sent[i] += CHUNK;
      }
      turns.add(new Turn(i, then, !turn.ownPaceOver()));
    }
    return sent;
  }

  @Test
  void equalConnectionsGetEqualShares() {
    long[] sent = simulate(100_000_000, 60_000_000, 60_000_000, 60_000_000, 60_000_000);

    assertThat(Arrays.stream(sent).sum()).isBetween(998_000_000L, 1_001_000_000L);
    for (long bytes : sent) {
      assertThat(bytes).isBetween(250_000_000L - 2 * CHUNK, 250_000_000L + 2 * CHUNK);
    }
  }

  @Test
  void whatASlowConnectionLeavesGoesToTheOthers() {
    long[] sent = simulate(100_000_000, 10_000_000, 0, 0);

    assertThat(sent[0]).isBetween(97_000_000L, 101_000_000L);
    assertThat(Arrays.stream(sent).sum()).isBetween(998_000_000L, 1_001_000_000L);
    assertThat(Math.abs(sent[1] - sent[2])).isLessThanOrEqualTo(2 * CHUNK);
  }

  @Test
  void aLinkWiderThanAllItsConnectionsChangesNothing() {
    long[] sent = simulate(1_000_000_000, 60_000_000, 30_000_000);

    assertThat(sent[0]).isBetween(599_000_000L, 601_000_000L);
    assertThat(sent[1]).isBetween(299_000_000L, 301_000_000L);
  }

  @Test
  void anIdleLinkSavesUpLittle() {
    SharedLink link = new SharedLink(100_000_000, 0);

    assertThat(link.delayBefore(10_000_000, 60 * SECOND)).isBetween(SECOND / 100 * 9, SECOND / 10);
  }
}
