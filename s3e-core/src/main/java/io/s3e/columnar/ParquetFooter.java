// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a {@link FileLayout} needs out of the footer of a Parquet file, and passes over the
 * rest: statistics, names, pages' encodings. Fields are those of parquet.thrift.
 *
 * <p>Time grows with the footer's length and nothing else; memory by less than four times of it:
 * the counts of groups and columns are believed only as far as the footer has bytes for so many.
 */
final class ParquetFooter {
  /** Of 64 MiB of footer a reader makes objects for seconds; nothing is to be won there. */
  static final int MAX_BYTES = 16 << 20;

  /** What the required fields of a column chunk take at least is 22; its layout takes 56. */
  private static final int LEAST_CHUNK_BYTES = 16;

  private static final int FILE_SCHEMA = 2;
  private static final int FILE_ROW_GROUPS = 4;
  private static final int FILE_ENCRYPTION = 8;

  private static final int GROUP_COLUMNS = 1;
  private static final int GROUP_COMPRESSED = 6;

  private static final int CHUNK_FILE = 1;
  private static final int CHUNK_METADATA = 3;
  private static final int CHUNK_OFFSET_INDEX = 4;
  private static final int CHUNK_OFFSET_INDEX_LENGTH = 5;
  private static final int CHUNK_COLUMN_INDEX = 6;
  private static final int CHUNK_COLUMN_INDEX_LENGTH = 7;
  private static final int CHUNK_CRYPTO = 8;
  private static final int CHUNK_ENCRYPTED = 9;

  private static final int COLUMN_COMPRESSED = 7;
  private static final int COLUMN_DATA_PAGE = 9;
  private static final int COLUMN_DICTIONARY_PAGE = 11;
  private static final int COLUMN_BLOOM_FILTER = 14;
  private static final int COLUMN_BLOOM_FILTER_LENGTH = 15;

  /** More than the ids of the fields that are read. */
  private static final int FIELDS = 16;

  private static final long ABSENT = Long.MIN_VALUE;

  private final CompactReader in;
  private final long footerStart;

  /** Made when the first row group has told how many columns there are, or if there is none. */
  private @Nullable LayoutBuilder layout;

  private int groups;
  private long schema;

  /** Where the chunks of the group that is being read begin, and how long they are together. */
  private long firstByte;

  private long chunkBytes;

  /** Numbers of the group that is read, of its chunk, and of that one's metadata, by field. */
  private final long[] ofGroup = new long[FIELDS];

  private final long[] chunk = new long[FIELDS];
  private final long[] metadata = new long[FIELDS];

  private ParquetFooter(byte[] footer, long footerStart) {
    this.in = new CompactReader(footer, 0, footer.length);
    this.footerStart = footerStart;
  }

  /**
   * The layout of a file whose footer's Thrift bytes begin at {@code footerStart}.
   *
   * @throws MalformedException if they are no footer, or one with anything in doubt
   */
  static FileLayout parse(byte[] footer, long footerStart) throws MalformedException {
    return new ParquetFooter(footer, footerStart).readFile();
  }

  private FileLayout readFile() throws MalformedException {
    in.enterStruct();
    while (in.nextField()) {
      switch (in.field()) {
        case FILE_SCHEMA -> readSchema();
        case FILE_ROW_GROUPS -> readGroups();
        case FILE_ENCRYPTION -> throw new MalformedException("encrypted");
        default -> in.skipField();
      }
    }
    if (layout == null) {
      throw new MalformedException("no row groups");
    }
    layout.schema(schema);
    return layout.build();
  }

  private void readSchema() throws MalformedException {
    int start = in.at;
    in.skipField();
    CRC32C sum = new CRC32C();
    sum.update(in.bytes, start, in.at - start);
    schema = sum.getValue();
  }

  private void readGroups() throws MalformedException {
    if (layout != null) {
      throw new MalformedException("row groups twice");
    }
    groups = in.enterListOfStructs();
    if (groups == 0) {
      layout = new LayoutBuilder(FileLayout.Format.PARQUET, footerStart, 0, 0);
    }
    for (int group = 0; group < groups; group++) {
      readGroup(group);
    }
  }

  /**
   * Readers give a group to the split that holds its middle, counted from its first chunk on: the
   * offset that a group has of its own is wrong in files of Arrow before 6 and parquet-java 1.12.0.
   */
  private void readGroup(int group) throws MalformedException {
    Arrays.fill(ofGroup, ABSENT);
    LayoutBuilder told = null;
    firstByte = Long.MAX_VALUE;
    chunkBytes = 0;
    in.enterStruct();
    while (in.nextField()) {
      if (in.field() != GROUP_COLUMNS) {
        in.readNumber(ofGroup);
      } else if (told != null) {
        throw new MalformedException("columns twice");
      } else {
        told = readColumns(group);
      }
    }
    if (told == null) {
      throw new MalformedException("a row group without columns");
    }
    long bytes = ofGroup[GROUP_COMPRESSED] == ABSENT ? chunkBytes : ofGroup[GROUP_COMPRESSED];
    if (bytes < 0 || bytes > footerStart) {
      throw new MalformedException("a group of " + bytes + " bytes");
    }
    told.layout.groupMark[group] = firstByte + bytes / 2;
  }

  private LayoutBuilder readColumns(int group) throws MalformedException {
    int count = in.enterListOfStructs();
    LayoutBuilder told = layout;
    if (told == null) {
      if (count == 0 || (long) groups * count > in.bytes.length / LEAST_CHUNK_BYTES) {
        throw new MalformedException(groups + " groups of " + count + " columns in so few bytes");
      }
      told = new LayoutBuilder(FileLayout.Format.PARQUET, footerStart, groups, count);
      layout = told;
    } else if (count != told.layout.columns) {
      int columns = told.layout.columns;
      throw new MalformedException("groups of " + columns + " and of " + count + " columns");
    }
    for (int column = 0; column < count; column++) {
      readChunk();
      add(told, group, column);
    }
    return told;
  }

  private void readChunk() throws MalformedException {
    Arrays.fill(chunk, ABSENT);
    Arrays.fill(metadata, ABSENT);
    in.enterStruct();
    while (in.nextField()) {
      switch (in.field()) {
        case CHUNK_METADATA -> {
          in.enterStructField();
          while (in.nextField()) {
            in.readNumber(metadata);
          }
        }
        case CHUNK_FILE -> throw new MalformedException("a chunk in another file");
        case CHUNK_CRYPTO, CHUNK_ENCRYPTED -> throw new MalformedException("an encrypted chunk");
        default -> in.readNumber(chunk);
      }
    }
  }

  private void add(LayoutBuilder told, int group, int column) throws MalformedException {
    long compressed = metadata[COLUMN_COMPRESSED];
    long dataPage = metadata[COLUMN_DATA_PAGE];
    long dictionary = metadata[COLUMN_DICTIONARY_PAGE];
    if (compressed == ABSENT || dataPage == ABSENT) {
      throw new MalformedException("a chunk without a place");
    }
    boolean hasDictionary = dictionary > 0 && dictionary < dataPage;
    long start = hasDictionary ? dictionary : dataPage;
    told.chunk(group, column, start, compressed, dataPage - start);
    firstByte = Math.min(firstByte, start);
    chunkBytes += compressed;
    FileLayout made = told.layout;
    int i = group * made.columns + column;
    long offsetIndex = chunk[CHUNK_OFFSET_INDEX];
    addExtra(told, made.offsetIndexes, i, offsetIndex, chunk[CHUNK_OFFSET_INDEX_LENGTH]);
    long columnIndex = chunk[CHUNK_COLUMN_INDEX];
    addExtra(told, made.columnIndexes, i, columnIndex, chunk[CHUNK_COLUMN_INDEX_LENGTH]);
    long filter = metadata[COLUMN_BLOOM_FILTER];
    long filterBytes = metadata[COLUMN_BLOOM_FILTER_LENGTH];
    addExtra(told, made.bloomFilters, i, filter, filterBytes == ABSENT ? 0 : filterBytes);
    if (filter != ABSENT && filterBytes == ABSENT) {
      // As files of parquet-java 1.13 have it.
      made.bloomFilters.set(i, filter, Extras.UNTOLD);
    }
  }

  private static void addExtra(LayoutBuilder told, Extras extras, int i, long start, long length)
      throws MalformedException {
    if (start != ABSENT) {
      told.requireInside(start, length);
      if (length <= Integer.MAX_VALUE) {
        extras.set(i, start, (int) length);
      }
    }
  }
}
