// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.columnar.PlaceFacts.FileShape;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.Wish;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AlikeFilesTest {
  private static final int BLOCK = 64 << 10;
  private static final long MIB = 1 << 20;

  private final AlikeFiles files = new AlikeFiles();

  private List<BlockRange> guess(long size) {
    return files.guess(new BlockLayout(size, BLOCK));
  }

  /** A file whose footer is short. */
  private void onRead(long size, List<ByteRange> ranges) {
    files.onRead(new FileShape(size, size, ranges));
  }

  private static ByteRange range(long start, long end) {
    return new ByteRange(start, end);
  }

  @Test
  void nothingIsGuessedBeforeTwoFilesAreAlike() {
    assertThat(guess(4 * MIB)).isEmpty();
    onRead(4 * MIB, List.of(range(MIB, 2 * MIB)));
    assertThat(guess(4 * MIB)).isEmpty();
    onRead(4 * MIB, List.of(range(MIB, 2 * MIB)));
    assertThat(guess(4 * MIB)).containsExactly(new BlockRange(16, 32));
  }

  @Test
  void rangesLieInProportionToTheLengthOfTheFile() {
    onRead(4 * MIB, List.of(range(MIB, 2 * MIB)));
    onRead(8 * MIB, List.of(range(2 * MIB, 4 * MIB)));
    assertThat(guess(2 * MIB)).containsExactly(new BlockRange(8, 16));
    assertThat(guess(6 * MIB)).containsExactly(new BlockRange(24, 48));
  }

  /** Half of the file, behind which is a footer of 64 KiB whatever the file has. */
  @Test
  void footersAreOfOneLength() {
    for (long data : new long[] {2 * MIB, 4 * MIB}) {
      files.onRead(new FileShape(data + BLOCK, data, List.of(range(data / 2, data))));
    }
    assertThat(guess(BLOCK + 16 * MIB)).isEqualTo(runs(128, 256));
  }

  @Test
  void rangesAreLongerByTwiceWhatWasMissed() {
    onRead(4 * MIB, List.of(range(MIB, 3 * MIB)));
    onRead(4 * MIB, List.of(range(MIB, 3 * MIB + 100)));
    assertThat(guess(4 * MIB)).as("bounds lie 200 bytes off").isEqualTo(runs(15, 49));
    onRead(4 * MIB, List.of(range(MIB, 3 * MIB + 100)));
    assertThat(guess(4 * MIB)).as("100 bytes, less with each like file").isEqualTo(runs(15, 49));
    for (int i = 0; i < 10; i++) {
      onRead(4 * MIB, List.of(range(MIB, 3 * MIB)));
    }
    assertThat(guess(4 * MIB)).isEqualTo(runs(16, 48));
  }

  private static List<BlockRange> runs(long first, long end) {
    return List.of(new BlockRange(first, end));
  }

  @Test
  void readersThatReadNothingOrOtherColumnsEndIt() {
    List<ByteRange> data = List.of(range(MIB, 2 * MIB));
    for (List<ByteRange> other :
        List.of(
            List.<ByteRange>of(),
            List.of(range(3 * MIB, 4 * MIB)),
            List.of(range(MIB, 2 * MIB), range(3 * MIB, 4 * MIB)),
            IntStream.range(0, 17).mapToObj(i -> range(i * 1000L, i * 1000L + 10)).toList())) {
      onRead(8 * MIB, data);
      onRead(8 * MIB, data);
      assertThat(guess(8 * MIB)).isNotEmpty();
      onRead(8 * MIB, other);
      assertThat(guess(8 * MIB)).as("after %s", other).isEmpty();
      onRead(8 * MIB, data);
      assertThat(guess(8 * MIB)).as("one file after %s", other).isEmpty();
    }
  }

  @Test
  void doubtfulGuessesAreNotMade() {
    onRead(4 * MIB, List.of(range(MIB, MIB + BLOCK)));
    onRead(4 * MIB, List.of(range(MIB + 3 * BLOCK, MIB + 4 * BLOCK)));
    assertThat(guess(4 * MIB)).as("13 blocks for one").isEmpty();
  }

  @Test
  void longGuessesAreNotMade() {
    for (int i = 0; i < 3; i++) {
      onRead(64 * MIB, List.of(range(0, 16 * MIB)));
    }
    assertThat(guess(64 * MIB)).isEqualTo(runs(0, 256));
    assertThat(guess(65 * MIB)).isEmpty();
    onRead(64 * MIB, List.of(range(0, 17 * MIB)));
    assertThat(guess(64 * MIB)).isEmpty();
  }

  /**
   * A stream over a file of 4 MiB in a place whose files have their data in their second quarter.
   */
  private static StreamPlanner planner(LayoutMemory memory) {
    ObjectVersion version = ObjectVersion.identified(new ObjectRef("b", "t/f"), 4 * MIB, "e", null);
    BlockLayout blocks = new BlockLayout(4 * MIB, BLOCK);
    PrefetchLimits limits = PrefetchLimits.defaults(BLOCK, 8 << 20);
    return StreamPlannerTest.planner(version, blocks, limits, ReadPolicy.RANDOM, memory);
  }

  private static LayoutMemory taught() {
    LayoutMemory memory = new LayoutMemory();
    for (int i = 0; i < 2; i++) {
      memory
          .place(new ObjectRef("b", "t/before"))
          .alike()
          .onRead(new FileShape(4 * MIB, 4 * MIB, List.of(range(MIB, 2 * MIB))));
    }
    return memory;
  }

  private static List<BlockRange> wished(StreamPlanner planner) {
    return planner.wish().ranges().stream().map(Wish.Range::blocks).toList();
  }

  @Test
  void fileOfAnotherKindGivesUpWhatWasGuessed() {
    StreamPlanner planner = planner(taught());
    planner.onRead(4 * MIB - 8, 4 * MIB, 4 * MIB);
    assertThat(wished(planner)).contains(new BlockRange(16, 32));

    ByteRange wants = planner.wants();
    planner.onBytes(wants, new byte[(int) wants.length()]);

    assertThat(planner.wish()).isEqualTo(Wish.NOTHING);
    assertThat(planner.wants()).as("bytes to be seen").isNull();
    planner.onRead(BLOCK, 2 * BLOCK, 2 * BLOCK);
    assertThat(planner.wish()).isEqualTo(Wish.NOTHING);
  }

  /** As unbuffer and close do. */
  @Test
  void resetOfAStreamThatHasReadNothingTeachesNothing() {
    LayoutMemory memory = taught();
    StreamPlanner planner = planner(memory);
    planner.reset();
    planner.reset();
    StreamPlanner next = planner(memory);
    next.onRead(4 * MIB - 8, 4 * MIB, 4 * MIB);
    assertThat(wished(next)).contains(new BlockRange(16, 32));
  }

  @Test
  void guessesLieInsideTheObject() {
    onRead(4 * MIB, List.of(range(0, 4 * MIB)));
    onRead(4 * MIB, List.of(range(1000, 4 * MIB - 1000)));
    assertThat(guess(2 * MIB + 1)).isEqualTo(runs(0, 33));
  }
}
