// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One file of a cache on disk, filled once from its beginning and given up as a whole.
 *
 * <p><b>States.</b> <i>Own</i> from its making until it is full: this process alone ever appends to
 * it. Then <i>finished</i>: it is read. Then <i>gone</i>: nothing leads to it, and whoever uses it
 * last closes its file: a read that hangs holds up nobody else. A region that another process makes
 * is finished here from the start, and has more chunks each time its table is looked at.
 *
 * <p><b>Bytes never change.</b> What is appended is never written again: another filling is another
 * file. So a reader looks at nothing afterwards: bytes from the place of a chunk are those of that
 * chunk, or what a broken disk makes of them, which the seal tells. An own region whose name goes
 * is filled to its end all the same, for this process alone, and free once that lets it go.
 *
 * <p><b>Slots.</b> Bytes are appended at multiples of {@value #SLOT_BYTES}, behind the table where
 * there is one. The number of chunks is bounded, because each has an entry in the {@link
 * ChunkIndex}: a region of many small objects is full before its space is.
 *
 * <p><b>Threads.</b> The directory's writing thread makes, fills and gives up; any thread reads.
 */
final class Region implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Region.class);

  static final int SLOT_BITS = 22;

  /** Regions of a cache at most: each takes a file descriptor. */
  static final int MOST_COUNT = 512;

  /** Alignment of what is appended, in bytes: a page. */
  static final int SLOT_BYTES = 4 << 10;

  /** The longest region of a cache of which there are fewer than can be, in bytes. */
  static final long USUAL_MOST_BYTES = 256L << 20;

  static final long MOST_BYTES = (long) SLOT_BYTES << SLOT_BITS;
  static final long LEAST_BYTES = 1L << 20;

  /** Regions of a cache, unless those were longer than the longest or shorter than the shortest. */
  static final int USUAL_COUNT = 16;

  /** Entries of one directory, unless its chunks are all long: 28 MB of heap. */
  static final int MOST_ENTRIES = 516_129;

  /** So many entries has each region of a cache at most. */
  static int mostEntries(int regions, long regionBytes) {
    long ofLongChunks = regionBytes / StoredObject.CHUNK_BYTES;
    long share = MOST_ENTRIES / regions;
    return (int) Math.min(regionBytes / SLOT_BYTES, Math.max(ofLongChunks, share));
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

  static int slotsOf(int length) {
    return (length + SLOT_BYTES - 1) / SLOT_BYTES;
  }

  /** Where one chunk stands: its bytes begin at that slot, and its seal has two words. */
  record Place(
      StoredObject object, int chunk, Region region, int slot, long sealHigh, long sealLow) {
    int length() {
      return object.chunkLength(chunk);
    }

    long position() {
      return region.dataStart + (long) slot * SLOT_BYTES;
    }

    int endSlot() {
      return slot + slotsOf(length());
    }

    /** Whether one read of the file gives both. */
    boolean isBehind(Place before) {
      return region == before.region && slot == before.endSlot();
    }
  }

  /**
   * How a region begins.
   *
   * @param number unlike that of any other region that there is now
   * @param regionBytes its length when full, without table, a multiple of {@value #SLOT_BYTES}
   * @param salt that its key is derived from
   */
  record Header(int number, int mostChunks, long regionBytes, long beganMillis, ByteBuffer salt) {}

  final Header header;

  /** What the name of its file leads to while that leads to this region; null without a name. */
  final @Nullable Object identity;

  /** Holds its chunks; to be read after {@link #use}. */
  final OpenFile file;

  final @Nullable SecretKey key;

  /** When it was begun, in ms since 1970; the writing thread's. */
  long began;

  /** Entries that the index may have of it, no more than its table has records. */
  final int mostEntries;

  private final long dataStart;

  /** Those who read the file just now, and one more until it is given up. */
  private final AtomicInteger users = new AtomicInteger(1);

  /** The slot after the last one that a chunk was sealed for. */
  volatile int nextSlot;

  /** Chunks that its table tells of; the writing thread's. */
  int recorded;

  /** Entries that the index has of it. Guarded by the index's lock, which a look may be behind. */
  int entries;

  /** Closes {@code file}; {@code key} is the cache's, if it is encrypted. */
  Region(
      Header header,
      int mostEntries,
      OpenFile file,
      long dataStart,
      @Nullable Object identity,
      @Nullable CacheKey key) {
    this.header = header;
    this.mostEntries = mostEntries;
    this.file = file;
    this.dataStart = dataStart;
    this.identity = identity;
    this.key = key == null ? null : key.regionKey(header.salt());
    this.began = header.beganMillis();
  }

  /** Whether other processes read it, by its table. */
  boolean isShared() {
    return identity != null;
  }

  /** Keeps the file open until {@link #close}; false if the region has been given up. */
  boolean use() {
    return users.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
  }

  /** Ends a {@link #use}, or gives the region up; the last one closes the file. */
  @Override
  public void close() {
    if (users.decrementAndGet() == 0) {
      try {
        file.close();
      } catch (IOException e) {
        LOG.debug("The file of {} cannot be closed", this, e);
      }
    }
  }

  /** Nothing more is appended before {@code slot}. */
  void takenUntil(int slot) {
    nextSlot = Math.max(nextSlot, slot);
  }

  int slotCount() {
    return (int) (header.regionBytes() / SLOT_BYTES);
  }

  /**
   * Whether no chunk more can be appended, with so many that are still to be: the index or the
   * table is full. An entry may go, for another of the same chunk; a record never does.
   */
  boolean isFullWith(int more) {
    return Math.max(entries, recorded) + more >= mostEntries;
  }

  @Override
  public String toString() {
    return "region " + header.number() + " of " + began;
  }
}
