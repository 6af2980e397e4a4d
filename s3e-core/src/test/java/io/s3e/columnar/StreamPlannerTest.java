// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.Wish.Range;
import io.s3e.prefetch.Wish.Start;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The wish of two planners as one. */
class StreamPlannerTest {
  private static final int BLOCK = 16 << 10;
  private static final long SIZE = 300 << 20;

  private final BlockLayout layout = new BlockLayout(SIZE, BLOCK);
  private final PrefetchLimits limits = PrefetchLimits.defaults(BLOCK, 8 << 20);
  private final LayoutMemory memory = new LayoutMemory();
  private final StreamPlanner planner = planner(version("f"));

  private static ObjectVersion version(String name) {
    return ObjectVersion.identified(new ObjectRef("b", "t/" + name), SIZE, "e", null);
  }

  private StreamPlanner planner(ObjectVersion version) {
    return planner(version, layout, limits, ReadPolicy.ADAPTIVE, memory);
  }

  /** Of a stream that was told no split. */
  static StreamPlanner planner(
      ObjectVersion version,
      BlockLayout layout,
      PrefetchLimits limits,
      ReadPolicy policy,
      LayoutMemory memory) {
    return planner(version, layout, limits, policy, memory, SplitSource.UNKNOWN);
  }

  private static StreamPlanner planner(
      ObjectVersion version,
      BlockLayout layout,
      PrefetchLimits limits,
      ReadPolicy policy,
      LayoutMemory memory,
      SplitSource splits) {
    return new StreamPlanner(
        new ReadPlanner(layout, policy, null, limits),
        layout,
        limits,
        memory,
        null,
        version,
        splits,
        8 << 20,
        ClassLoader.getPlatformClassLoader(),
        ColumnarMode.AUTO,
        (counter, amount) -> {});
  }

  /** A file of two groups, whose columns take 1 MiB each. */
  private static FileLayout file(int columns) throws MalformedException {
    LayoutBuilder file = new LayoutBuilder(FileLayout.Format.PARQUET, SIZE - 1000, 2, columns);
    file.schema(7);
    for (int group = 0; group < 2; group++) {
      for (int column = 0; column < columns; column++) {
        file.chunk(group, column, (long) (group * columns + column) << 20, 1 << 20, 0);
      }
      file.layout.groupMark[group] = (long) (group * columns) << 20;
    }
    return file.build();
  }

  private void read(long start, long end) {
    planner.onRead(start, end, end);
  }

  private List<Range> wished() {
    return planner.wish().ranges();
  }

  /** It may still be a columnar file: the tail that is on its way is not given up. */
  @Test
  void aTailThatWasAskedForStaysWhileTheReaderGoesForwardInIt() {
    read(SIZE - 60_000, SIZE - 59_000);
    assertThat(wished()).extracting(Range::kind).containsOnly(GuessKind.TAIL);
    assertThat(wished()).extracting(Range::start).containsOnly(Start.WITH_READ);

    read(SIZE - 59_000, SIZE - 40_000);
    assertThat(wished().get(0).kind()).isEqualTo(GuessKind.WINDOW);
    assertThat(wished().get(0).blocks().end()).isEqualTo(layout.blocks());
    List<Range> tail = wished().subList(1, wished().size());
    assertThat(tail).extracting(Range::kind).isNotEmpty().containsOnly(GuessKind.TAIL);
    assertThat(tail).extracting(Range::start).containsOnly(Start.LATER);
  }

  /** It is the application's code. */
  @Test
  void aSplitThatCannotBeToldIsNotKnown() throws Exception {
    memory.keep(version("known"), file(4));
    AtomicInteger asked = new AtomicInteger();
    StreamPlanner reader =
        planner(
            version("known"),
            layout,
            limits,
            ReadPolicy.ADAPTIVE,
            memory,
            () -> {
              asked.incrementAndGet();
              throw new IllegalStateException("no task");
            });
    reader.onRead(0, 1 << 20, 1 << 20);
    reader.onRead(4 << 20, 5 << 20, 5 << 20);
    reader.reset();
    assertThat(asked).hasValue(1);
  }

  /** A footer may lie: no column is looked for that a file does not have. */
  @Test
  void filesOfOneSchemaWithMoreAndFewerColumnsAreNoTable() throws Exception {
    memory.keep(version("wide"), file(10));
    memory.keep(version("narrow"), file(2));
    StreamPlanner wide = planner(version("wide"));
    wide.onRead(0, 10 << 20, 10 << 20);
    wide.reset();

    StreamPlanner narrow = planner(version("narrow"));
    narrow.onRead(0, 1 << 20, 1 << 20);
    assertThat(narrow.wish().ranges())
        .extracting(Range::blocks)
        .allMatch(blocks -> blocks.end() <= (4 << 20) / BLOCK);
  }

  @Test
  void afterAResetNothingIsWished() {
    read(SIZE - 60_000, SIZE - 59_000);
    planner.reset();
    assertThat(wished()).isEmpty();
  }
}
