package io.s3e.columnar;

import io.s3e.prefetch.TableLedger;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What streams read of the files of one table, which is: of files with the same schema in one
 * place. Any thread; holds its lock for a few comparisons of bit sets.
 */
final class TableMemory {
  /** Queries that read one table at once, by turns. */
  private static final int SCANS = 4;

  /**
   * The columns and groups that one stream has read.
   *
   * @param columns ordinals of the columns, not to be changed; empty for ORC
   * @param groups how many groups in a row
   * @param wentOn whether it read more than one group, or all of its split
   */
  record Scan(BitSet columns, int groups, boolean wentOn) {}

  private final TableLedger ledger = new TableLedger();

  /** The latest first; no two with the same columns. */
  private final Deque<Scan> scans = new ArrayDeque<>();

  TableLedger ledger() {
    return ledger;
  }

  synchronized void remember(Scan scan) {
    scans.removeIf(each -> each.columns.equals(scan.columns));
    scans.addFirst(scan);
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
