package io.s3e.disk;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;

/**
 * The first {@value #BYTES} bytes of a file: what it is, which chunks it has, and the seals of all.
 * A view of bytes that belong to somebody else, valid as long as those are not used otherwise. One
 * thread.
 *
 * <p>Big-endian; {@code docs/CACHE-FORMAT.md} is the long version:
 *
 * <pre>
 *    0   8  "S3EBLOCK"
 *    8   2  version of the format
 *   10   2  flags: 1 for encrypted
 *   12   4  which chunks are there: bit i for chunk i
 *   16  16  seal of the header, itself left out
 *   32  16  salt of the file's key; zero if not encrypted
 *   48 256  seals of the 16 chunks; zero for those not there
 *  304   n  identity of the disk block
 *    .   .  zero
 * </pre>
 *
 * <p>Every byte has one right value, given what the file holds, and every bit is under the seal; so
 * a header is right as a whole or not at all.
 */
final class BlockHeader {
  /** Length of a header, in bytes: a page, so that chunks are aligned to pages. */
  static final int BYTES = 4096;

  private static final long MAGIC = 0x533345424C4F434BL;
  private static final short VERSION = 1;
  private static final short ENCRYPTED = 1;
  private static final int VERSION_AT = 8;
  private static final int FLAGS_AT = 10;
  private static final int MASK_AT = 12;
  private static final int SEAL_AT = 16;
  private static final int SALT_AT = 32;
  private static final int SALT_BYTES = 16;
  private static final int CHUNK_SEALS_AT = 48;
  private static final int IDENTITY_AT = CHUNK_SEALS_AT + DiskBlockId.CHUNKS * ChunkSeal.BYTES;
  private static final ByteBuffer ZEROS = ByteBuffer.allocate(BYTES).asReadOnlyBuffer();
  private static final SecureRandom RANDOM = new SecureRandom();

  private final ByteBuffer bytes;
  private final DiskBlockId id;
  private final ChunkSeal seal;

  private BlockHeader(ByteBuffer bytes, DiskBlockId id, ChunkSeal seal) {
    this.bytes = bytes;
    this.id = id;
    this.seal = seal;
  }

  /** Whether a header can hold this identity, so that the disk block can be cached. */
  static boolean canHold(BlockIdentity identity) {
    return identity.fitsInto(BYTES - IDENTITY_AT);
  }

  /** Offset of a chunk in the file. */
  static long chunkAt(int chunk) {
    return BYTES + (long) chunk * DiskBlockId.CHUNK_BYTES;
  }

  /** Length of the file of {@code id} that has the chunks in {@code mask}, at least one. */
  static long fileBytes(DiskBlockId id, int mask) {
    int last = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(mask);
    return chunkAt(last) + id.chunkLength(last);
  }

  /**
   * Begins the header of a file that has no chunk yet.
   *
   * @param space {@value #BYTES} bytes to write it into
   */
  static BlockHeader begin(ByteBuffer space, BlockIdentity identity, @Nullable CacheKey key) {
    space.put(0, ZEROS, 0, BYTES);
    space.putLong(0, MAGIC).putShort(VERSION_AT, VERSION);
    identity.putAt(space, IDENTITY_AT);
    ChunkSeal seal;
    if (key == null) {
      seal = new CrcSeal();
    } else {
      byte[] salt = new byte[SALT_BYTES];
      RANDOM.nextBytes(salt);
      space.putShort(FLAGS_AT, ENCRYPTED).put(SALT_AT, salt);
      seal = new GcmSeal(key.fileKey(salt));
    }
    return new BlockHeader(space, identity.id(), seal);
  }

  /**
   * Adds a chunk.
   *
   * @return what is to be stored, from position to limit
   * @see ChunkSeal#sealChunk
   */
  ByteBuffer add(int chunk, ByteBuffer plain, ByteBuffer work) {
    bytes.putInt(MASK_AT, mask() | 1 << chunk);
    return seal.sealChunk(chunk, plain, work, bytes, sealAt(chunk));
  }

  /**
   * Ends a header to which all chunks have been added.
   *
   * @return all its bytes, from position to limit
   */
  ByteBuffer seal() {
    seal.sealHeader(bytes, SEAL_AT);
    return bytes.duplicate().clear();
  }

  /**
   * Verifies a header that was read.
   *
   * @param bytes all of it: {@value #BYTES} bytes
   * @param identity whose it must be; null for anyone's
   * @throws ChunkSeal.BrokenSealException saying what is not as it should be
   */
  static BlockHeader verify(
      ByteBuffer bytes, @Nullable BlockIdentity identity, @Nullable CacheKey key)
      throws ChunkSeal.BrokenSealException {
    require(bytes.getLong(0) == MAGIC, "not a file of this cache");
    require(bytes.getShort(VERSION_AT) == VERSION, "of another version of the format");
    require(
        bytes.getShort(FLAGS_AT) == (key == null ? 0 : ENCRYPTED),
        key == null ? "encrypted, or with unknown flags" : "not encrypted, or with unknown flags");
    ChunkSeal seal;
    if (key == null) {
      require(isZero(bytes, SALT_AT, CHUNK_SEALS_AT), "with a salt, but not encrypted");
      seal = new CrcSeal();
    } else {
      byte[] salt = new byte[SALT_BYTES];
      bytes.get(SALT_AT, salt);
      seal = new GcmSeal(key.fileKey(salt));
    }
    seal.verifyHeader(bytes, SEAL_AT);
    BlockIdentity found = identity == null ? decode(bytes) : identity;
    if (found == null || !found.isAt(bytes, IDENTITY_AT)) {
      throw new ChunkSeal.BrokenSealException("the header names another disk block");
    }
    require(isZero(bytes, IDENTITY_AT + found.length(), BYTES), "bytes after the last field");
    BlockHeader header = new BlockHeader(bytes, found.id(), seal);
    header.requireChunks();
    return header;
  }

  /** Whether a header that is not verified says that the file is encrypted. */
  static boolean claimsEncryption(ByteBuffer bytes) {
    return bytes.getLong(0) == MAGIC
        && bytes.getShort(VERSION_AT) == VERSION
        && bytes.getShort(FLAGS_AT) == ENCRYPTED;
  }

  /**
   * Whose a header says to be, whether or not its seal holds.
   *
   * @return null if that cannot be read
   */
  static @Nullable BlockIdentity decode(ByteBuffer bytes) {
    return BlockIdentity.decode(bytes.duplicate().limit(BYTES).position(IDENTITY_AT));
  }

  /** Which chunks are there: bit {@code i} for chunk {@code i}. */
  int mask() {
    return mask(bytes);
  }

  /** Which chunks a header says are there, whether or not its seal holds. */
  static int mask(ByteBuffer bytes) {
    return bytes.getInt(MASK_AT);
  }

  /** Whose it is. */
  DiskBlockId id() {
    return id;
  }

  /**
   * Verifies a chunk.
   *
   * @see ChunkSeal#openChunk
   */
  ByteBuffer open(int chunk, ByteBuffer stored, ByteBuffer work)
      throws ChunkSeal.BrokenSealException {
    return seal.openChunk(chunk, stored, work, bytes, sealAt(chunk));
  }

  private void requireChunks() throws ChunkSeal.BrokenSealException {
    int mask = mask();
    require(mask > 0 && mask >> id.chunks() == 0, "has no chunk, or more than there are");
    for (int chunk = 0; chunk < DiskBlockId.CHUNKS; chunk++) {
      int at = sealAt(chunk);
      require(
          (mask & 1 << chunk) != 0 || isZero(bytes, at, at + ChunkSeal.BYTES),
          "a seal of a chunk that is not there");
    }
  }

  private static int sealAt(int chunk) {
    return CHUNK_SEALS_AT + chunk * ChunkSeal.BYTES;
  }

  private static boolean isZero(ByteBuffer bytes, int from, int to) {
    return bytes.slice(from, to - from).equals(ZEROS.slice(0, to - from));
  }

  private static void require(boolean holds, String otherwise)
      throws ChunkSeal.BrokenSealException {
    if (!holds) {
      throw new ChunkSeal.BrokenSealException(otherwise);
    }
  }
}
