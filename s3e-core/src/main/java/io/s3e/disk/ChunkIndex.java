package io.s3e.disk;

import io.s3e.disk.Region.Filling;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;

/**
 * Where the chunks of a cache on disk are: chained hashing over the entries of all {@link Region}s.
 * One entry at most stands for a chunk, the one that was added last.
 *
 * <p>An entry is known by one number, its own in the lower {@value Region#ENTRY_BITS} bits and its
 * region's above.
 *
 * <p>Any thread, under one lock that is held for a few steps a chunk and never over the disk;
 * readers share it.
 */
final class ChunkIndex {
  private static final int ENTRY_BITS = Region.ENTRY_BITS;

  private static final int NONE = -1;

  /** Entries that are forgotten at once: 1 ms. */
  private static final int MOST_FORGOTTEN = 1 << 12;

  private static final int FIRST_HEADS = 1 << 10;

  /**
   * Where one chunk is.
   *
   * @param entry its entry in the region
   * @param slot where its bytes begin, in slots
   */
  record Place(Region region, Filling filling, int entry, int slot, long sealHigh, long sealLow) {
    int generation() {
      return filling.generation();
    }
  }

  private final StampedLock lock = new StampedLock();

  // Guarded by the lock.
  private Region[] regions = new Region[0];
  private int[] heads = new int[FIRST_HEADS];
  private int chained;

  ChunkIndex() {
    Arrays.fill(heads, NONE);
  }

  /** A region whose entries may be added from now on; its number is that of those before plus 1. */
  void enter(Region region) {
    long stamp = lock.writeLock();
    try {
      if (region.number() != regions.length || regions.length == Region.MOST_COUNT) {
        throw new IllegalArgumentException(region + " cannot be number " + regions.length);
      }
      regions = Arrays.copyOf(regions, regions.length + 1);
      regions[region.number()] = region;
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
      if (found == NONE) {
        return null;
      }
      Region region = regionOf(found);
      int entry = entryOf(found);
      return new Place(
          region,
          region.filling(),
          entry,
          region.slot(entry),
          region.sealHigh(entry),
          region.sealLow(entry));
    } finally {
      lock.unlockRead(stamp);
    }
  }

  /** Chunks were read: they are worth keeping when their region is recycled. */
  void hit(List<Place> places) {
    long stamp = lock.readLock();
    try {
      for (Place place : places) {
        if (place.region().generation() == place.generation()) {
          // Written by several threads under a shared lock: all of them write the same.
          place.region().hit(place.entry());
        }
      }
    } finally {
      lock.unlockRead(stamp);
    }
  }

  /**
   * A chunk was appended to a region, in its present generation. Replaces what stood for it.
   *
   * @return false if the region cannot have more entries; then the chunk is not known to be there
   */
  boolean add(
      Region region, StoredObject object, int chunk, int slot, long sealHigh, long sealLow) {
    long stamp = lock.writeLock();
    try {
      if (region.isFullWith(0)) {
        return false;
      }
      int before = find(object, chunk);
      if (before != NONE) {
        unchain(before);
        regionOf(before).dropEntry(entryOf(before));
      }
      if (chained >= heads.length) {
        rehash();
      }
      int head = headOf(object.hashCode(), chunk);
      int entry = region.add(object, chunk, slot, sealHigh, sealLow, heads[head]);
      heads[head] = region.number() << ENTRY_BITS | entry;
      region.takenUntil(slot + Region.slotsOf(object.chunkLength(chunk)));
      chained++;
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
      Region region = place.region();
      boolean stands =
          region.generation() == place.generation() && !region.isDropped(place.entry());
      if (stands) {
        unchain(region.number() << ENTRY_BITS | place.entry());
        region.dropEntry(place.entry());
      }
      return stands;
    } finally {
      lock.unlockWrite(stamp);
    }
  }

  /**
   * Forgets all that is in a region, and begins another generation of it. Readers come in between
   * where there is much: until the last is forgotten, what is left stands.
   */
  void begin(Region region, Filling filling) {
    int next = 0;
    boolean isBegun = false;
    while (!isBegun) {
      long stamp = lock.writeLock();
      try {
        int end = Math.min(region.entries(), next + MOST_FORGOTTEN);
        forget(region, next, end);
        next = end;
        isBegun = end == region.entries();
        if (isBegun) {
          region.clear();
          region.begin(filling);
        }
      } finally {
        lock.unlockWrite(stamp);
      }
    }
  }

  private void forget(Region region, int from, int end) {
    for (int entry = from; entry < end; entry++) {
      if (!region.isDropped(entry)) {
        unchain(region.number() << ENTRY_BITS | entry);
        region.dropEntry(entry);
      }
    }
  }

  /** A chunk with its object. */
  record Chunk(StoredObject object, int chunk) {}

  /** The chunks of a region that were read, of which more are worth keeping than fit, in order. */
  List<Chunk> hitsIn(Region region) {
    long stamp = lock.readLock();
    try {
      List<Chunk> hits = new ArrayList<>();
      for (int entry = 0; entry < region.entries(); entry++) {
        StoredObject object = region.object(entry);
        if (object != null && region.isHit(entry)) {
          hits.add(new Chunk(object, region.chunk(entry)));
        }
      }
      return hits;
    } finally {
      lock.unlockRead(stamp);
    }
  }

  private int find(StoredObject object, int chunk) {
    int at = heads[headOf(object.hashCode(), chunk)];
    while (at != NONE) {
      Region region = regionOf(at);
      int entry = entryOf(at);
      if (region.isOf(entry, object, chunk)) {
        return at;
      }
      at = region.nextInChain(entry);
    }
    return NONE;
  }

  private void unchain(int gone) {
    Region region = regionOf(gone);
    int entry = entryOf(gone);
    if (region.isDropped(entry)) {
      return;
    }
    int head = headOf(region.hashOf(entry), region.chunk(entry));
    int next = region.nextInChain(entry);
    chained--;
    if (heads[head] == gone) {
      heads[head] = next;
      return;
    }
    int at = heads[head];
    while (regionOf(at).nextInChain(entryOf(at)) != gone) {
      at = regionOf(at).nextInChain(entryOf(at));
    }
    regionOf(at).setNextInChain(entryOf(at), next);
  }

  private void rehash() {
    heads = new int[heads.length * 2];
    Arrays.fill(heads, NONE);
    for (Region region : regions) {
      for (int entry = 0; entry < region.entries(); entry++) {
        if (!region.isDropped(entry)) {
          int head = headOf(region.hashOf(entry), region.chunk(entry));
          region.setNextInChain(entry, heads[head]);
          heads[head] = region.number() << ENTRY_BITS | entry;
        }
      }
    }
  }

  private int headOf(int object, int chunk) {
    int mixed = object + chunk * 0x9E3779B1;
    return (mixed ^ mixed >>> 15) & (heads.length - 1);
  }

  private Region regionOf(int found) {
    return regions[found >>> ENTRY_BITS];
  }

  private static int entryOf(int found) {
    return found & ((1 << ENTRY_BITS) - 1);
  }
}
