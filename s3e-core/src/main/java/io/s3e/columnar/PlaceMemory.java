package io.s3e.columnar;

import io.s3e.prefetch.TableLedger;

/**
 * What streams learn of the files in one place that serves before the footer of the next one is
 * read.
 *
 * @param tails how long footers are
 * @param alike where column data lies
 * @param ledger of guesses by these
 */
record PlaceMemory(TailMemory tails, AlikeFiles alike, TableLedger ledger) {
  PlaceMemory() {
    this(new TailMemory(), new AlikeFiles(), new TableLedger());
  }
}
