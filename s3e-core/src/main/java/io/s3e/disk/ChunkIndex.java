// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.Region.Place;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where the chunks of a cache on disk are: chained hashing over one entry for each chunk that is
 * known to be in a {@link Region}, the one that was added last.
 *
 * <p><b>Entries</b> are {@value #WORDS} words each, {@value #ENTRY_BYTES} bytes of heap with their
 * share of the table: no objects, because there may be half a million. The words: first and second
 * of the object's hash, which counts its length in; the hash's third with the number of the chunk;
 * {@code where} (region, slot), {@value #NONE} for an entry that is free, with the next entry of
 * the chain; two of the seal.
 *
 * <p>Any thread, under one lock that is held for a few steps a chunk and never over the disk.
 */
final class ChunkIndex {
  static final int ENTRY_BYTES = 54;
  private static final int WORDS = 6;
  private static final int SECOND = 1;
  private static final int THIRD_AND_CHUNK = 2;
  private static final int WHERE_AND_NEXT = 3;
  private static final int HIGH = 4;
  private static final int LOW = 5;

  private static final int NONE = -1;

  /** Entries that are made, and forgotten, at once: 1 ms. */
  private static final int BLOCK_BITS = 12;

  private static final int BLOCK = 1 << BLOCK_BITS;

  // Guarded by this.
  private final @Nullable Region[] regions = new Region[Region.MOST_COUNT];
  private volatile long[][] blocks = new long[0][]; // to see by isEmpty() without the lock
  private int[] heads = new int[BLOCK];

  /** The first entry of those that are free, which are chained as well. */
  private int free = NONE;

  ChunkIndex() {
    Arrays.fill(heads, NONE);
  }

  /** A region whose entries may be added from now on; no other one has its number. */
  synchronized void enter(Region region) {
    int number = region.header.number();
    if (number >= regions.length || regions[number] != null) {
      throw new IllegalArgumentException(region + " cannot be entered: its number is taken");
    }
    regions[number] = region;
  }

  /** The region that is entered under a number, or not yet forgotten; null if there is none. */
  synchronized @Nullable Region region(int number) {
    return regions[number];
  }

  /** Whether none has ever been there. */
  boolean isEmpty() {
    return blocks.length == 0;
  }

  /** How many chunks are there from {@code first} on without a gap, and before {@code end}. */
  synchronized int presentFrom(StoredObject object, int first, int end) {
    int chunk = first;
    while (chunk < end && find(object, chunk) != NONE) {
      chunk++;
    }
    return chunk - first;
  }

  synchronized @Nullable Place place(StoredObject object, int chunk) {
    int found = find(object, chunk);
    return found == NONE
        ? null
        : new Place(
            object, chunk, regionOf(found), slotOf(found), get(found, HIGH), get(found, LOW));
  }

  /**
   * A chunk was appended to a region; replaces what stood for it. False if the region cannot have
   * more entries, or is forgotten: then the chunk is not known to be there.
   */
  synchronized boolean add(Place place) {
    Region region = place.region();
    if (!isEntered(region)) {
      return false;
    }
    // Its slots are used, whether it is known or not.
    region.takenUntil(place.endSlot());
    if (region.entries >= region.mostEntries) {
      return false;
    }
    StoredObject object = place.object();
    int where = region.header.number();
    remove(find(object, place.chunk()));
    if (free == NONE) {
      grow();
    }
    int entry = free;
    free = nextOf(entry);
    set(entry, 0, object.first());
    set(entry, SECOND, object.second());
    set(entry, THIRD_AND_CHUNK, pair(object.third(), place.chunk()));
    set(entry, WHERE_AND_NEXT, pair(where << Region.SLOT_BITS | place.slot(), NONE));
    set(entry, HIGH, place.sealHigh());
    set(entry, LOW, place.sealLow());
    chain(entry);
    region.entries++;
    return true;
  }

  /** A chunk is not what it should be: forgets its place; false if it was none any more. */
  synchronized boolean drop(Place place) {
    int found = find(place.object(), place.chunk());
    boolean stands =
        found != NONE && regionOf(found) == place.region() && slotOf(found) == place.slot();
    remove(stands ? found : NONE);
    return stands;
  }

  /**
   * Forgets a region and all that is in it. Others come in between where there is much: until the
   * last is forgotten, what is left stands.
   */
  void forget(Region region) {
    for (int block = 0; !forget(region, block); ) {
      block++;
    }
  }

  /** Forgets what is in one block; true if nothing of the region is left. */
  private synchronized boolean forget(Region region, int block) {
    int end = (block + 1) << BLOCK_BITS;
    for (int entry = block << BLOCK_BITS; region.entries > 0 && entry < end; entry++) {
      if (whereOf(entry) >> Region.SLOT_BITS == region.header.number() && isEntered(region)) {
        remove(entry);
      }
    }
    boolean isForgotten = region.entries == 0;
    if (isForgotten && isEntered(region)) {
      regions[region.header.number()] = null;
    }
    return isForgotten;
  }

  private int find(StoredObject object, int chunk) {
    int at = heads[headOf(object.hashCode(), chunk)];
    while (at != NONE
        && (get(at, 0) != object.first()
            || get(at, SECOND) != object.second()
            || get(at, THIRD_AND_CHUNK) != pair(object.third(), chunk))) {
      at = nextOf(at);
    }
    return at;
  }

  private void chain(int entry) {
    int head = headOf(entry);
    setNext(entry, heads[head]);
    heads[head] = entry;
  }

  private void remove(int gone) {
    if (gone == NONE) {
      return;
    }
    Region region = regionOf(gone);
    int head = headOf(gone);
    if (heads[head] == gone) {
      heads[head] = nextOf(gone);
    } else {
      int at = heads[head];
      while (nextOf(at) != gone) {
        at = nextOf(at);
      }
      setNext(at, nextOf(gone));
    }
    release(gone);
    region.entries--;
  }

  private void release(int entry) {
    set(entry, WHERE_AND_NEXT, pair(NONE, free));
    free = entry;
  }

  /** Makes a block of free entries, and the table as long as there are entries. */
  private void grow() {
    int first = blocks.length << BLOCK_BITS;
    if (heads.length < first + BLOCK) {
      heads = new int[heads.length * 2];
      Arrays.fill(heads, NONE);
      for (int entry = 0; entry < first; entry++) {
        // All are in use: there was none free.
        chain(entry);
      }
    }
    long[][] more = Arrays.copyOf(blocks, blocks.length + 1);
    more[blocks.length] = new long[BLOCK * WORDS];
    blocks = more;
    for (int entry = first; entry < first + BLOCK; entry++) {
      release(entry);
    }
  }

  private int headOf(int entry) {
    return headOf((int) get(entry, 0), (int) get(entry, THIRD_AND_CHUNK));
  }

  private int headOf(int object, int chunk) {
    int mixed = object + chunk * 0x9E3779B1;
    return (mixed ^ mixed >>> 15) & (heads.length - 1);
  }

  private boolean isEntered(Region region) {
    return regions[region.header.number()] == region;
  }

  private Region regionOf(int entry) {
    return Objects.requireNonNull(regions[whereOf(entry) >>> Region.SLOT_BITS]);
  }

  private int slotOf(int entry) {
    return whereOf(entry) & ((1 << Region.SLOT_BITS) - 1);
  }

  private int whereOf(int entry) {
    return (int) (get(entry, WHERE_AND_NEXT) >>> Integer.SIZE);
  }

  private int nextOf(int entry) {
    return (int) get(entry, WHERE_AND_NEXT);
  }

  private void setNext(int entry, int next) {
    set(entry, WHERE_AND_NEXT, pair(whereOf(entry), next));
  }

  private long get(int entry, int word) {
    return blocks[entry >>> BLOCK_BITS][(entry & (BLOCK - 1)) * WORDS + word];
  }

  private void set(int entry, int word, long value) {
    blocks[entry >>> BLOCK_BITS][(entry & (BLOCK - 1)) * WORDS + word] = value;
  }

  private static long pair(int high, int low) {
    return (long) high << Integer.SIZE | (low & 0xFFFF_FFFFL);
  }
}
