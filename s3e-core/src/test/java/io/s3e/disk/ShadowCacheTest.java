package io.s3e.disk;

import static io.s3e.disk.TestBlocks.block;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.s3e.disk.ShadowCache.Estimate;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ShadowCacheTest {
  private static final int BYTES = DiskBlockId.BLOCK_BYTES;

  @Test
  void nothingAskedForNothingHit() {
    assertThat(new ShadowCache(100).estimate(1 << 30)).isEqualTo(new Estimate(0, 0, 0, 0, 0));
  }

  @Test
  void aScanHitsNothingAtAnySize() {
    ShadowCache shadow = new ShadowCache(1000);
    for (int i = 0; i < 50_000; i++) {
      shadow.access(block(i), BYTES);
    }
    Estimate estimate = shadow.estimate(100L * BYTES);
    assertThat(estimate.accessedBytes()).isEqualTo(50_000L * BYTES);
    assertThat(estimate.hitBytesEightfold()).isZero();
  }

  @Test
  void aLoopHitsOnceTheCacheHoldsIt() {
    ShadowCache shadow = new ShadowCache(10_000);
    for (int round = 0; round < 10; round++) {
      for (int i = 0; i < 1000; i++) {
        shadow.access(block(i), BYTES);
      }
    }
    Estimate estimate = shadow.estimate(300L * BYTES);
    assertThat(estimate.hitBytes()).isZero();
    assertThat(estimate.hitBytesDouble()).isZero();
    assertThat(estimate.hitBytesFourfold()).isEqualTo(9000L * BYTES);
    assertThat(estimate.hitBytesEightfold()).isEqualTo(9000L * BYTES);
  }

  @Test
  void withFewSamplesItIsStillNearARealLru() {
    long seed = 20_150_216;
    SplittableRandom random = new SplittableRandom(seed);
    ShadowCache shadow = new ShadowCache(2000);
    int capacity = 1000;
    Lru[] real = {
      new Lru(capacity), new Lru(2 * capacity), new Lru(4 * capacity), new Lru(8 * capacity)
    };
    int accesses = 300_000;
    for (int i = 0; i < accesses; i++) {
      // Cubed, so that few blocks are asked for often and many seldom.
      double draw = random.nextDouble();
      long index = (long) (draw * draw * draw * 40_000);
      shadow.access(block(index), BYTES);
      for (Lru lru : real) {
        lru.access(index);
      }
    }
    Estimate estimate = shadow.estimate((long) capacity * BYTES);
    double all = (double) accesses * BYTES;
    double[] shares = {
      estimate.hitBytes() / all,
      estimate.hitBytesDouble() / all,
      estimate.hitBytesFourfold() / all,
      estimate.hitBytesEightfold() / all
    };
    for (int i = 0; i < real.length; i++) {
      assertThat(shares[i])
          .as("cache of %d blocks", capacity << i)
          .isCloseTo(real[i].hits / (double) accesses, within(0.05));
    }
  }

  @Test
  void aThousandTimesMoreBlocksThanSamplesTakeNoMoreMemory() {
    ShadowCache shadow = new ShadowCache(10);
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 10_000; i++) {
        shadow.access(block(i), BYTES);
      }
    }
    assertThat(shadow.samples()).isLessThanOrEqualTo(10);
    assertThat(shadow.estimate(20_000L * BYTES).hitBytes()).isPositive();
  }

  @Test
  void samplesHaveABound() {
    assertThatThrownBy(() -> new ShadowCache(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new ShadowCache(1L << 40))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1099511627776");
  }

  private static final class Lru {
    private final Map<Long, Boolean> blocks;
    private int hits;

    Lru(int capacity) {
      blocks =
          new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
              return size() > capacity;
            }
          };
    }

    void access(long index) {
      hits += blocks.put(index, true) == null ? 0 : 1;
    }
  }
}
