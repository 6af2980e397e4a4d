package io.s3e.disk;

import io.s3e.disk.Region.Kind;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * One record of a log, {@value #BYTES} bytes, numbers big-endian: a view of such bytes in an array,
 * and how they are made.
 *
 * <pre>
 *  0  type, with the version of the format     4
 *  4  generation of the region                 4
 *  8  hash of the object                      20
 * 28  length of the object                     8
 * 36  number of the chunk                      4
 * 40  slot                                     4
 * 44  seal                                    16
 * 60  CRC32C of the 60 bytes before            4
 *
 * HEADER in place of what follows the generation:
 *  8  number of the region                     4
 * 12  kind of the region                       4
 * 16  length of the region                     8
 * 24  when the generation began, ms since 1970 8
 * 32  salt of the generation's key            16
 * 48  zeros                                   12
 * </pre>
 *
 * <p>The checksum finds every flip of a bit. A record with a right checksum may still be nonsense
 * that somebody has made up: {@link #fits} and {@link #header} look for that. One thread.
 */
final class IndexRecord {
  static final int BYTES = 64;

  private static final int GENERATION = 4;
  private static final int HASH = 8;
  private static final int SIZE = 28;
  private static final int CHUNK = 36;
  private static final int SLOT = 40;
  private static final int HIGH = 44;
  private static final int LOW = 52;
  private static final int SUM = 60;

  private static final int NUMBER = 8;
  private static final int KIND = 12;
  private static final int REGION_BYTES = 16;
  private static final int BEGAN = 24;
  private static final int SALT = 32;
  private static final int ZEROS = 48;

  /** The meaning of a record. */
  enum Type {
    /** A generation of a region begins. */
    HEADER("S3H4"),
    /** A chunk stands in the region. */
    CHUNK("S3C4");

    private final int code;

    Type(String letters) {
      int bits = 0;
      for (int i = 0; i < letters.length(); i++) {
        bits = bits << Byte.SIZE | letters.charAt(i);
      }
      code = bits;
    }

    private static @Nullable Type of(int code) {
      for (Type type : values()) {
        if (type.code == code) {
          return type;
        }
      }
      return null;
    }
  }

  /**
   * How a generation of a region begins.
   *
   * @param regionBytes length of a region of the directory
   * @param beganMillis when, in ms since 1970
   */
  record Header(
      int number,
      int generation,
      Kind kind,
      long regionBytes,
      long beganMillis,
      long saltHigh,
      long saltLow) {
    /** The bytes that the generation's key is derived from. */
    byte[] salt() {
      return ByteBuffer.allocate(RegionKey.SALT_BYTES).putLong(saltHigh).putLong(saltLow).array();
    }
  }

  private final CRC32C crc = new CRC32C();
  private ByteBuffer buffer = ByteBuffer.allocate(0);
  private int at;
  private Type type = Type.HEADER;

  /**
   * Looks at a record.
   *
   * @param bytes with an array
   * @return false if these bytes are none
   */
  boolean read(ByteBuffer bytes, int position) {
    if (bytes.getInt(position + SUM) != sumOf(crc, bytes, position)) {
      return false;
    }
    Type found = Type.of(bytes.getInt(position));
    if (found == null) {
      return false;
    }
    buffer = bytes;
    at = position;
    type = found;
    return true;
  }

  private static int sumOf(CRC32C crc, ByteBuffer bytes, int position) {
    crc.reset();
    crc.update(bytes.array(), bytes.arrayOffset() + position, SUM);
    return (int) crc.getValue();
  }

  Type type() {
    return type;
  }

  int generation() {
    return buffer.getInt(at + GENERATION);
  }

  /** The object that it is about; null if it can be of none. */
  @Nullable StoredObject object() {
    long size = buffer.getLong(at + SIZE);
    return size <= 0 || size > StoredObject.MOST_BYTES
        ? null
        : StoredObject.at(buffer, at + HASH, size);
  }

  /** Number of the chunk. */
  int chunk() {
    return buffer.getInt(at + CHUNK);
  }

  /** Where the bytes of a chunk begin in its region, in slots. */
  int slot() {
    return buffer.getInt(at + SLOT);
  }

  long sealHigh() {
    return buffer.getLong(at + HIGH);
  }

  long sealLow() {
    return buffer.getLong(at + LOW);
  }

  /** Whether the chunk is one of the object's, and within a region of such a length. */
  boolean fits(StoredObject object, long regionBytes) {
    int chunk = chunk();
    int slot = slot();
    return chunk >= 0
        && chunk < object.chunks()
        && slot >= 0
        && (long) slot * Region.SLOT_BYTES + object.chunkLength(chunk) <= regionBytes;
  }

  /** The header that the record is; null if it can be none of such a region. */
  @Nullable Header header(int number, long regionBytes) {
    int kind = buffer.getInt(at + KIND);
    if (type != Type.HEADER
        || generation() == 0
        || buffer.getInt(at + NUMBER) != number
        || buffer.getLong(at + REGION_BYTES) != regionBytes
        || kind < 0
        || kind >= Kind.values().length) {
      return null;
    }
    return new Header(
        number,
        generation(),
        Kind.values()[kind],
        regionBytes,
        buffer.getLong(at + BEGAN),
        buffer.getLong(at + SALT),
        buffer.getLong(at + SALT + Long.BYTES));
  }

  static void putHeader(ByteBuffer to, Header header) {
    int start = begin(to, Type.HEADER, header.generation());
    to.putInt(start + NUMBER, header.number())
        .putInt(start + KIND, header.kind().ordinal())
        .putLong(start + REGION_BYTES, header.regionBytes())
        .putLong(start + BEGAN, header.beganMillis())
        .putLong(start + SALT, header.saltHigh())
        .putLong(start + SALT + Long.BYTES, header.saltLow());
    Arrays.fill(to.array(), start + ZEROS, start + SUM, (byte) 0);
    end(to, start);
  }

  static void putChunk(ByteBuffer to, int generation, RegionFiles.Appended chunk) {
    int start = begin(to, Type.CHUNK, generation);
    chunk.object().putHash(to, start + HASH);
    to.putLong(start + SIZE, chunk.object().size())
        .putInt(start + CHUNK, chunk.chunk())
        .putInt(start + SLOT, chunk.slot())
        .putLong(start + HIGH, chunk.sealHigh())
        .putLong(start + LOW, chunk.sealLow());
    end(to, start);
  }

  private static int begin(ByteBuffer to, Type type, int generation) {
    int start = to.position();
    to.position(start + BYTES).putInt(start, type.code).putInt(start + GENERATION, generation);
    return start;
  }

  private static void end(ByteBuffer to, int start) {
    to.putInt(start + SUM, sumOf(new CRC32C(), to, start));
  }
}
