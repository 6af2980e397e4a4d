// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.Region.Header;
import io.s3e.disk.Region.Place;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The front of the file of a region that processes share: a HEADER and, behind it, a CHUNK for each
 * chunk that stands in the region, up to the most that there may be; the chunks' bytes follow. The
 * process that has made the file writes, anybody reads. docs/CACHE-FORMAT.md has the bytes.
 *
 * <p>A chunk's record is written after its bytes, so what a record tells of is there, however its
 * writer ended. The checksum finds every flip of a bit. A record with a right checksum may still be
 * nonsense that somebody has made up: the table ends for a reader with the first thing that is no
 * possible record; nothing behind is believed, and the seal has the last word.
 *
 * <p>The directory's writing thread.
 */
final class RegionTable {
  static final int RECORD_BYTES = 64;

  private static final int CHUNK_TYPE = 0x53334335;
  private static final int HEADER_TYPE = 0x53334835;

  private static final int HASH = 8;
  private static final int SIZE = 28;
  private static final int CHUNK = 36;
  private static final int SLOT = 40;
  private static final int HIGH = 44;
  private static final int LOW = 52;
  private static final int SUM = 60;

  private static final int NUMBER = 8;
  private static final int MOST_CHUNKS = 12;
  private static final int REGION_BYTES = 16;
  private static final int BEGAN = 24;
  private static final int SALT = 32;

  /** Records that one read of the file brings. */
  private static final int READ_RECORDS = 1024;

  private RegionTable() {}

  /** The length of a table of so many chunks, in bytes: whole pages. */
  static long bytesFor(int mostChunks) {
    return (mostChunks / (Region.SLOT_BYTES / RECORD_BYTES) + 1L) * Region.SLOT_BYTES;
  }

  /** The header of a file; null if that has none. */
  static @Nullable Header header(OpenFile file) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(RECORD_BYTES);
    return file.readFully(bytes, 0) == RECORD_BYTES ? header(bytes) : null;
  }

  /** Writes the records of chunks of a region behind those that there are, in one write. */
  static void append(Region region, List<Place> chunks) throws IOException {
    ByteBuffer records = ByteBuffer.allocate(chunks.size() * RECORD_BYTES);
    chunks.forEach(chunk -> put(records, chunk));
    region.file.write(records.flip(), positionOf(region.recorded));
    region.recorded += chunks.size();
  }

  /** Tells of the records of a region that have come since this was asked last. */
  static void scan(Region region, Consumer<Place> visitor) throws IOException {
    // As a rule there is nothing new, which one record tells.
    for (int most = 1; region.recorded < region.header.mostChunks(); most = READ_RECORDS) {
      int wanted = Math.min(most, region.header.mostChunks() - region.recorded);
      ByteBuffer bytes = ByteBuffer.allocate(wanted * RECORD_BYTES);
      int count = region.file.readFully(bytes, positionOf(region.recorded)) / RECORD_BYTES;
      for (int i = 0; i < count; i++) {
        Place chunk = chunk(bytes, i * RECORD_BYTES, region);
        if (chunk == null) {
          return;
        }
        visitor.accept(chunk);
        region.recorded++;
      }
      if (count < wanted) {
        return;
      }
    }
  }

  private static long positionOf(int record) {
    return (record + 1L) * RECORD_BYTES;
  }

  /** The header that the bytes are; null if they can be none. */
  static @Nullable Header header(ByteBuffer bytes) {
    return isWhole(bytes, 0) && bytes.getInt(0) == HEADER_TYPE
        ? new Header(
            bytes.getInt(NUMBER),
            bytes.getInt(MOST_CHUNKS),
            bytes.getLong(REGION_BYTES),
            bytes.getLong(BEGAN),
            bytes.slice(SALT, CacheKey.SALT_BYTES))
        : null;
  }

  static ByteBuffer encoded(Header header) {
    ByteBuffer bytes =
        ByteBuffer.allocate(RECORD_BYTES)
            .putInt(0, HEADER_TYPE)
            .putInt(NUMBER, header.number())
            .putInt(MOST_CHUNKS, header.mostChunks())
            .putLong(REGION_BYTES, header.regionBytes())
            .putLong(BEGAN, header.beganMillis())
            .put(SALT, header.salt(), 0, CacheKey.SALT_BYTES);
    putSum(bytes, 0);
    return bytes;
  }

  /** The place that a record tells of; null if the bytes can be no record of the region. */
  static @Nullable Place chunk(ByteBuffer bytes, int at, Region region) {
    long size = bytes.getLong(at + SIZE);
    int chunk = bytes.getInt(at + CHUNK);
    int slot = bytes.getInt(at + SLOT);
    if (!isWhole(bytes, at)
        || bytes.getInt(at) != CHUNK_TYPE
        || size <= 0
        || size > StoredObject.MOST_BYTES
        || chunk < 0
        || slot < 0
        || slot >= region.slotCount()) {
      return null;
    }
    StoredObject object = StoredObject.at(bytes, at + HASH, size);
    Place place =
        new Place(object, chunk, region, slot, bytes.getLong(at + HIGH), bytes.getLong(at + LOW));
    boolean fits = chunk < object.chunks() && place.endSlot() <= region.slotCount();
    return fits ? place : null;
  }

  static void put(ByteBuffer to, Place chunk) {
    int start = to.position();
    to.position(start + RECORD_BYTES).putInt(start, CHUNK_TYPE);
    chunk.object().putHash(to, start + HASH);
    to.putLong(start + SIZE, chunk.object().size())
        .putInt(start + CHUNK, chunk.chunk())
        .putInt(start + SLOT, chunk.slot())
        .putLong(start + HIGH, chunk.sealHigh())
        .putLong(start + LOW, chunk.sealLow());
    putSum(to, start);
  }

  /** Whether {@value #RECORD_BYTES} bytes from {@code at} on end with their checksum. */
  static boolean isWhole(ByteBuffer bytes, int at) {
    return bytes.getInt(at + SUM) == sumOf(bytes, at);
  }

  /** Ends {@value #RECORD_BYTES} bytes from {@code at} on with their checksum. */
  static void putSum(ByteBuffer bytes, int at) {
    bytes.putInt(at + SUM, sumOf(bytes, at));
  }

  private static int sumOf(ByteBuffer bytes, int at) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.array(), bytes.arrayOffset() + at, SUM);
    return (int) crc.getValue();
  }
}
