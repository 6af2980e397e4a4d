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
final class FetchHistory {
  private static final int ENTRY_CHUNKS = 16;

  /** 64 GiB of chunks. */
  private static final int ENTRY_BITS = 16;

  private static final int WAYS = 4;
  private static final long CHUNKS_MASK = (1L << ENTRY_CHUNKS) - 1;

  private final AtomicLongArray entries = new AtomicLongArray(1 << ENTRY_BITS);

  /** Chunks are about to be fetched; whether at least half of them were before. */
  boolean fetched(ChunkRange chunks) {
    int before = 0;
    for (int chunk = chunks.first(); chunk < chunks.end(); ) {
      int group = chunk / ENTRY_CHUNKS;
      int end = Math.min(chunks.end(), (group + 1) * ENTRY_CHUNKS);
      int from = chunk % ENTRY_CHUNKS;
      long bits = (1L << (end - group * ENTRY_CHUNKS)) - (1L << from);
      before += note(chunks.object().mixedWith(group), bits);
      chunk = end;
    }
    return 2 * before >= chunks.end() - chunks.first();
  }

  /** How many of the bits were there. */
  private int note(long hash, long bits) {
    int home = (int) (hash >>> (Long.SIZE - ENTRY_BITS));
    long name = hash << ENTRY_CHUNKS;
    int at = home;
    for (int way = 0; way < WAYS; way++) {
      long entry = entries.getPlain(home ^ way);
      if ((entry & ~CHUNKS_MASK) == name) {
        entries.setPlain(home ^ way, entry | bits);
        return Long.bitCount(entry & bits);
      }
      at = entry == 0 ? home ^ way : at;
    }
    entries.setPlain(at, name | bits);
    return 0;
  }
}
