// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * An approximate history of the fetches from S3: bytes that are fetched a second time are worth a
 * place on disk, whichever tenant reads them. A table of fixed size that forgets what another entry
 * has replaced, and confuses two objects once in 2³² times, which costs a write.
 *
 * <p>One entry for {@value #ENTRY_CHUNKS} chunks: 48 bits of the hash of their place, and a bit for
 * each chunk. The other bits say which entry, or one of the {@value #WAYS} around it if another has
 * that: with one place for each, a seventh of 10 GiB forgot one another in each pass. Any thread;
 * an update that another one overtakes is lost.
 */
public final class FetchHistory {
  private static final int ENTRY_CHUNKS = 16;

  /** 64 GiB of chunks. */
  private static final int ENTRY_BITS = 16;

  private static final int WAYS = 4;
  private static final long CHUNKS_MASK = (1L << ENTRY_CHUNKS) - 1;

  private final AtomicLongArray entries = new AtomicLongArray(1 << ENTRY_BITS);

  /** Whether at least half of the chunks were fetched. */
  public boolean wasFetched(ChunkRange chunks) {
    return 2 * visit(chunks, false) >= chunks.end() - chunks.first();
  }

  /** Chunks have been fetched. */
  public void fetched(ChunkRange chunks) {
    int unused = visit(chunks, true);
  }

  /** How many of the chunks were fetched; notes them all if told to. */
  private int visit(ChunkRange chunks, boolean notes) {
    int before = 0;
    for (int chunk = chunks.first(); chunk < chunks.end(); ) {
      int group = chunk / ENTRY_CHUNKS;
      int end = Math.min(chunks.end(), (group + 1) * ENTRY_CHUNKS);
      int from = chunk % ENTRY_CHUNKS;
      long bits = (1L << (end - group * ENTRY_CHUNKS)) - (1L << from);
      before += visit(chunks.object().mixedWith(group), bits, notes);
      chunk = end;
    }
    return before;
  }

  /** How many of the bits were there. */
  private int visit(long hash, long bits, boolean notes) {
    int home = (int) (hash >>> (Long.SIZE - ENTRY_BITS));
    long name = hash << ENTRY_CHUNKS;
    int at = home;
    for (int way = 0; way < WAYS; way++) {
      long entry = entries.getPlain(home ^ way);
      if ((entry & ~CHUNKS_MASK) == name) {
        if (notes) {
          entries.setPlain(home ^ way, entry | bits);
        }
        return Long.bitCount(entry & bits);
      }
      at = entry == 0 ? home ^ way : at;
    }
    if (notes) {
      entries.setPlain(at, name | bits);
    }
    return 0;
  }
}
