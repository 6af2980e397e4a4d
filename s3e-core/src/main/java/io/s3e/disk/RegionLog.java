package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.Region.Filling;
import io.s3e.disk.Region.Place;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The log beside a shared region: a HEADER and, behind it, a CHUNK for each chunk that stands in
 * the region, with the header's generation. Only the process that holds the region's lock writes;
 * anybody reads. Records have {@value #RECORD_BYTES} bytes, numbers big-endian:
 *
 * <pre>
 * CHUNK                                          HEADER
 *  0  "S3C4"                              4       0  "S3H4"                              4
 *  4  generation of the region            4       4  generation of the region            4
 *  8  hash of the object                 20       8  number of the region                4
 * 28  length of the object                8      12  zeros                               4
 * 36  number of the chunk                 4      16  length of the region                8
 * 40  slot                                4      24  when it began, in ms since 1970     8
 * 44  seal                               16      32  salt of the generation's key       16
 *                                                48  zeros                              12
 * 60  CRC32C of the 60 bytes before       4      60  CRC32C of the 60 bytes before       4
 * </pre>
 *
 * <p>The checksum finds every flip of a bit. A record with a right checksum may still be nonsense
 * that somebody has made up. The log ends for a reader with the first thing that is no possible
 * record of the header's generation; nothing behind is believed.
 *
 * <p>Any thread.
 */
record RegionLog(OpenFile file, Region region) {
  static final int RECORD_BYTES = 64;

  /** Where the records begin that follow the header. */
  static final long FIRST = RECORD_BYTES;

  private static final int CHUNK_TYPE = 0x53334334;
  private static final int HEADER_TYPE = 0x53334834;

  private static final int GENERATION = 4;
  private static final int HASH = 8;
  private static final int SIZE = 28;
  private static final int CHUNK = 36;
  private static final int SLOT = 40;
  private static final int HIGH = 44;
  private static final int LOW = 52;
  private static final int SUM = 60;

  private static final int NUMBER = 8;
  private static final int REGION_BYTES = 16;
  private static final int BEGAN = 24;
  private static final int SALT = 32;

  private static final int MOST_READ_BYTES = 64 << 10;

  /**
   * How a generation of a region begins.
   *
   * @param beganMillis when, in ms since 1970
   * @param salt that the generation's key is derived from
   */
  record Header(int generation, long beganMillis, ByteBuffer salt) {}

  /** How the present generation began; null if that is not to be read. */
  @Nullable Header header() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(RECORD_BYTES);
    return file.readFully(bytes, 0) == RECORD_BYTES ? header(bytes, region) : null;
  }

  /** Begins a generation: from here on nobody takes what the region holds for that of another. */
  void begin(Header header) throws IOException {
    file.write(encoded(header, region), 0);
    file.truncate(FIRST);
  }

  /**
   * Writes the records of chunks behind the last one, in one write.
   *
   * @return the place behind them
   */
  long append(List<Place> chunks, long position) throws IOException {
    ByteBuffer records = ByteBuffer.allocate(chunks.size() * RECORD_BYTES);
    chunks.forEach(chunk -> put(records, chunk));
    file.write(records.flip(), position);
    return position + records.limit();
  }

  /**
   * Tells of records from {@code from} on, before {@code end}: as many as one read of the file
   * gives.
   *
   * @return the place behind the last one; {@code from} if there is none
   */
  long scan(long from, long end, Filling filling, Consumer<Place> visitor) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(MOST_READ_BYTES, end - from));
    int count = file.readFully(bytes, from);
    int at = 0;
    while (at + RECORD_BYTES <= count) {
      Place chunk = chunk(bytes, at, region, filling);
      if (chunk == null) {
        break;
      }
      visitor.accept(chunk);
      at += RECORD_BYTES;
    }
    return from + at;
  }

  /** The header that the bytes are; null if they can be none of the region. */
  static @Nullable Header header(ByteBuffer bytes, Region region) {
    int generation = bytes.getInt(GENERATION);
    return isWhole(bytes, 0)
            && bytes.getInt(0) == HEADER_TYPE
            && generation != 0
            && bytes.getInt(NUMBER) == region.number()
            && bytes.getLong(REGION_BYTES) == region.bytes()
        ? new Header(generation, bytes.getLong(BEGAN), bytes.slice(SALT, CacheKey.SALT_BYTES))
        : null;
  }

  static ByteBuffer encoded(Header header, Region region) {
    ByteBuffer bytes =
        ByteBuffer.allocate(RECORD_BYTES)
            .putInt(0, HEADER_TYPE)
            .putInt(GENERATION, header.generation())
            .putInt(NUMBER, region.number())
            .putLong(REGION_BYTES, region.bytes())
            .putLong(BEGAN, header.beganMillis())
            .put(SALT, header.salt(), 0, CacheKey.SALT_BYTES);
    putSum(bytes, 0);
    return bytes;
  }

  /** The place that a record tells of; null if the bytes can be no record of the generation. */
  static @Nullable Place chunk(ByteBuffer bytes, int at, Region region, Filling filling) {
    long size = bytes.getLong(at + SIZE);
    int chunk = bytes.getInt(at + CHUNK);
    int slot = bytes.getInt(at + SLOT);
    if (!isWhole(bytes, at)
        || bytes.getInt(at) != CHUNK_TYPE
        || bytes.getInt(at + GENERATION) != filling.generation()
        || size <= 0
        || size > StoredObject.MOST_BYTES
        || chunk < 0
        || slot < 0) {
      return null;
    }
    StoredObject object = StoredObject.at(bytes, at + HASH, size);
    Place place =
        new Place(
            object,
            chunk,
            region,
            filling,
            slot,
            bytes.getLong(at + HIGH),
            bytes.getLong(at + LOW));
    boolean fits = chunk < object.chunks() && place.position() + place.length() <= region.bytes();
    return fits ? place : null;
  }

  static void put(ByteBuffer to, Place chunk) {
    int start = to.position();
    to.position(start + RECORD_BYTES)
        .putInt(start, CHUNK_TYPE)
        .putInt(start + GENERATION, chunk.generation());
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
