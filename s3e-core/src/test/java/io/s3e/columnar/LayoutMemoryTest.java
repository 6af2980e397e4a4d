// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.testing.Slow;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LayoutMemoryTest {
  private LayoutMemory memory = new LayoutMemory();

  private static FileLayout layout(int groups, int columns) {
    try {
      LayoutBuilder builder =
          new LayoutBuilder(FileLayout.Format.PARQUET, 1L << 40, groups, columns);
      for (int chunk = 0; chunk < groups * columns; chunk++) {
        builder.chunk(chunk / columns, chunk % columns, 4 + chunk, 1, 0);
      }
      for (int group = 0; group < groups; group++) {
        builder.layout.groupMark[group] = 4 + group * columns;
      }
      return builder.build();
    } catch (MalformedException e) {
      throw new AssertionError(e);
    }
  }

  private static ObjectVersion version(int number) {
    return ObjectVersion.identified(new ObjectRef("b", "k" + number), 1L << 41, "e", null);
  }

  @Test
  void layoutsAreKeptByVersionAndTheFirstStays() {
    FileLayout first = layout(1, 1);
    assertThat(memory.layout(version(0))).isNull();
    assertThat(memory.keep(version(0), first)).isSameAs(first);
    assertThat(memory.keep(version(0), layout(1, 2))).isSameAs(first);
    assertThat(memory.layout(version(0))).isSameAs(first);
    ObjectVersion changed =
        ObjectVersion.identified(version(0).object(), version(0).size(), "other", null);
    assertThat(memory.layout(changed)).isNull();
  }

  @Test
  void aVersionWithoutETagIsNotKept() {
    ObjectVersion unknown = ObjectVersion.unidentified(new ObjectRef("b", "k"), 10, null);
    memory.keep(unknown, layout(1, 1));
    assertThat(memory.layout(unknown)).isNull();
  }

  @Test
  void layoutsAreBoundedByWeightAndTheOldestGoes() {
    int one = layout(100, 100).weight();
    int fit = (8 << 20) / one;
    for (int i = 0; i < 3 * fit; i++) {
      memory.keep(version(i), layout(100, 100));
      assertThat(memory.layout(version(0))).as("used all the time").isNotNull();
      assertThat(kept(i)).isLessThanOrEqualTo(fit);
    }
    assertThat(memory.layout(version(1))).isNull();
    assertThat(memory.layout(version(3 * fit - 1))).isNotNull();
    assertThat(kept(3 * fit)).isEqualTo(fit);
  }

  /** How many of so many layouts a memory of its own keeps: to look at one is to use it. */
  private static long kept(int count) {
    FileLayout each = layout(100, 100);
    LayoutMemory filled = new LayoutMemory();
    IntStream.range(0, count).forEach(i -> filled.keep(version(i), each));
    return IntStream.range(0, count).filter(i -> filled.layout(version(i)) != null).count();
  }

  private static long usedHeap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  /**
   * Of files of one chunk, of which there are the most. What engines of earlier tests give back
   * meanwhile spoils measurements, as does a collection that is put off; layouts that are heavier
   * than they weigh spoil all.
   */
  @Test
  @Slow
  void layoutsTakeNoMoreHeapThanTheyWeigh() {
    int one = layout(1, 1).weight();
    int most = (8 << 20) / one;
    long weight = (long) most * one;
    List<Long> taken = IntStream.range(0, 7).mapToObj(i -> heapOf(most)).toList();
    assertThat(taken)
        .as("of %s", taken)
        .filteredOn(each -> each >= weight / 2 && each <= weight)
        .hasSizeGreaterThanOrEqualTo(2);
  }

  /** What so many layouts take. */
  private long heapOf(int count) {
    for (int i = 0; i < count; i++) {
      memory.keep(version(i), layout(1, 1));
    }
    long with = usedHeap();
    memory = new LayoutMemory();
    return with - usedHeap();
  }

  @Test
  void tablesAreBoundedInNumber() {
    ObjectRef file = new ObjectRef("b", "t/f");
    TableMemory first = memory.table(file, 0);
    assertThat(memory.table(file, 0)).isSameAs(first);
    for (int i = 1; i <= 1024; i++) {
      memory.table(file, i);
    }
    assertThat(memory.table(file, 0)).isNotSameAs(first);
  }

  @Test
  void tablesOfOneSchemaKeepWhatTheyLearnApart() {
    TableMemory first = memory.table(new ObjectRef("b", "t/d=1/f"), 7);
    assertThat(memory.table(new ObjectRef("b", "t/d=2/g"), 7)).isSameAs(first);
    assertThat(memory.table(new ObjectRef("b", "u/d=1/f"), 7)).isNotSameAs(first);
    assertThat(memory.table(new ObjectRef("b", "t/d=1/f"), 8)).isNotSameAs(first);
  }

  @Test
  void filesOfAllPartitionsLieInOnePlace() {
    assertThat(LayoutMemory.placeOf(new ObjectRef("b", "t/d=1/h=2/part-0"))).isEqualTo("b/t");
    assertThat(LayoutMemory.placeOf(new ObjectRef("b", "t/data/d=1/f.parquet")))
        .isEqualTo("b/t/data");
    assertThat(LayoutMemory.placeOf(new ObjectRef("b", "t/data/0110/1001/f.parquet")))
        .isEqualTo("b/t/data");
    assertThat(LayoutMemory.placeOf(new ObjectRef("b", "t/data/1f93a02c/f.parquet")))
        .isEqualTo("b/t/data");
    assertThat(LayoutMemory.placeOf(new ObjectRef("b", "t/2024/05/01/f.parquet"))).isEqualTo("b/t");
    assertThat(LayoutMemory.placeOf(new ObjectRef("b", "t/facade/deadbeef/f.parquet")))
        .as("words")
        .isEqualTo("b/t/facade/deadbeef");
    assertThat(LayoutMemory.placeOf(new ObjectRef("b", "t/f=1"))).isEqualTo("b/t");
    assertThat(LayoutMemory.placeOf(new ObjectRef("b", "f"))).isEqualTo("b");
    assertThat(LayoutMemory.placeOf(new ObjectRef("c", "t/f")))
        .isNotEqualTo(LayoutMemory.placeOf(new ObjectRef("b", "t/f")));
  }

  @Test
  void theLatestScanThatReadTheseColumnsIsLike() {
    TableMemory table = new TableMemory();
    assertThat(table.like(columns(1))).isNull();
    table.remember(columns(1, 2), visit(3));
    table.remember(columns(1, 5), visit(4));
    assertThat(table.like(columns(1))).matches(scan -> scan.visits().get(0).equals(visit(4)));
    assertThat(table.like(columns(2))).matches(scan -> scan.visits().get(0).equals(visit(3)));
    assertThat(table.like(columns(2, 5))).isNull();
    for (int i = 10; i < 14; i++) {
      table.remember(columns(i), visit(1));
    }
    assertThat(table.like(columns(1))).as("forgotten").isNull();
    table.remember(columns(10), visit(9));
    assertThat(table.like(columns(10))).matches(scan -> scan.visits().get(0).equals(visit(9)));
    assertThat(table.like(columns(11))).as("the same columns take one place").isNotNull();
  }

  private static TableMemory.Visit visit(int groups) {
    BitSet read = new BitSet();
    read.set(0, groups);
    return new TableMemory.Visit(read, true);
  }

  private static BitSet columns(int... ordinals) {
    BitSet set = new BitSet();
    for (int ordinal : ordinals) {
      set.set(ordinal);
    }
    return set;
  }

  @Test
  void aShorterFileHasThatShareOfALongFooter() {
    TailMemory tails = memory.place(new ObjectRef("b", "t/f")).tails();
    tails.footer(5_000_000, 4_000_000_000L);
    assertThat(tails.bytesOf(8_000_000_000L)).isEqualTo(6_250_000);
    assertThat(tails.bytesOf(400_000_000)).isEqualTo(625_000);
    assertThat(tails.bytesOf(10_000_000)).isEqualTo(256 << 10);
  }

  @Test
  void tailsAreOnePartInAHundredUntilFootersAreKnown() {
    TailMemory tails = memory.place(new ObjectRef("b", "t/f")).tails();
    assertThat(tails.bytesOf(2 << 20)).isEqualTo(64 << 10);
    assertThat(tails.bytesOf(20_000_000)).isEqualTo(200_000);
    assertThat(tails.bytesOf(10L << 30)).isEqualTo(256 << 10);
    tails.footer(10_000, 1 << 20);
    assertThat(tails.bytesOf(10L << 30)).isEqualTo(32 << 10);
    tails.footer(400_000, 1 << 20);
    assertThat(tails.bytesOf(1 << 20)).isEqualTo(500_000);
    tails.footer(10_000, 1 << 20);
    assertThat(tails.bytesOf(1 << 20)).isEqualTo(437_500);
    tails.noFooter();
    assertThat(tails.bytesOf(1 << 20)).isEqualTo(437_500);
    TailMemory others = memory.place(new ObjectRef("b", "u/f")).tails();
    others.noFooter();
    assertThat(others.bytesOf(1 << 20)).isZero();
  }
}
