// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import io.s3e.block.ByteRange;
import io.s3e.columnar.PlaceFacts;
import io.s3e.columnar.PlaceFacts.ColumnScan;
import io.s3e.columnar.PlaceFacts.FileShape;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of one table, which is a directory of a bucket: the core's facts as JSON has them.
 * Whatever a file says, {@link #facts} gives what is possible of it. Less than {@value #MOST_BYTES}
 * bytes as JSON.
 *
 * @param place bucket and directory
 * @param millis when it was learnt last, since 1970
 * @param footerBytes of the end of a file that hold its footer; 0 if that is not known
 * @param files the latest that were read whole in one group, the latest last
 * @param scans which columns were read together, the latest last
 */
public record TableFacts(
    String place, long millis, long footerBytes, List<Shape> files, List<Scan> scans) {
  static final int MOST_BYTES = 64 << 10;

  /** Clocks differ by less; what is of later than that has the time of one that was wrong. */
  private static final long MOST_AHEAD_MILLIS = TimeUnit.DAYS.toMillis(1);

  private static final int MOST_PLACE = 2048;
  private static final int MOST_FILES = 4;
  private static final int MOST_RANGES = 16;
  private static final int MOST_SCANS = 8;

  /** Columns of wider tables are not kept. */
  private static final int MOST_COLUMNS = 8 << 10;

  /** No reader of footers takes a longer one. */
  private static final long MOST_FOOTER_BYTES = 16 << 20;

  /**
   * One file.
   *
   * @param bounds start and end of each range that was read
   */
  public record Shape(long bytes, long dataEnd, List<Long> bounds) {
    public Shape {
      bounds = copy(bounds);
    }

    static Shape of(FileShape file) {
      List<Long> bounds = new ArrayList<>();
      for (ByteRange range : file.ranges()) {
        bounds.add(range.start());
        bounds.add(range.end());
      }
      return new Shape(file.objectSize(), file.dataEnd(), bounds);
    }

    /** Null if there is no such file. */
    @Nullable FileShape file() {
      boolean isFile = dataEnd > 0 && dataEnd <= bytes && bounds.size() % 2 == 0;
      List<ByteRange> ranges = new ArrayList<>();
      long last = 0;
      for (int i = 0; isFile && i < bounds.size(); i += 2) {
        long start = bounds.get(i);
        long end = bounds.get(i + 1);
        isFile = start >= last && end > start && end <= dataEnd;
        last = end;
        if (isFile) {
          ranges.add(new ByteRange(start, end));
        }
      }
      return isFile && !ranges.isEmpty() && ranges.size() <= MOST_RANGES
          ? new FileShape(bytes, dataEnd, ranges)
          : null;
    }
  }

  /**
   * Columns of one schema.
   *
   * @param schema a hash of it
   * @param columns a bit for each by ordinal, the lowest byte first, in hexadecimal digits
   */
  public record Scan(long schema, String columns) {
    public Scan {
      columns = columns == null ? "" : columns;
    }

    static Scan of(ColumnScan scan) {
      return new Scan(scan.schema(), HexFormat.of().formatHex(scan.columns().toByteArray()));
    }

    /** Null if these are no columns. */
    @Nullable ColumnScan scan() {
      try {
        boolean isLong = columns.length() > MOST_COLUMNS / 4;
        BitSet bits = isLong ? new BitSet() : BitSet.valueOf(HexFormat.of().parseHex(columns));
        return bits.isEmpty() ? null : new ColumnScan(schema, bits);
      } catch (IllegalArgumentException e) {
        return null;
      }
    }
  }

  public TableFacts {
    place = place == null ? "" : place;
    millis = possible(millis);
    files = latest(copy(files), MOST_FILES);
    scans = latest(copy(scans), MOST_SCANS);
  }

  /**
   * The same; 0, before all others, if it is yet to come: else it would be the latest until then.
   */
  static long possible(long millis) {
    return millis > System.currentTimeMillis() + MOST_AHEAD_MILLIS ? 0 : millis;
  }

  static <T> List<T> copy(@Nullable List<T> list) {
    return list == null || list.stream().anyMatch(Objects::isNull) ? List.of() : List.copyOf(list);
  }

  private static <T> List<T> latest(List<T> list, int most) {
    return list.subList(Math.max(0, list.size() - most), list.size());
  }

  static TableFacts of(String place, long millis, PlaceFacts facts) {
    return new TableFacts(
        place,
        millis,
        facts.footerBytes(),
        facts.files().stream().map(Shape::of).toList(),
        facts.scans().stream().map(Scan::of).toList());
  }

  /** As the core takes it, without what cannot be. */
  PlaceFacts facts() {
    boolean isFooter = footerBytes > 0 && footerBytes <= MOST_FOOTER_BYTES;
    return new PlaceFacts(
        isFooter ? footerBytes : 0,
        files.stream().flatMap(each -> Stream.ofNullable(each.file())).toList(),
        scans.stream().flatMap(each -> Stream.ofNullable(each.scan())).toList());
  }

  /** Without what cannot be; null if that leaves nothing. */
  @Nullable TableFacts possible() {
    TableFacts possible = of(place, millis, facts());
    boolean isEmpty =
        possible.footerBytes == 0 && possible.files.isEmpty() && possible.scans.isEmpty();
    return isEmpty || place.isEmpty() || place.length() > MOST_PLACE ? null : possible;
  }

  /** What both know of one table, the same however often either is added again. */
  TableFacts with(TableFacts other) {
    return other.millis <= millis ? other.then(this) : then(other);
  }

  /** Whether both tell the same, whenever they learnt it. */
  boolean tellsAsMuchAs(TableFacts other) {
    return footerBytes == other.footerBytes
        && files.equals(other.files)
        && scans.equals(other.scans);
  }

  /** What both know of one table, {@code other} at the same time or later. */
  TableFacts then(TableFacts other) {
    // Who has read data and no file in one group knows that files are not alike any more.
    boolean isAlike = !other.files.isEmpty() || other.scans.isEmpty();
    return new TableFacts(
        place,
        Math.max(millis, other.millis),
        other.footerBytes > 0 ? other.footerBytes : footerBytes,
        isAlike ? union(files, other.files) : List.of(),
        union(scans, other.scans));
  }

  /** Each as often as in the one that has it more often: two files may be the same to a byte. */
  private static <T> List<T> union(List<T> first, List<T> then) {
    List<T> all = new ArrayList<>(first);
    then.forEach(all::remove);
    all.addAll(then);
    return all;
  }
}
