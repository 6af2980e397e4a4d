package io.s3e.disk;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The name of an object, read from the {@linkplain StoredObject#identity(String, ObjectVersion)
 * bytes} whose hash it is stored under.
 *
 * @param store which store the bucket is in
 */
record ObjectName(String store, ObjectVersion version) {
  /**
   * Reads the name of an object; null if these bytes do not have the object's hash, or are no name:
   * anybody can make up bytes and the hash of them.
   */
  static @Nullable ObjectName of(StoredObject object, byte[] identity) {
    ByteBuffer hash = ByteBuffer.wrap(StoredObject.hashOf(identity));
    if (!StoredObject.at(hash, 0, object.size()).equals(object)) {
      return null;
    }
    try {
      return read(object.size(), ByteBuffer.wrap(identity));
    } catch (BufferUnderflowException | IllegalArgumentException e) {
      return null;
    }
  }

  private static ObjectName read(long size, ByteBuffer bytes) {
    bytes.position(Long.BYTES);
    String store = text(bytes);
    ObjectRef ref = new ObjectRef(text(bytes), text(bytes));
    String etag = text(bytes);
    int length = bytes.getInt();
    String versionId = length < 0 ? null : text(bytes.position(bytes.position() - Integer.BYTES));
    return new ObjectName(store, ObjectVersion.identified(ref, size, etag, versionId));
  }

  private static String text(ByteBuffer bytes) {
    int length = bytes.getInt();
    if (length < 0 || length > bytes.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] utf8 = new byte[length];
    bytes.get(utf8);
    return new String(utf8, StandardCharsets.UTF_8);
  }
}
