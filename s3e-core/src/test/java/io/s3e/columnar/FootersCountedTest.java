// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Footers that are read, and those that are not, are counted. */
class FootersCountedTest {
  private static final int BLOCK = 64 << 10;

  private final RecordedFiles.File file = RecordedFiles.parquet("lineitem");
  private final EngineMetrics counted = new EngineMetrics();
  private final LayoutMemory memory = new LayoutMemory();

  private StreamPlanner planner(long size) {
    ObjectVersion version =
        ObjectVersion.identified(new ObjectRef("bucket", "table/file"), size, "etag", null);
    BlockLayout blocks = new BlockLayout(size, BLOCK);
    PrefetchLimits limits = PrefetchLimits.defaults(BLOCK, 8 << 20);
    return new StreamPlanner(
        new ReadPlanner(blocks, ReadPolicy.RANDOM, null, limits),
        blocks,
        limits,
        memory,
        null,
        version,
        SplitSource.UNKNOWN,
        8 << 20,
        ClassLoader.getPlatformClassLoader(),
        ColumnarMode.AUTO,
        counted::add);
  }

  private StreamPlanner atTheEnd() {
    StreamPlanner planner = planner(file.size());
    planner.onRead(file.size() - 8, file.size(), file.size());
    return planner;
  }

  /** Shows the last bytes, and the footer if it is wanted then. */
  private void show(StreamPlanner planner, byte[] last, boolean isFooterDamaged) {
    planner.onBytes(planner.wants(), last);
    ByteRange footer = planner.wants();
    if (footer != null) {
      byte[] bytes = file.bytes(footer.start(), footer.end());
      if (isFooterDamaged) {
        Arrays.fill(bytes, (byte) 0xFF);
      }
      planner.onBytes(footer, bytes);
    }
  }

  private byte[] lastBytes() {
    return file.bytes(file.size() - FileTail.LAST_BYTES, file.size());
  }

  private void assertFooters(long read, long refused) {
    assertThat(counted.get(Counter.COLUMNAR_FOOTERS)).isEqualTo(read);
    assertThat(counted.get(Counter.COLUMNAR_FOOTERS_REFUSED)).isEqualTo(refused);
  }

  @Test
  void aFooterIsReadOnceForAllStreams() {
    show(atTheEnd(), lastBytes(), false);
    assertFooters(1, 0);
    assertThat(atTheEnd().wants()).isNull();
    assertFooters(1, 0);
  }

  @Test
  void aFooterThatMakesNoSenseIsRefused() {
    show(atTheEnd(), lastBytes(), true);
    assertFooters(0, 1);
  }

  @Test
  void aFooterLongerThanItsFileIsRefused() {
    byte[] last = lastBytes();
    last[last.length - 5] = 0x7F;
    show(atTheEnd(), last, false);
    assertFooters(0, 1);
  }

  /** As writers of no rows leave it: nothing is wrong with it, and nothing is to be fetched. */
  @Test
  void aFooterWithoutRowGroupsIsRead() {
    byte[] footer = FooterWriter.write(List.of("a"), List.of(), 0);
    int size = 4 + footer.length + 8;
    byte[] bytes =
        ByteBuffer.allocate(size)
            .order(ByteOrder.LITTLE_ENDIAN)
            .put("PAR1".getBytes(StandardCharsets.US_ASCII))
            .put(footer)
            .putInt(footer.length)
            .put("PAR1".getBytes(StandardCharsets.US_ASCII))
            .array();
    for (int i = 0; i < 3; i++) {
      StreamPlanner planner = planner(size);
      planner.onRead(size - 8, size, size);
      for (ByteRange next = planner.wants(); next != null; next = planner.wants()) {
        planner.onBytes(next, Arrays.copyOfRange(bytes, (int) next.start(), (int) next.end()));
      }
      planner.onRead(4, size - 8, size);
      planner.onRead(0, 4, size);
      planner.onStall(0);
      planner.onVectored(List.of(new ByteRange(0, size)), List.of(new ByteRange(0, size)));
      assertThat(planner.wish().ranges()).noneMatch(range -> range.kind().isColumnar());
      planner.reset();
      assertFooters(1, 0);
    }
  }

  @Test
  void otherFilesHaveNoFooter() {
    show(atTheEnd(), new byte[FileTail.LAST_BYTES], false);
    assertFooters(0, 0);
  }
}
