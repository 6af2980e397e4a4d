package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.prefetch.GuessKind;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.VectorPlanner.Joining;
import io.s3e.prefetch.Wish.Range;
import io.s3e.prefetch.Wish.Start;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The wish of two planners as one. */
class StreamPlannerTest {
  private static final int BLOCK = 16 << 10;
  private static final long SIZE = 300 << 20;

  private final BlockLayout layout = new BlockLayout(SIZE, BLOCK);
  private final PrefetchLimits limits = PrefetchLimits.defaults(BLOCK, 8 << 20);
  private final StreamPlanner planner =
      new StreamPlanner(
          new ReadPlanner(layout, ReadPolicy.ADAPTIVE, null, limits),
          layout,
          limits,
          new LayoutMemory(),
          ObjectVersion.identified(new ObjectRef("b", "t/f"), SIZE, "e", null),
          null,
          SplitSource.UNKNOWN,
          new Joining(0, 0.5, 8 << 20),
          ClassLoader.getPlatformClassLoader(),
          ColumnarMode.AUTO,
          (counter, amount) -> {});

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

  @Test
  void afterAResetNothingIsWished() {
    read(SIZE - 60_000, SIZE - 59_000);
    planner.reset();
    assertThat(wished()).isEmpty();
  }
}
