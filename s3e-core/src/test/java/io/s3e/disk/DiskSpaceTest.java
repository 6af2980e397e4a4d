// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskSpaceTest {
  private static final long GIB = 1L << 30;

  private long usable = 100 * GIB;
  private long total = 100 * GIB;

  private final DiskSpace space = new DiskSpace(() -> usable, () -> total);

  @Test
  void theDefaultIsATwentiethOfWhatIsFreeAndTenGibibytesAtMost() {
    assertThat(DiskCacheConfig.DEFAULTS.capacityBytes(0)).isZero();
    assertThat(DiskCacheConfig.DEFAULTS.capacityBytes(100 * GIB)).isEqualTo(5 * GIB);
    assertThat(DiskCacheConfig.DEFAULTS.capacityBytes(200 * GIB)).isEqualTo(10 * GIB);
    assertThat(DiskCacheConfig.DEFAULTS.capacityBytes(Long.MAX_VALUE)).isEqualTo(10 * GIB);
  }

  @Test
  void theIndexOfAllDirectoriesTakesASixteenthOfTheHeapAtMost() {
    DiskCacheConfig one = DiskCacheConfig.DEFAULTS.toBuilder().capacityBytes(1L << 50).build();
    DiskCacheConfig four =
        one.toBuilder().directories(Collections.nCopies(4, Path.of("disk"))).build();

    long indexed = one.indexedBytes();
    long heap = Runtime.getRuntime().maxMemory();
    assertThat(indexed / StoredObject.CHUNK_BYTES * 54).isBetween(heap / 16 - 54, heap / 16);
    Layout layout = Layout.of(indexed, Region.USUAL_COUNT, null);
    assertThat((long) layout.regions() * layout.mostChunks() * 54)
        .as("entries of all regions, in bytes; small objects have 516,129 whatever the heap")
        .isLessThanOrEqualTo(Math.max(heap / 16, 516_129 * 54));
    assertThat(4 * four.indexedBytes()).isBetween(indexed - 4, indexed);
  }

  @Test
  void growthEndsWhereLessThanFifteenHundredthsAreUsable() {
    usable = 15 * GIB;
    assertThat(space.mayGrow()).isTrue();
    usable = 15 * GIB - 1;
    assertThat(space.mayGrow()).isFalse();
    usable = 15 * GIB;
    assertThat(space.mayGrow()).as("after space was freed").isTrue();
  }

  @Test
  void spaceIsScarceWhereLessThanATenthIsUsable() {
    usable = 10 * GIB;
    assertThat(space.isScarce()).isFalse();
    usable = 10 * GIB - 1;
    assertThat(space.isScarce()).isTrue();
    total = 0;
    assertThat(space.isScarce()).as("where nobody knows").isFalse();
  }

  @Test
  void anUnknownFileSystemIsNotGrownOn() {
    total = 0;
    usable = GIB;
    assertThat(space.mayGrow()).isFalse();
  }

  @Test
  void theRealFileSystemAnswers(@TempDir Path directory) {
    long all = directory.toFile().getTotalSpace();
    long free = directory.toFile().getUsableSpace();
    // Near the limit others, who use the disk too, would decide.
    if (free > 0.16 * all || free < 0.14 * all) {
      assertThat(new DiskSpace(directory).mayGrow()).isEqualTo(free > 0.15 * all);
    }
    assertThat(new DiskSpace(directory.resolve("gone")).mayGrow())
        .as("a directory that was deleted, and is made again")
        .isEqualTo(new DiskSpace(directory).mayGrow());
  }
}
