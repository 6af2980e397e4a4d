package io.s3e.disk;

import io.s3e.disk.Region.Place;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;

/**
 * Where the chunks of a cache on disk are: chained hashing over one entry for each chunk that is
 * known to be in a {@link Region}, the one that was added last.
 *
 * <p><b>Entries</b> are {@value #WORDS} words each, {@value Region#ENTRY_BYTES} bytes with their
 * share of the table: no objects, because there may be half a million. The words: first and second
 * of the object's hash; its third with the number of the chunk; the object's length, 0 for an entry
 * that is free; {@code where} (region, slot) with the next entry of the chain; two of the seal.
 *
 * <p>Any thread, under one lock that is held for a few steps a chunk and never over the disk;
 * readers share it.
 */
final class ChunkIndex {
  private static final int WORDS = 7;
  private static final int SECOND = 1;
  private static final int THIRD_AND_CHUNK = 2;
  private static final int SIZE = 3;
  private static final int WHERE_AND_NEXT = 4;
  private static final int HIGH = 5;
  private static final int LOW = 6;

  private static final int NONE = -1;

  /** Entries that are made, and forgotten, at once: 1 ms. */
  private static final int BLOCK_BITS = 12;

  private static final int BLOCK = 1 << BLOCK_BITS;

  private static final int FIRST_HEADS = 1 << 10;

  private final StampedLock lock = new StampedLock();

  // Guarded by the lock.
  private @Nullable Region[] regions = new Region[0];
  private long[][] blocks = new long[0][];
  private int[] heads = new int[FIRST_HEADS];

  /** The first entry of those that are free, which are chained as well. */
  private int free = NONE;

  ChunkIndex() {
    Arrays.fill(heads, NONE);
  }

  /** A region whose entries may be added from now on; no other one has its number. */
  void enter(Region region) {
    long stamp = lock.writeLock();
    try {
      int number = region.number();
      if (regions.length <= number) {
        regions = Arrays.copyOf(regions, number + 1);
      }
      if (number >= Region.MOST_COUNT || regions[number] != null) {
        throw new IllegalArgumentException(region + " cannot be in place of " + regions[number]);
      }
      regions[number] = region;
    } finally {
      lock.unlockWrite(stamp);
    }
  }

  /** How many chunks are there from {@code first} on without a gap, and before {@code end}. */
  int presentFrom(StoredObject object, int first, int end) {
    long stamp = lock.readLock();
    try {
      int chunk = first;
      while (chunk < end && find(object, chunk) != NONE) {
        chunk++;
      }
      return chunk - first;
    } finally {
      lock.unlockRead(stamp);
    }
  }

  /** Where a chunk is; null if it is nowhere. */
  @Nullable Place place(StoredObject object, int chunk) {
    long stamp = lock.readLock();
    try {
      int found = find(object, chunk);
      return found == NONE ? null : placeOf(found);
    } finally {
      lock.unlockRead(stamp);
    }
  }

  /**
   * A chunk was appended to a region. Replaces what stood for it.
   *
   * @return false if the region cannot have more entries, or is forgotten; then the chunk is not
   *     known to be there
   */
  boolean add(Place place) {
    Region region = place.region();
    long stamp = lock.writeLock();
    try {
      if (!isEntered(region)) {
        return false;
      }
      // Its slots are used, whether it is known or not.
      region.takenUntil(place.endSlot());
      if (region.entries() >= region.mostEntries()) {
        return false;
      }
      if (free == NONE) {
        grow();
      }
      int before = find(place.object(), place.chunk());
      if (before != NONE) {
        remove(before);
      }
      int entry = free;
      free = nextOf(entry);
      StoredObject object = place.object();
      set(entry, 0, object.first());
      set(entry, SECOND, object.second());
      set(entry, THIRD_AND_CHUNK, pair(object.third(), place.chunk()));
      set(entry, SIZE, object.size());
      set(entry, HIGH, place.sealHigh());
      set(entry, LOW, place.sealLow());
      int head = headOf(object.hashCode(), place.chunk());
      int where = region.number() << Region.SLOT_BITS | place.slot();
      set(entry, WHERE_AND_NEXT, pair(where, heads[head]));
      heads[head] = entry;
      region.setEntries(region.entries() + 1);
      return true;
    } finally {
      lock.unlockWrite(stamp);
    }
  }

  /**
   * A chunk is not what it should be: its place is forgotten.
   *
   * @return false if it was no chunk's place any more
   */
  boolean drop(Place place) {
    long stamp = lock.writeLock();
    try {
      int found = find(place);
      if (found != NONE) {
        remove(found);
      }
      return found != NONE;
    } finally {
      lock.unlockWrite(stamp);
    }
  }

  /**
   * Forgets a region and all that is in it. Readers come in between where there is much: until the
   * last is forgotten, what is left stands.
   */
  void forget(Region region) {
    boolean isForgotten = false;
    for (int block = 0; !isForgotten; block++) {
      long stamp = lock.writeLock();
      try {
        for (int entry = block << BLOCK_BITS;
            region.entries() > 0 && entry < (block + 1) << BLOCK_BITS;
            entry++) {
          if (isIn(region, entry)) {
            remove(entry);
          }
        }
        isForgotten = region.entries() == 0;
        if (isForgotten && isEntered(region)) {
          regions[region.number()] = null;
        }
      } finally {
        lock.unlockWrite(stamp);
      }
    }
  }

  private int find(StoredObject object, int chunk) {
    int at = heads[headOf(object.hashCode(), chunk)];
    while (at != NONE
        && (get(at, 0) != object.first()
            || get(at, SECOND) != object.second()
            || get(at, THIRD_AND_CHUNK) != pair(object.third(), chunk)
            || get(at, SIZE) != object.size())) {
      at = nextOf(at);
    }
    return at;
  }

  /** The entry of a chunk, if that is where it stands. */
  private int find(Place place) {
    Region region = place.region();
    int found = find(place.object(), place.chunk());
    boolean stands = found != NONE && regionOf(found) == region && slotOf(found) == place.slot();
    return stands ? found : NONE;
  }

  private Place placeOf(int entry) {
    long thirdAndChunk = get(entry, THIRD_AND_CHUNK);
    int third = (int) (thirdAndChunk >>> Integer.SIZE);
    Region region = regionOf(entry);
    return new Place(
        new StoredObject(get(entry, 0), get(entry, SECOND), third, get(entry, SIZE)),
        (int) thirdAndChunk,
        region,
        slotOf(entry),
        get(entry, HIGH),
        get(entry, LOW));
  }

  private void remove(int gone) {
    Region region = regionOf(gone);
    int next = nextOf(gone);
    int head = headOf((int) get(gone, 0), (int) get(gone, THIRD_AND_CHUNK));
    if (heads[head] == gone) {
      heads[head] = next;
    } else {
      int at = heads[head];
      while (nextOf(at) != gone) {
        at = nextOf(at);
      }
      setNext(at, next);
    }
    set(gone, SIZE, 0);
    setNext(gone, free);
    free = gone;
    region.setEntries(region.entries() - 1);
  }

  /** Makes a block of free entries, and the table as long as there are entries. */
  private void grow() {
    int first = blocks.length << BLOCK_BITS;
    long[][] more = Arrays.copyOf(blocks, blocks.length + 1);
    more[blocks.length] = new long[BLOCK * WORDS];
    int length = heads.length < first + BLOCK ? heads.length * 2 : heads.length;
    int[] table = length > heads.length ? new int[Math.max(length, BLOCK)] : heads;
    blocks = more;
    for (int entry = first; entry < first + BLOCK; entry++) {
      setNext(entry, free);
      free = entry;
    }
    if (table != heads) {
      heads = table;
      Arrays.fill(heads, NONE);
      for (int entry = 0; entry < first; entry++) {
        // All are in use: there was none free.
        int head = headOf((int) get(entry, 0), (int) get(entry, THIRD_AND_CHUNK));
        setNext(entry, heads[head]);
        heads[head] = entry;
      }
    }
  }

  private int headOf(int object, int chunk) {
    int mixed = object + chunk * 0x9E3779B1;
    return (mixed ^ mixed >>> 15) & (heads.length - 1);
  }

  private boolean isEntered(Region region) {
    return region.number() < regions.length && regions[region.number()] == region;
  }

  private boolean isIn(Region region, int entry) {
    return get(entry, SIZE) != 0 && regionOf(entry) == region;
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
