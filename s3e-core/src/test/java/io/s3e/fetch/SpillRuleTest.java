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

  /** A block of a scan, read in full and never fetched before. */
  private static final Leaving SCANNED = new Leaving(1000, true, false, true);

  @Test
  void aScansBlocksAreWorthNothing() {
    assertThat(SpillRule.isWorth(DISK, SCANNED)).isFalse();
  }

  @Test
  void whatAJumpingReaderTookIs() {
    assertThat(SpillRule.isWorth(DISK, new Leaving(1000, false, false, true))).isTrue();
  }

  @Test
  void aSecondMissIs() {
    assertThat(SpillRule.isWorth(DISK, new Leaving(1000, true, true, true))).isTrue();
  }

  @Test
  void whatIsStillUnreadIs() {
    assertThat(SpillRule.isWorth(DISK, new Leaving(1000, true, false, false))).isTrue();
  }

  @Test
  void hybridTakesTheFrontOfAnObjectAlone() {
    DiskCacheConfig hybrid = DISK.toBuilder().mode(Mode.HYBRID).hybridBytes(5000).build();

    assertThat(SpillRule.isWorth(hybrid, new Leaving(4999, false, true, false))).isTrue();
    assertThat(SpillRule.isWorth(hybrid, new Leaving(5000, false, true, false))).isFalse();
  }

  @Test
  void memoryTakesNothing() {
    DiskCacheConfig memory = DISK.toBuilder().mode(Mode.MEMORY).build();

    assertThat(SpillRule.isWorth(memory, new Leaving(0, false, true, false))).isFalse();
  }
}
