package io.s3e.disk;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The bytes by which a disk block is known in its file's header, and the file's name, which is a
 * hash of them. Two disk blocks have the same bytes if and only if they are equal. Immutable, any
 * thread; a few hundred bytes are encoded and hashed for each, which costs about a microsecond.
 *
 * <p>Layout, big-endian: size of the object (8), index (8), size of a disk block (4), bytes in this
 * one (4), then store, bucket, key, ETag and version id, each as its length in UTF-8 (4; -1 for no
 * version id) and its bytes.
 */
final class BlockIdentity {
  /** How many bytes of the hash make the name: 160 bits, for no two to meet by chance. */
  private static final int NAME_BYTES = 20;

  private static final int FIXED_BYTES = 8 + 8 + 4 + 4;
  private static final int STRINGS = 5;

  private final DiskBlockId id;
  private final byte[] bytes;
  private final boolean exact;

  private BlockIdentity(DiskBlockId id, byte[] bytes, boolean exact) {
    this.id = id;
    this.bytes = bytes;
    this.exact = exact;
  }

  static BlockIdentity of(DiskBlockId id) {
    ObjectVersion version = id.version();
    @Nullable String[] strings = {
      id.store(),
      version.object().bucket(),
      version.object().key(),
      version.etag(),
      version.versionId()
    };
    byte[] @Nullable [] encoded = new byte[STRINGS][];
    boolean exact = true;
    int length = FIXED_BYTES;
    for (int i = 0; i < STRINGS; i++) {
      String string = strings[i];
      length += Integer.BYTES;
      if (string != null) {
        byte[] utf8 = string.getBytes(UTF_8);
        // Half of a surrogate pair becomes '?': such a name would not be this name alone.
        exact &= new String(utf8, UTF_8).equals(string);
        encoded[i] = utf8;
        length += utf8.length;
      }
    }
    ByteBuffer bytes =
        ByteBuffer.allocate(length)
            .putLong(version.size())
            .putLong(id.index())
            .putInt(DiskBlockId.BLOCK_BYTES)
            .putInt(id.length());
    for (byte[] utf8 : encoded) {
      if (utf8 == null) {
        bytes.putInt(-1);
      } else {
        bytes.putInt(utf8.length).put(utf8);
      }
    }
    return new BlockIdentity(id, bytes.array(), exact);
  }

  /**
   * The disk block that the bytes from the buffer's position on are of.
   *
   * @return null if they are of none; then the position is undefined, else after the last of them
   */
  static @Nullable BlockIdentity decode(ByteBuffer from) {
    try {
      int start = from.position();
      long size = from.getLong();
      long index = from.getLong();
      int blockBytes = from.getInt();
      int length = from.getInt();
      String store = string(from);
      String bucket = string(from);
      String key = string(from);
      String etag = string(from);
      String versionId = string(from);
      if (store == null || bucket == null || key == null || etag == null) {
        return null;
      }
      BlockIdentity identity =
          of(
              new DiskBlockId(
                  store,
                  ObjectVersion.identified(new ObjectRef(bucket, key), size, etag, versionId),
                  index));
      boolean same =
          blockBytes == DiskBlockId.BLOCK_BYTES
              && length == identity.id.length()
              && identity.isAt(from, start);
      return same ? identity : null;
    } catch (BufferUnderflowException | IllegalArgumentException e) {
      return null;
    }
  }

  private static @Nullable String string(ByteBuffer from) {
    int length = from.getInt();
    if (length == -1) {
      return null;
    }
    if (length < 0 || length > from.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] utf8 = new byte[length];
    from.get(utf8);
    return new String(utf8, UTF_8);
  }

  DiskBlockId id() {
    return id;
  }

  /** Whether it can stand in {@code space} bytes, and be told there from every other one. */
  boolean fitsInto(int space) {
    return exact && bytes.length <= space;
  }

  /** Length in bytes. */
  int length() {
    return bytes.length;
  }

  /** Whether the bytes at {@code start} are these. */
  boolean isAt(ByteBuffer buffer, int start) {
    return bytes.length <= buffer.limit() - start
        && buffer.slice(start, bytes.length).equals(ByteBuffer.wrap(bytes));
  }

  /** Puts the bytes at {@code start}. */
  void putAt(ByteBuffer buffer, int start) {
    buffer.put(start, bytes);
  }

  /** Name of the file: hexadecimal digits, from which nothing of the object can be read. */
  String name() {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
      return HexFormat.of().formatHex(Arrays.copyOf(hash, NAME_BYTES));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this JVM has no SHA-256", e);
    }
  }
}
