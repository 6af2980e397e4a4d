package io.s3e.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.fetch.SpillRule.Leaving;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class SpillRuleTest {
  private static final DiskCacheConfig DISK =
      DiskCacheConfig.DEFAULTS.toBuilder()
          .mode(Mode.DISK)
          .directories(List.of(Path.of("cache")))
          .build();

  /** A block of a scan, read in full, behind its reader, and never fetched before. */
  private static final Leaving SCANNED = new Leaving(1000, 2000, 9000, true, false, true);

  @Test
  void aScansBlocksAreWorthNothing() {
    assertThat(SpillRule.isWorth(DISK, SCANNED)).isFalse();
  }

  @Test
  void whatAJumpingReaderTookIs() {
    assertThat(SpillRule.isWorth(DISK, new Leaving(1000, 2000, 9000, false, false, true))).isTrue();
  }

  @Test
  void aSecondMissIs() {
    assertThat(SpillRule.isWorth(DISK, new Leaving(1000, 2000, 9000, true, true, true))).isTrue();
  }

  @Test
  void whatIsStillUnreadIs() {
    assertThat(SpillRule.isWorth(DISK, new Leaving(1000, 2000, 9000, true, false, false))).isTrue();
  }

  @Test
  void aWindowBehindAndBeforeTheReaderIs() {
    DiskCacheConfig windows =
        DISK.toBuilder().windowBeforeBytes(3000).windowAfterBytes(500).build();

    assertThat(SpillRule.isWorth(windows, at(1000, 2000, 4999))).as("just behind").isTrue();
    assertThat(SpillRule.isWorth(windows, at(1000, 2000, 5000))).as("too far behind").isFalse();
    assertThat(SpillRule.isWorth(windows, at(1000, 2000, 501))).as("just before").isTrue();
    assertThat(SpillRule.isWorth(windows, at(1000, 2000, 500))).as("too far before").isFalse();
  }

  private static Leaving at(long start, long end, long reader) {
    return new Leaving(start, end, reader, true, false, true);
  }

  @Test
  void hybridTakesTheFrontOfAnObjectAlone() {
    DiskCacheConfig hybrid = DISK.toBuilder().mode(Mode.HYBRID).hybridBytes(5000).build();

    assertThat(SpillRule.isWorth(hybrid, new Leaving(4999, 6000, 0, false, true, false))).isTrue();
    assertThat(SpillRule.isWorth(hybrid, new Leaving(5000, 6000, 0, false, true, false))).isFalse();
  }

  @Test
  void memoryTakesNothing() {
    DiskCacheConfig memory = DISK.toBuilder().mode(Mode.MEMORY).build();

    assertThat(SpillRule.isWorth(memory, new Leaving(0, 100, 0, false, true, false))).isFalse();
  }
}
