// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.columnar.Recording.Call;
import io.s3e.columnar.Recording.Kind;
import io.s3e.columnar.Replay.Split;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * A reader of 18.5 MB out of each of 16 groups of 64 MiB, by vectored reads, in the virtual time of
 * {@link Replay}: as many connections as the client has at most, and no limit of the link's.
 */
class LargeGroupsTest {
  private static final int GROUPS = 16;
  private static final int COLUMNS = 16;
  private static final long MIB = 1 << 20;
  private static final long CHUNK = 4 * MIB;
  private static final int CONNECTIONS = 64;
  private static final long SIZE = GROUPS * COLUMNS * CHUNK + 100_000;

  /** Columns 4, 5, 6 and 10: 16 MiB, and part of what lies between. */
  private static List<ByteRange> wanted(int group) {
    long start = group * COLUMNS * CHUNK + 4;
    return List.of(
        ByteRange.ofLength(start + 4 * CHUNK, 3 * CHUNK),
        ByteRange.ofLength(start + 10 * CHUNK, CHUNK));
  }

  private static Recording recording() {
    List<Call> calls = new ArrayList<>();
    calls.add(new Call(Kind.OPEN, "s", "f", SIZE, true, null, List.of()));
    calls.add(call(Kind.READ, List.of(new ByteRange(SIZE - 8, SIZE))));
    calls.add(call(Kind.READ, List.of(new ByteRange(SIZE - 60_000, SIZE - 8))));
    for (int group = 0; group < GROUPS; group++) {
      calls.add(call(Kind.VECTORED, wanted(group)));
    }
    calls.add(call(Kind.CLOSE, List.of()));
    return new Recording("large groups", calls);
  }

  private static Call call(Kind kind, List<ByteRange> ranges) {
    return new Call(kind, "s", "", 0, true, null, ranges);
  }

  private static RecordedFiles.File file() {
    List<String> columns = new ArrayList<>();
    List<List<FooterWriter.Chunk>> groups = new ArrayList<>();
    for (int group = 0; group < GROUPS; group++) {
      List<FooterWriter.Chunk> chunks = new ArrayList<>();
      for (int column = 0; column < COLUMNS; column++) {
        long start = (group * COLUMNS + column) * CHUNK + 4;
        chunks.add(new FooterWriter.Chunk(null, start, CHUNK, null, 0, null, 0, null, null));
      }
      groups.add(chunks);
    }
    for (int column = 0; column < COLUMNS; column++) {
      columns.add("c" + column);
    }
    byte[] footer = FooterWriter.write(columns, groups, 59_992);
    return new RecordedFiles.File(SIZE, RecordedFiles.parquetTail(footer));
  }

  private static Replay replay(ColumnarMode mode, Split split) {
    return new Replay(new LayoutMemory(), mode, split, null, Map.of("f", file()))
        .withConnections(CONNECTIONS);
  }

  @Test
  void groupsFollowEachOtherWithoutARoundTrip() {
    Replay before = replay(ColumnarMode.OFF, Split.UNKNOWN).play(recording());
    Replay replay = replay(ColumnarMode.AUTO, Split.KNOWN).play(recording());
    assertThat(replay.blockedMillis()).isLessThan(before.blockedMillis() / 2.5);
    assertThat(replay.overFetch()).isLessThan(1.05);
  }

  @Test
  void aConsumerOf200MegabytesASecondWaitsForTheFirstGroupAlone() {
    Replay before = replay(ColumnarMode.OFF, Split.UNKNOWN).withConsumerOf(200).play(recording());
    Replay replay = replay(ColumnarMode.AUTO, Split.KNOWN).withConsumerOf(200).play(recording());
    assertThat(replay.blockedMillis()).isLessThan(before.blockedMillis() / 8);
    assertThat(replay.overFetch()).isLessThan(1.05);
  }

  @Test
  void withoutASplitTheGroupsComeAsTheEvidenceGrows() {
    Replay before = replay(ColumnarMode.OFF, Split.UNKNOWN).withConsumerOf(200).play(recording());
    Replay replay = replay(ColumnarMode.AUTO, Split.UNKNOWN).withConsumerOf(200).play(recording());
    assertThat(replay.blockedMillis()).isLessThan(before.blockedMillis() / 4);
    assertThat(replay.overFetch()).isLessThan(1.05);
  }
}
