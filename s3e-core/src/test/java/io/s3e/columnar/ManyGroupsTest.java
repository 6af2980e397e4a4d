// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.columnar.Recording.Call;
import io.s3e.columnar.Recording.Kind;
import io.s3e.columnar.Replay.Split;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files that were put together of thousands of short row groups. */
class ManyGroupsTest {
  private static final long CHUNK = 1000;

  private static final int STRIPE_DATA = 100_000;
  private static final int FOOTER = 100;

  private static Replay playGroups(int groups, Split split) {
    List<List<FooterWriter.Chunk>> chunks = new ArrayList<>();
    for (int group = 0; group < groups; group++) {
      chunks.add(
          List.of(
              new FooterWriter.Chunk(null, start(group), CHUNK, null, 0, null, 0, null, null),
              new FooterWriter.Chunk(
                  null, start(group) + CHUNK, CHUNK, null, 0, null, 0, null, null)));
    }
    byte[] footer = FooterWriter.write(List.of("a", "b"), chunks, 0);
    byte[] tail = RecordedFiles.parquetTail(footer);
    long size = start(groups) + tail.length;
    List<Call> calls = new ArrayList<>();
    calls.add(read(new ByteRange(size - 8, size)));
    calls.add(read(new ByteRange(start(groups), size - 8)));
    for (int group = 0; group < groups; group++) {
      calls.add(read(ByteRange.ofLength(start(group), CHUNK)));
    }
    return play(new RecordedFiles.File(size, tail), calls, split);
  }

  /** A reader of ORC: the tail, then the footer and the one column of each stripe. */
  private static Replay playStripes(int count, Split split) {
    List<OrcWriter.Stripe> stripes = new ArrayList<>();
    Map<Long, byte[]> footers = new HashMap<>();
    byte[] footer = OrcWriter.stripeFooter(List.of(new long[] {1, 1, STRIPE_DATA}), FOOTER);
    long end = 3;
    for (int i = 0; i < count; i++) {
      stripes.add(new OrcWriter.Stripe(end, 0, STRIPE_DATA, FOOTER));
      footers.put(end + STRIPE_DATA, footer);
      end += STRIPE_DATA + FOOTER;
    }
    byte[] tail = OrcWriter.tail(stripes, OrcWriter.Compression.NONE, 256);
    long size = end + tail.length;
    List<Call> calls = new ArrayList<>();
    calls.add(read(new ByteRange(size - 16_384, size)));
    calls.add(read(new ByteRange(end, size - 16_384)));
    for (OrcWriter.Stripe each : stripes) {
      calls.add(read(ByteRange.ofLength(each.offset() + STRIPE_DATA, FOOTER)));
      calls.add(read(ByteRange.ofLength(each.offset(), STRIPE_DATA)));
    }
    return play(new RecordedFiles.File(size, tail, footers), calls, split);
  }

  private static Replay play(RecordedFiles.File file, List<Call> reads, Split split) {
    List<Call> calls = new ArrayList<>(reads);
    calls.add(0, new Call(Kind.OPEN, "s", "f", file.size(), true, null, List.of()));
    return new Replay(new LayoutMemory(), ColumnarMode.AUTO, split, null, Map.of("f", file))
        .play(new Recording("many groups", calls));
  }

  private static long start(int group) {
    return 4 + 2 * CHUNK * group;
  }

  private static Call read(ByteRange range) {
    return new Call(Kind.READ, "s", "", 0, true, null, List.of(range));
  }

  /** A walk over all groups ahead at each group takes minutes for so many. */
  @Test
  @Timeout(60)
  void groupsAreAskedForOnce() {
    for (Split split : Split.values()) {
      Replay replay = playGroups(40_000, split);
      assertThat(replay.overFetch()).as("both columns lie in each block").isLessThan(2);
    }
  }

  /** What GETs bring is not bound by stripes. */
  @Test
  @Timeout(60)
  void shortStripesComeByLongGets() {
    for (Split split : Split.values()) {
      Replay replay = playStripes(4_000, split);
      assertThat(replay.overFetch()).isLessThan(2);
      assertThat(replay.requests).as("in 400 MB").isLessThan(600);
    }
  }
}
