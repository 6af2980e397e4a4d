package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import java.nio.channels.ClosedChannelException;
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
 * <p><b>Entries.</b> One for each chunk that was appended, in columns of primitives that grow: the
 * hash and length of its object, its number, slot and seal, {@value #ENTRY_BYTES} bytes with its
 * share of the index. Their number is bounded: a region of many small objects is full before its
 * space is. Written by {@link ChunkIndex} under its lock; a length of 0 stands for an entry that
 * was dropped.
 *
 * <p><b>Slots.</b> Bytes are appended at multiples of {@value #SLOT_BYTES}.
 */
final class Region {
  /** Bits of the number of an entry: there is one for each slot of the longest region. */
  static final int ENTRY_BITS = 22;

  /** Regions of a cache at most: each takes one or two file descriptors. */
  static final int MOST_COUNT = 512;

  /** Alignment of what is appended, in bytes: a page. */
  static final int SLOT_BYTES = 4 << 10;

  /** The longest region of a cache of which there are fewer than can be, in bytes. */
  static final long USUAL_MOST_BYTES = 256L << 20;

  /** The longest region, in bytes: as many slots as the index has entries for. */
  static final long MOST_BYTES = (long) SLOT_BYTES << ENTRY_BITS;

  /** The shortest region, in bytes. */
  static final long LEAST_BYTES = 1L << 20;

  /** Regions of a cache, unless those were longer than the longest or shorter than the shortest. */
  static final int USUAL_COUNT = 16;

  /** Chunks that scans bring have one region in so many. */
  private static final int SCANNED_SHARE = 5;

  private static final int FIRST_ENTRIES = 64;

  /** Heap of an entry, in bytes, where chunks are not encrypted; encrypted ones take 8 more. */
  static final int ENTRY_BYTES = 62;

  /** Heap that the entries of one directory may take, in bytes, unless its chunks are all long. */
  static final long MOST_ENTRIES_BYTES = 32_000_000;

  /** So many entries has each region of a cache at most. */
  static int mostEntries(int regions, long regionBytes) {
    long ofLongChunks = regionBytes / StoredObject.CHUNK_BYTES;
    long share = MOST_ENTRIES_BYTES / ENTRY_BYTES / regions;
    return (int) Math.min(1L << ENTRY_BITS, Math.max(ofLongChunks, share));
  }

  /** How many of a cache's regions chunks that scans bring may have. */
  static int scannedShare(int regions) {
    return Math.max(1, regions / SCANNED_SHARE);
  }

  /**
   * Length of the regions of a cache, in bytes: a part in {@code count} of it, within the shortest
   * and the usual longest. A large cache has more regions than {@code count}; one that would have
   * more than {@value #MOST_COUNT} has so many, and longer ones.
   */
  static long bytesFor(long capacityBytes, int count) {
    long part = Math.max(LEAST_BYTES, Math.min(USUAL_MOST_BYTES, capacityBytes / count));
    long least = Math.min(MOST_BYTES, capacityBytes / MOST_COUNT);
    return Math.max(part, least) / SLOT_BYTES * SLOT_BYTES;
  }

  /** How long the bytes of a region are likely to be wanted. */
  enum Kind {
    /** Bytes of readers that jump, and what was fetched before. */
    LASTING,
    /** Bytes of readers that go from front to end. These have a fifth of the regions. */
    SCANNED
  }

  /**
   * One generation.
   *
   * @param generation 0 if nothing is known to be in the region
   * @param began when, in ms since 1970 or any other order of the cache's regions
   * @param key seals the chunks of this generation; null without encryption
   */
  record Filling(int generation, Kind kind, long began, @Nullable RegionKey key) {
    static final Filling NONE = new Filling(0, Kind.LASTING, 0, null);
  }

  private final int number;
  private final long bytes;
  private final int mostEntries;
  private volatile @Nullable OpenFile file;
  private volatile Filling filling = Filling.NONE;

  /** Whether this process is the one that may append. Written by the files' own thread. */
  private volatile boolean isOwn;

  // Written by the one thread that may append.
  private volatile int nextSlot;
  private volatile int allocatedSlots;

  // The columns; guarded by the index's lock.
  private int entries;
  private long[] firsts = new long[FIRST_ENTRIES];
  private long[] seconds = new long[FIRST_ENTRIES];
  private int[] thirds = new int[FIRST_ENTRIES];
  private long[] sizes = new long[FIRST_ENTRIES];
  private int[] chunks = new int[FIRST_ENTRIES];
  private int[] slots = new int[FIRST_ENTRIES];
  private long[] sealsHigh = new long[FIRST_ENTRIES];
  private long[] sealsLow = new long[0];
  private int[] nextInChain = new int[FIRST_ENTRIES];
  private boolean[] hits = new boolean[FIRST_ENTRIES];

  /**
   * A region without a file.
   *
   * @param number from 0, unlike any other's of the cache
   * @param bytes its length when it is full, a multiple of {@value #SLOT_BYTES}
   */
  Region(int number, long bytes, int mostEntries) {
    this.number = number;
    this.bytes = bytes;
    this.mostEntries = mostEntries;
  }

  int number() {
    return number;
  }

  /** Its length when it is full, in bytes. */
  long bytes() {
    return bytes;
  }

  /**
   * The file that holds its chunks.
   *
   * @throws ClosedChannelException if there is none, or none any more
   */
  OpenFile file() throws ClosedChannelException {
    OpenFile held = file;
    if (held == null) {
      throw new ClosedChannelException();
    }
    return held;
  }

  boolean isHeld() {
    return file != null;
  }

  /** From now on that file holds its chunks; null if none does. */
  void hold(@Nullable OpenFile held) {
    file = held;
  }

  boolean isOwn() {
    return isOwn;
  }

  void setOwn(boolean own) {
    isOwn = own;
  }

  Filling filling() {
    return filling;
  }

  int generation() {
    return filling.generation();
  }

  Kind kind() {
    return filling.kind();
  }

  /**
   * Begins another generation: nothing is in it. Called by {@link ChunkIndex#begin}, which forgets
   * the entries first.
   */
  void begin(Filling next) {
    filling = next;
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

  /** The file is found to be so long. */
  void allocatedUntil(long fileBytes) {
    allocatedSlots = (int) (Math.min(fileBytes, bytes) / SLOT_BYTES);
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
    firsts[entry] = object.first();
    seconds[entry] = object.second();
    thirds[entry] = object.third();
    sizes[entry] = object.size();
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
    int length = Math.min(mostEntries, chunks.length * 2);
    firsts = Arrays.copyOf(firsts, length);
    seconds = Arrays.copyOf(seconds, length);
    thirds = Arrays.copyOf(thirds, length);
    sizes = Arrays.copyOf(sizes, length);
    chunks = Arrays.copyOf(chunks, length);
    slots = Arrays.copyOf(slots, length);
    sealsHigh = Arrays.copyOf(sealsHigh, length);
    nextInChain = Arrays.copyOf(nextInChain, length);
    hits = Arrays.copyOf(hits, length);
  }

  /** No entries any more; the columns stay as long as they are. */
  void clear() {
    entries = 0;
  }

  /** Whether no entry more can be added, with so many that are still to be. */
  boolean isFullWith(int more) {
    return entries + more >= mostEntries;
  }

  /** The object of an entry; null if the entry was dropped. */
  @Nullable StoredObject object(int entry) {
    return sizes[entry] == 0
        ? null
        : new StoredObject(firsts[entry], seconds[entry], thirds[entry], sizes[entry]);
  }

  /** Whether an entry is of a chunk, and was not dropped. */
  boolean isOf(int entry, StoredObject object, int chunk) {
    return firsts[entry] == object.first()
        && chunks[entry] == chunk
        && seconds[entry] == object.second()
        && thirds[entry] == object.third()
        && sizes[entry] == object.size();
  }

  /** The number that an entry is chained by. */
  int hashOf(int entry) {
    return (int) firsts[entry];
  }

  boolean isDropped(int entry) {
    return sizes[entry] == 0;
  }

  void dropEntry(int entry) {
    sizes[entry] = 0;
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
    return "region " + number + " (generation " + generation() + ")";
  }
}
