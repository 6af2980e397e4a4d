// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ByteRange;
import io.s3e.prefetch.VectorPlanner.Group;
import io.s3e.testing.Seed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class VectorPlannerTest {
  private static final long NO_LIMIT = Long.MAX_VALUE;

  /** Offsets and lengths that are drawn are multiples of it: 32 are the widest gap. */
  private static final int UNIT = 8 << 10;

  private static ByteRange range(long start, long end) {
    return new ByteRange(start, end);
  }

  private static ByteRange kib(long start, long end) {
    return range(start << 10, end << 10);
  }

  @Test
  void nothingIsPlannedAsNothing() {
    assertThat(VectorPlanner.plan(List.of(), 1, NO_LIMIT)).isEmpty();
  }

  @Test
  void neighboursAreJoinedInOrderOfOffset() {
    assertThat(
            VectorPlanner.plan(
                List.of(kib(3000, 4000), kib(0, 1000), kib(1256, 2000)), 1, NO_LIMIT))
        .containsExactly(
            new Group(kib(0, 2000), List.of(1, 2)), new Group(kib(3000, 4000), List.of(0)));
  }

  @Test
  void touchingRangesAreJoined() {
    assertThat(VectorPlanner.plan(List.of(range(0, 10), range(10, 20)), 1, NO_LIMIT))
        .containsExactly(new Group(range(0, 20), List.of(0, 1)));
  }

  @Test
  void overReadIsBoundedWhateverTheGap() {
    ByteRange first = range(0, 100);
    assertThat(VectorPlanner.plan(List.of(first, range(201, 301), range(402, 502)), 1, NO_LIMIT))
        .hasSize(3);
    assertThat(VectorPlanner.plan(List.of(first, range(200, 300), range(400, 500)), 1, NO_LIMIT))
        .hasSize(2);
    assertThat(VectorPlanner.plan(List.of(first, range(200, 300), range(350, 450)), 1, NO_LIMIT))
        .hasSize(1);
  }

  /** 8 KiB each, as far apart as S3A joins by its defaults. */
  @Test
  void nearRangesAreJoinedWhateverIsWantedOfThem() {
    for (int apart : new int[] {96 << 10, 128 << 10, 136 << 10}) {
      List<ByteRange> small = new ArrayList<>();
      for (long i = 0; i < 100; i++) {
        small.add(ByteRange.ofLength(i * apart, 8 << 10));
      }
      List<Group> groups = VectorPlanner.plan(small, 64 << 10, 4 << 20);
      assertThat(groups).hasSizeBetween(5, 8);
      assertThat(groups).allMatch(group -> group.span().length() <= 2 << 20);
    }
    List<ByteRange> far = List.of(range(0, 8 << 10), range(144 << 10, 152 << 10));
    assertThat(VectorPlanner.plan(far, 64 << 10, 4 << 20)).hasSize(2);
  }

  @Test
  void rangesWhoseBlocksTouchAreJoinedWhateverLiesBetween() {
    List<ByteRange> tiny = List.of(kib(10, 11), kib(600, 601), kib(1900, 1901), kib(3000, 3001));
    assertThat(VectorPlanner.plan(tiny, 1000 << 10, NO_LIMIT))
        .containsExactly(
            new Group(kib(10, 1901), List.of(0, 1, 2)), new Group(kib(3000, 3001), List.of(3)));
  }

  @Test
  void aGroupDoesNotOutgrowTheLimitButALongRangeStays() {
    assertThat(VectorPlanner.plan(List.of(range(0, 500), range(500, 550), range(550, 600)), 1, 100))
        .containsExactly(
            new Group(range(0, 500), List.of(0)), new Group(range(500, 600), List.of(1, 2)));
  }

  /** Else the last block of each group would be a GET of its own. */
  @Test
  void theLimitIsOneOfWholeBlocks() {
    assertThat(
            VectorPlanner.plan(
                List.of(range(50, 150), range(150, 160), range(160, 350), range(360, 401)),
                100,
                400))
        .containsExactly(
            new Group(range(50, 350), List.of(0, 1, 2)), new Group(range(360, 401), List.of(3)));
  }

  @Test
  void emptyRangesOverlapNothing() {
    assertThat(
            VectorPlanner.plan(
                List.of(range(0, 100), range(50, 50), range(50, 50), range(100, 120)), 1, NO_LIMIT))
        .containsExactly(
            new Group(range(0, 120), List.of(0, 3)),
            new Group(range(50, 50), List.of(1)),
            new Group(range(50, 50), List.of(2)));
  }

  @Test
  void overlapIsRefusedNamingBothRanges() {
    assertThatThrownBy(
            () -> VectorPlanner.plan(List.of(range(90, 120), range(0, 100)), 1, NO_LIMIT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("ranges [0, 100) and [90, 120) overlap");
    assertThatThrownBy(
            () ->
                VectorPlanner.plan(
                    List.of(range(0, 100), range(50, 50), range(99, 120)), 1, NO_LIMIT))
        .hasMessage("ranges [0, 100) and [99, 120) overlap");
  }

  @Test
  void randomPlansLoseNothingAndKeepTheirBounds() {
    long base = Seed.draw();
    for (int i = 0; i < 2000; i++) {
      long seed = base + i;
      Random random = new Random(seed);
      List<ByteRange> ranges = randomRanges(random);
      int block = UNIT << random.nextInt(7);
      long max = UNIT * (1L + random.nextInt(400));
      assertPlan(ranges, block, max, "seed " + seed);
    }
  }

  private static List<ByteRange> randomRanges(Random random) {
    List<ByteRange> ranges = new ArrayList<>();
    long at = random.nextInt(50);
    for (int i = random.nextInt(40); i > 0; i--) {
      long length = random.nextInt(120);
      ranges.add(ByteRange.ofLength(at * UNIT, length * UNIT));
      at += length + (random.nextBoolean() ? 0 : random.nextInt(100));
    }
    Collections.shuffle(ranges, random);
    return ranges;
  }

  private static void assertPlan(List<ByteRange> ranges, int block, long max, String seed) {
    List<Group> groups = VectorPlanner.plan(ranges, block, max);
    List<Integer> seen = new ArrayList<>();
    for (Group group : groups) {
      List<ByteRange> members = group.members().stream().map(ranges::get).toList();
      seen.addAll(group.members());
      assertThat(members.get(0).start()).as(seed).isEqualTo(group.span().start());
      assertThat(members.get(members.size() - 1).end()).as(seed).isEqualTo(group.span().end());
      long used = 0;
      for (int i = 0; i < members.size(); i++) {
        used += members.get(i).length();
        if (i > 0) {
          long between = members.get(i).start() - members.get(i - 1).end();
          assertThat(between)
              .as(seed)
              .isBetween(0L, (long) Math.max(VectorPlanner.MAX_GAP_BYTES, 2 * block - 2));
        }
      }
      if (members.size() > 1) {
        long first = group.span().start() / block;
        long blocks = (group.span().end() - 1) / block - first + 1;
        assertThat(blocks * block).as(seed).isLessThanOrEqualTo(Math.max(max, block));
      }
      if (members.size() > 1 && block == UNIT) {
        assertThat((double) (group.span().length() - used))
            .as(seed)
            .isLessThanOrEqualTo(Math.max(0.5 * used, 32 * UNIT));
      }
    }
    assertThat(seen).as(seed).doesNotHaveDuplicates().hasSize(ranges.size());
    assertThat(groups)
        .as(seed)
        .isSortedAccordingTo((a, b) -> Long.compare(a.span().start(), b.span().start()));
  }
}
