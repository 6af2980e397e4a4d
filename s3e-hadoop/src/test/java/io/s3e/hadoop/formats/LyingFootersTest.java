// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.formats.ColumnarBytes.Manner;
import io.s3e.hadoop.formats.ColumnarStore.Stream;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A well-formed footer that says what is not so, and an object that is another than the footer was
 * read of: the bytes are those of the object, and what is fetched in vain is bounded.
 */
@Tag("source-tree")
@Slow
@Tag("any-hadoop")
class LyingFootersTest {
  private static final int GROUPS = 32;
  private static final int RANDOM_READS = 12;

  /** What S3E makes of a footer, of an object of 32 MiB. */
  private enum Trust {
    /** Groups may be asked for ahead, until a read shows that they are not what is read. */
    BELIEVED(8 << 20),
    /** The tail has been asked for. */
    REFUSED(1 << 20);

    private final long wasteBytes;

    Trust(long wasteBytes) {
      this.wasteBytes = wasteBytes;
    }
  }

  /** What is wrong with a footer. */
  private enum Lie {
    /** Nothing. */
    NONE(Trust.BELIEVED, footer -> {}),
    /** Some writers leave their chunks in another order than the schema's. */
    COLUMNS_SWAPPED(
        Trust.BELIEVED,
        footer -> {
          for (RowGroup group : footer.getRow_groups()) {
            long first = meta(group, 0).getData_page_offset();
            meta(group, 0).setData_page_offset(meta(group, 2).getData_page_offset());
            meta(group, 2).setData_page_offset(first);
          }
        }),
    GROUPS_SWAPPED(Trust.REFUSED, footer -> Collections.reverse(footer.getRow_groups())),
    GROUPS_THE_SAME(
        Trust.REFUSED,
        footer -> Collections.fill(footer.getRow_groups(), footer.getRow_groups().get(5))),
    BEYOND_THE_OBJECT(Trust.REFUSED, footer -> each(footer, meta -> move(meta, 1L << 30))),
    BEYOND_ALL_OBJECTS(
        Trust.REFUSED, footer -> each(footer, meta -> move(meta, Long.MAX_VALUE / 2))),
    BEFORE_THE_OBJECT(Trust.REFUSED, footer -> each(footer, meta -> move(meta, -(1L << 40)))),
    /** Chunks begin where others are, and end so that none meets the next. */
    MOVED(
        Trust.BELIEVED,
        footer -> {
          each(footer, meta -> move(meta, 77_777));
          each(footer, meta -> meta.setTotal_compressed_size(ColumnarObject.CHUNK_BYTES - 77_777));
        }),
    OVERLAPPING(
        Trust.REFUSED,
        footer ->
            each(footer, meta -> meta.setTotal_compressed_size(3L * ColumnarObject.CHUNK_BYTES))),
    CUT(Trust.BELIEVED, footer -> each(footer, meta -> meta.setTotal_compressed_size(100))),
    ENDLESS(
        Trust.REFUSED,
        footer -> each(footer, meta -> meta.setTotal_compressed_size(Long.MAX_VALUE - 7))),
    NEGATIVE(Trust.REFUSED, footer -> each(footer, meta -> meta.setTotal_compressed_size(-1))),
    /** Dictionaries in other chunks. */
    DICTIONARIES(
        Trust.REFUSED,
        footer ->
            each(
                footer,
                meta ->
                    meta.setDictionary_page_offset((meta.getData_page_offset() * 7) % 30_000_000))),
    /** Bloom filters and indexes in the data of other groups. */
    FILTERS(
        Trust.REFUSED,
        footer -> {
          for (RowGroup group : footer.getRow_groups()) {
            for (ColumnChunk chunk : group.getColumns()) {
              long at = chunk.getMeta_data().getData_page_offset() * 5 % 30_000_000;
              chunk.getMeta_data().setBloom_filter_offset(at);
              chunk.setColumn_index_offset(at + 1000);
              chunk.setColumn_index_length(Integer.MAX_VALUE);
              chunk.setOffset_index_offset(at + 2000);
              chunk.setOffset_index_length(500_000);
            }
          }
        });

    private final Trust trust;
    private final Consumer<FileMetaData> change;

    Lie(Trust trust, Consumer<FileMetaData> change) {
      this.trust = trust;
      this.change = change;
    }

    private static ColumnMetaData meta(RowGroup group, int column) {
      return group.getColumns().get(column).getMeta_data();
    }

    private static void each(FileMetaData footer, Consumer<ColumnMetaData> change) {
      for (RowGroup group : footer.getRow_groups()) {
        for (ColumnChunk chunk : group.getColumns()) {
          change.accept(chunk.getMeta_data());
        }
      }
    }

    private static void move(ColumnMetaData meta, long by) {
      meta.setData_page_offset(meta.getData_page_offset() + by);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theBytesAreThoseOfTheObject(Lie lie) throws Exception {
    long seed = Seed.ofBuilds();
    ColumnarObject object = ColumnarObject.of(GROUPS, seed, lie.change);
    SplittableRandom random = new SplittableRandom(seed);
    try (HostileS3Server server = HostileS3Server.startApart();
        ColumnarStore store = new ColumnarStore(server, Stream.AUTO)) {
      for (Manner manner : Manner.values()) {
        Path path = store.put(manner + "/part-0", object.content());
        try (FSDataInputStream in = store.fs().open(path)) {
          ColumnarBytes reader = new ColumnarBytes(object, in);
          reader.footer();
          for (int group = 0; group < 3; group++) {
            reader.group(group, ColumnarObject.COLUMNS, manner);
          }
          for (int i = 0; i < RANDOM_READS; i++) {
            reader.anywhere(random);
          }
        }
      }
      int opens = Manner.values().length;
      assertThat(store.wastedGuesses())
          .as("bytes wasted")
          .isLessThanOrEqualTo(opens * lie.trust.wasteBytes);
      assertThat(store.statistic("s3e_columnar_footers_refused"))
          .as("footers refused")
          .isEqualTo(lie.trust == Trust.REFUSED ? opens : 0);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anotherObjectIsNeverMixedWithTheFooterOfTheLast(Manner manner) throws Exception {
    ColumnarObject before = ColumnarObject.of(GROUPS, 1);
    ColumnarObject after = ColumnarObject.of(GROUPS, 2, Lie.GROUPS_SWAPPED.change);
    Map<Stream, String> outcomes = new EnumMap<>(Stream.class);
    for (Stream stream : List.of(Stream.OFF, Stream.AUTO)) {
      try (HostileS3Server server = HostileS3Server.startApart();
          ColumnarStore store = new ColumnarStore(server, stream)) {
        Path path = store.put("part-0", before.content());
        try (FSDataInputStream in = store.fs().open(path)) {
          ColumnarBytes reader = new ColumnarBytes(before, in);
          reader.footer();
          store.put("part-0", after.content());
          outcomes.put(stream, outcome(() -> reader.group(0, ColumnarObject.COLUMNS, manner)));
        }
        try (FSDataInputStream in = store.fs().open(path)) {
          ColumnarBytes reader = new ColumnarBytes(after, in);
          reader.footer();
          for (int group = 0; group < GROUPS; group++) {
            reader.group(group, ColumnarObject.COLUMNS, manner);
          }
        }
      }
    }
    assertThat(outcomes.get(Stream.AUTO))
        .isEqualTo(RemoteFileChangedException.class.getName())
        .isEqualTo(outcomes.get(Stream.OFF));
  }

  /** What was fetched before the change may be read after it; nothing of the new object is. */
  @ParameterizedTest
  @EnumSource
  void aChangeAmongGroupsEndsTheReader(Manner manner) throws Exception {
    ColumnarObject before = ColumnarObject.of(GROUPS, 1);
    ColumnarObject after = ColumnarObject.of(GROUPS, 2);
    try (HostileS3Server server = HostileS3Server.startApart();
        ColumnarStore store = new ColumnarStore(server, Stream.AUTO)) {
      Path path = store.put("part-0", before.content());
      String end = "";
      try (FSDataInputStream in = store.fs().open(path)) {
        ColumnarBytes reader = new ColumnarBytes(before, in);
        reader.footer();
        for (int group = 0; group < GROUPS && end.isEmpty(); group++) {
          if (group == 3) {
            store.put("part-0", after.content());
          }
          int present = group;
          end = outcome(() -> reader.group(present, ColumnarObject.COLUMNS, manner));
        }
      }
      assertThat(end).isEqualTo(RemoteFileChangedException.class.getName());
    }
  }

  /** As a table format tells it that is wrong; what is read is before the end of both. */
  @ParameterizedTest
  @ValueSource(longs = {-200_000, -70_000, -9, -1, 1, 9, 70_000, 3 << 20})
  void aLengthThatIsToldWrongEndsAsWithoutPrediction(long by) throws Exception {
    ColumnarObject object = ColumnarObject.of(GROUPS, 3);
    Map<Stream, List<String>> outcomes = new EnumMap<>(Stream.class);
    for (Stream stream : List.of(Stream.OFF, Stream.AUTO)) {
      List<String> seen = new ArrayList<>();
      try (HostileS3Server server = HostileS3Server.startApart();
          ColumnarStore store = new ColumnarStore(server, stream)) {
        for (Manner manner : Manner.values()) {
          Path path = store.put(manner + "/part-0", object.content());
          long told = object.content().length + by;
          try (FSDataInputStream in =
              store
                  .fs()
                  .openFile(path)
                  .opt("fs.option.openfile.length", Long.toString(told))
                  .opt("fs.option.openfile.read.policy", "parquet, vector, random")
                  .build()
                  .get()) {
            ColumnarBytes reader = new ColumnarBytes(object, in);
            seen.add(outcome(reader::footer));
            for (int group = 0; group < 5; group++) {
              int present = group;
              seen.add(outcome(() -> reader.group(present, ColumnarObject.COLUMNS, manner)));
            }
            seen.add(outcome(reader::footer));
          }
        }
      }
      outcomes.put(stream, seen);
    }
    assertThat(outcomes.get(Stream.AUTO)).isEqualTo(outcomes.get(Stream.OFF));
  }

  private interface Read {
    void run() throws IOException;
  }

  /** The class of its failure; empty if there is none. */
  private static String outcome(Read read) {
    try {
      read.run();
      return "";
    } catch (IOException e) {
      return e.getClass().getName();
    }
  }
}
