package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * One file of a cache on disk, filled from its beginning, and begun anew, as a whole, when its
 * space is needed: a {@link PrivateRegion}, or a {@link SharedRegion}, of which other processes
 * know.
 *
 * <p><b>Generations.</b> Each filling is a generation. Bytes that were appended in a generation are
 * never changed within it. A reader takes the generation with the place of a chunk, reads the
 * bytes, and looks afterwards whether the generation is still that one; a writer raises the
 * generation first and writes afterwards. So bytes of two generations are never taken for each
 * other, and a reader holds nothing.
 *
 * <p><b>Slots.</b> Bytes are appended at multiples of {@value #SLOT_BYTES}. The number of chunks is
 * bounded, because each has an entry in the {@link ChunkIndex}: a region of many small objects is
 * full before its space is.
 *
 * <p>Here stands what holds where nobody else knows of the region.
 *
 * <p><b>Threads.</b> {@link #isStill} and {@link #refresh} are any thread's of the directory, the
 * other operations its appending thread's; all may block on the disk. {@link #letGo} and {@link
 * #close} come when the appending thread has ended, or hangs, and wait for no lock.
 */
abstract class Region implements AutoCloseable {
  /** Bits of the number of a slot. */
  static final int SLOT_BITS = 22;

  /** Regions of a cache at most: each takes one or two file descriptors. */
  static final int MOST_COUNT = 512;

  /** Alignment of what is appended, in bytes: a page. */
  static final int SLOT_BYTES = 4 << 10;

  /** The longest region of a cache of which there are fewer than can be, in bytes. */
  static final long USUAL_MOST_BYTES = 256L << 20;

  /** The longest region, in bytes. */
  static final long MOST_BYTES = (long) SLOT_BYTES << SLOT_BITS;

  /** The shortest region, in bytes. */
  static final long LEAST_BYTES = 1L << 20;

  /** Regions of a cache, unless those were longer than the longest or shorter than the shortest. */
  static final int USUAL_COUNT = 16;

  /** Heap of an entry in the index, in bytes. */
  static final int ENTRY_BYTES = 62;

  /** Heap that the entries of one directory may take, in bytes, unless its chunks are all long. */
  static final long MOST_ENTRIES_BYTES = 32_000_000;

  /** So many entries has each region of a cache at most. */
  static int mostEntries(int regions, long regionBytes) {
    long ofLongChunks = regionBytes / StoredObject.CHUNK_BYTES;
    long share = MOST_ENTRIES_BYTES / ENTRY_BYTES / regions;
    return (int) Math.min(1L << SLOT_BITS, Math.max(ofLongChunks, share));
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

  /** How many regions of such a length a cache has. */
  static int countFor(long capacityBytes, long regionBytes) {
    return (int) Math.min(MOST_COUNT, capacityBytes / regionBytes);
  }

  /**
   * One generation.
   *
   * @param generation 0 if nothing is known to be in the region
   * @param began when, in ms since 1970 or any other order of the cache's regions
   * @param key seals the chunks of this generation and nothing else; null without encryption
   */
  record Filling(int generation, long began, @Nullable SecretKey key) {
    static final Filling NONE = new Filling(0, 0, null);

    /** Without the key. */
    @Override
    public String toString() {
      return "generation " + generation;
    }
  }

  /**
   * Where one chunk stands.
   *
   * @param filling the generation of the region that it was appended in
   * @param slot where its bytes begin, in slots
   * @param sealHigh the first word of its seal
   * @param sealLow the second word of its seal
   */
  record Place(
      StoredObject object,
      int chunk,
      Region region,
      Filling filling,
      int slot,
      long sealHigh,
      long sealLow) {

    int generation() {
      return filling.generation();
    }

    /** Bytes in the chunk. */
    int length() {
      return object.chunkLength(chunk);
    }

    /** Where its bytes begin in the file. */
    long position() {
      return (long) slot * SLOT_BYTES;
    }

    /** The slot behind the chunk. */
    int endSlot() {
      return slot + slotsOf(length());
    }

    /** Whether one read of the file gives both. */
    boolean isBehind(Place before) {
      return region == before.region
          && generation() == before.generation()
          && slot == before.endSlot();
    }
  }

  private final int number;
  private final long bytes;
  private final int mostEntries;
  private volatile @Nullable OpenFile file;
  private volatile Filling filling = Filling.NONE;

  /** Whether this process is the one that may append. */
  private volatile boolean isOwn;

  // Written by the one thread that may append.
  private volatile int nextSlot;
  private volatile int allocatedSlots;

  /** Entries that the index has of it. Written under the index's lock. */
  private volatile int entries;

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

  /**
   * Makes this process the one that appends; the generation is the one on disk then.
   *
   * @return false if another process is, or the cache is closed
   */
  abstract boolean take() throws IOException;

  /** Begins the next generation of a region that this process has taken. */
  abstract void begin() throws IOException;

  /** Chunks stand in a region that this process has taken; makes them known to others. */
  void appended(List<Place> chunks) throws IOException {}

  /** Empties a region that this process has taken, and gives its space back. */
  abstract void empty() throws IOException;

  /** Lets a region go that this process has taken. */
  void giveBack() throws IOException {
    setOwn(false);
  }

  /** Whether bytes that were read after {@code generation} was looked up are that generation's. */
  boolean isStill(int generation) throws IOException {
    return generation() == generation;
  }

  /**
   * Looks at what other processes have written and begun anew.
   *
   * @return whether there was anything to look at
   */
  boolean refresh() throws IOException {
    return false;
  }

  /** Lets other processes have it, whatever hangs in its files. */
  void letGo() {}

  @Override
  public abstract void close();

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

  /**
   * Another generation: nothing is in it. Called by {@link ChunkIndex#begin}, which forgets the
   * entries first.
   */
  void fill(Filling next) {
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

  int entries() {
    return entries;
  }

  /** The index has so many entries of it. */
  void setEntries(int count) {
    entries = count;
  }

  /** Whether no entry more can be added, with so many that are still to be. */
  boolean isFullWith(int more) {
    return entries + more >= mostEntries;
  }

  @Override
  public String toString() {
    return "region " + number + " (generation " + generation() + ")";
  }
}
