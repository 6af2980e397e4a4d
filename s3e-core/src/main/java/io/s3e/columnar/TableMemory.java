// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.prefetch.TableLedger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What streams read of the files of one table, which is: of files with the same schema in one
 * place. Any thread; holds its lock for a few comparisons of bit sets.
 */
final class TableMemory {
  /** Queries that read one table at once, by turns. */
  private static final int SCANS = 4;

  /** What a visit tells beyond is forgotten: a table's visits take 8 KiB at most. */
  private static final int MOST_GROUPS = 4096;

  /** Streams of a query that are believed to tell of the next. */
  private static final int VISITS = 4;

  /**
   * The groups that one stream has read.
   *
   * @param groups counted from the first of the split, or, where no split was known, from the first
   *     that was read; not to be changed
   * @param isWhole whether they are all of a known split
   */
  record Visit(BitSet groups, boolean isWhole) {
    /** The group that such a reader comes to after {@code group}; {@code end} if to none before. */
    int next(int group, int end) {
      int next = isWhole ? group + 1 : groups.nextSetBit(group + 1);
      return next < 0 ? end : Math.min(next, end);
    }

    Visit {
      groups = groups.get(0, MOST_GROUPS);
    }

    /** Whether it left none out between the first and the last that it read. */
    boolean isInRow() {
      return groups.cardinality() == groups.length() - groups.nextSetBit(0);
    }
  }

  /** What streams read that read the same columns, none for ORC; the latest visit first. */
  record Scan(BitSet columns, List<Visit> visits) {}

  final TableLedger ledger = new TableLedger();

  /** The latest first; no two with the same columns. */
  private final Deque<Scan> scans = new ArrayDeque<>();

  /** Another JVM's stream read these columns. */
  synchronized void recall(BitSet columns) {
    add(new Scan(columns, List.of()));
  }

  /** Which columns were read together, the latest last. */
  synchronized List<BitSet> columns() {
    List<BitSet> all = new ArrayList<>();
    scans.descendingIterator().forEachRemaining(scan -> all.add(scan.columns));
    return all;
  }

  synchronized void remember(BitSet columns, Visit visit) {
    Predicate<Scan> isSame = each -> each.columns.equals(columns);
    Stream<Visit> before = scans.stream().filter(isSame).flatMap(each -> each.visits.stream());
    List<Visit> visits = Stream.concat(Stream.of(visit), before).limit(VISITS).toList();
    scans.removeIf(isSame);
    add(new Scan(columns, visits));
  }

  private void add(Scan latest) {
    scans.addFirst(latest);
    if (scans.size() > SCANS) {
      scans.removeLast();
    }
  }

  /** The latest scan that read all of these columns; null if none did. */
  synchronized @Nullable Scan like(BitSet columns) {
    for (Scan scan : scans) {
      BitSet others = (BitSet) columns.clone();
      others.andNot(scan.columns);
      if (others.isEmpty()) {
        return scan;
      }
    }
    return null;
  }
}
