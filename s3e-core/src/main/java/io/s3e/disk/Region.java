package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One file of a cache on disk, and the chunks that are known to be in it. The file is filled from
 * its beginning, and begun anew, as a whole, when its space is needed.
 *
 * <p><b>Generations.</b> Each filling is a generation. Bytes that were appended in a generation are
 * never changed within it. A reader takes the generation with the place of a chunk, reads the
 * bytes, and looks afterwards whether the generation is still that one; a writer raises the
 * generation first and writes afterwards. So bytes of two generations are never taken for each
 * other, and a reader holds nothing.
 *
 * <p><b>Entries.</b> One for each chunk that was appended, in columns of primitives that grow;
 * about 30 bytes with its share of the index. Written by {@link ChunkIndex} under its lock.
 *
 * <p><b>Slots.</b> Bytes are appended at multiples of {@value #SLOT_BYTES}.
 */
final class Region {
  /** Alignment of what is appended, in bytes: a page. */
  static final int SLOT_BYTES = 4 << 10;

  /** The longest region of a cache of which there are fewer than can be, in bytes. */
  static final long USUAL_MOST_BYTES = 256L << 20;

  /** The longest region, in bytes: as many slots as the index has entries for. */
  static final long MOST_BYTES = (long) SLOT_BYTES << ChunkIndex.ENTRY_BITS;

  /** The shortest region, in bytes. */
  static final long LEAST_BYTES = 1L << 20;

  /** Regions of a cache, unless those were longer than the longest or shorter than the shortest. */
  static final int USUAL_COUNT = 16;

  /** Chunks that scans bring have one region in so many. */
  private static final int SCANNED_SHARE = 5;

  private static final int FIRST_ENTRIES = 64;

  /** How many of a cache's regions chunks that scans bring may have. */
  static int scannedShare(int regions) {
    return Math.max(1, regions / SCANNED_SHARE);
  }

  /**
   * Length of the regions of a cache, in bytes: a part in {@code count} of it, within the shortest
   * and the usual longest. A large cache has more regions than {@code count}; one that would have
   * more than {@value ChunkIndex#MOST_REGIONS} has so many, and longer ones.
   */
  static long bytesFor(long capacityBytes, int count) {
    long part = Math.max(LEAST_BYTES, Math.min(USUAL_MOST_BYTES, capacityBytes / count));
    long least = Math.min(MOST_BYTES, capacityBytes / ChunkIndex.MOST_REGIONS);
    return Math.max(part, least) / SLOT_BYTES * SLOT_BYTES;
  }

  /** How long the bytes of a region are likely to be wanted. */
  enum Kind {
    /** Bytes of readers that jump, and what was fetched before. */
    LASTING,
    /** Bytes of readers that go from front to end. These have a fifth of the regions. */
    SCANNED
  }

  private final int number;
  private final long bytes;
  private final OpenFile file;
  private volatile int generation;
  private volatile Kind kind = Kind.LASTING;

  /** The key that seals chunks of this generation; null without encryption. */
  private volatile @Nullable RegionKey key;

  // Written by the one thread that may append.
  private volatile int nextSlot;
  private volatile int allocatedSlots;

  // The columns; guarded by the index's lock.
  private int entries;
  private @Nullable StoredObject[] objects = new StoredObject[FIRST_ENTRIES];
  private int[] chunks = new int[FIRST_ENTRIES];
  private int[] slots = new int[FIRST_ENTRIES];
  private long[] sealsHigh = new long[FIRST_ENTRIES];
  private long[] sealsLow = new long[0];
  private int[] nextInChain = new int[FIRST_ENTRIES];
  private boolean[] hits = new boolean[FIRST_ENTRIES];

  /**
   * @param number from 0, unlike any other's of the cache
   * @param bytes its length when it is full, a multiple of {@value #SLOT_BYTES}
   */
  Region(int number, long bytes, OpenFile file, int generation) {
    this.number = number;
    this.bytes = bytes;
    this.file = file;
    this.generation = generation;
  }

  int number() {
    return number;
  }

  /** Its length when it is full, in bytes. */
  long bytes() {
    return bytes;
  }

  OpenFile file() {
    return file;
  }

  int generation() {
    return generation;
  }

  Kind kind() {
    return kind;
  }

  @Nullable RegionKey key() {
    return key;
  }

  /**
   * Begins another generation: nothing is in it. Called by {@link ChunkIndex#begin}, which forgets
   * the entries first.
   */
  void begin(int next, Kind what, @Nullable RegionKey sealedWith) {
    generation = next;
    kind = what;
    key = sealedWith;
    nextSlot = 0;
  }

  /** The slot after the last one that was appended to. */
  int nextSlot() {
    return nextSlot;
  }

  /** Nothing more is appended before {@code slot}. */
  void takenUntil(int slot) {
    nextSlot = Math.max(nextSlot, slot);
    allocatedSlots = Math.max(allocatedSlots, nextSlot);
  }

  /** The slot up to which the file takes space on disk already, whatever generation took it. */
  int allocatedSlots() {
    return allocatedSlots;
  }

  /** The file is found to be so long already. */
  void allocatedUntil(int slot) {
    allocatedSlots = Math.max(allocatedSlots, slot);
  }

  /** How many slots there are in all. */
  int slotCount() {
    return (int) (bytes / SLOT_BYTES);
  }

  /** Slots that so many bytes take. */
  static int slotsOf(int length) {
    return (length + SLOT_BYTES - 1) / SLOT_BYTES;
  }

  // The columns, for the index.

  int entries() {
    return entries;
  }

  /** One entry more; its number. */
  int add(StoredObject object, int chunk, int slot, long sealHigh, long sealLow, int chain) {
    if (entries == chunks.length) {
      grow();
    }
    int entry = entries++;
    objects[entry] = object;
    chunks[entry] = chunk;
    slots[entry] = slot;
    sealsHigh[entry] = sealHigh;
    if (sealLow != 0 && sealsLow.length < chunks.length) {
      sealsLow = Arrays.copyOf(sealsLow, chunks.length);
    }
    if (entry < sealsLow.length) {
      sealsLow[entry] = sealLow;
    }
    nextInChain[entry] = chain;
    hits[entry] = false;
    return entry;
  }

  private void grow() {
    int length = chunks.length * 2;
    objects = Arrays.copyOf(objects, length);
    chunks = Arrays.copyOf(chunks, length);
    slots = Arrays.copyOf(slots, length);
    sealsHigh = Arrays.copyOf(sealsHigh, length);
    nextInChain = Arrays.copyOf(nextInChain, length);
    hits = Arrays.copyOf(hits, length);
  }

  /** No entries any more; the columns stay as long as they are. */
  void clear() {
    Arrays.fill(objects, 0, entries, null);
    entries = 0;
  }

  /** The object of an entry; null if the entry was dropped. */
  @Nullable StoredObject object(int entry) {
    return objects[entry];
  }

  void dropEntry(int entry) {
    objects[entry] = null;
  }

  int chunk(int entry) {
    return chunks[entry];
  }

  int slot(int entry) {
    return slots[entry];
  }

  long sealHigh(int entry) {
    return sealsHigh[entry];
  }

  long sealLow(int entry) {
    return entry < sealsLow.length ? sealsLow[entry] : 0;
  }

  int nextInChain(int entry) {
    return nextInChain[entry];
  }

  void setNextInChain(int entry, int next) {
    nextInChain[entry] = next;
  }

  boolean isHit(int entry) {
    return hits[entry];
  }

  void hit(int entry) {
    hits[entry] = true;
  }

  @Override
  public String toString() {
    return "region " + number + " (generation " + generation + ")";
  }
}
