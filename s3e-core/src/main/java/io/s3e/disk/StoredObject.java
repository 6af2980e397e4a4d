// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.s3e.block.ObjectVersion;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.jspecify.annotations.Nullable;

/**
 * One immutable version of one object as a cache on disk knows it: a hash of its name, and its
 * length. Two that are equal are of the same version. Immutable, any thread.
 *
 * <p><b>Chunks</b> of {@value #CHUNK_BYTES} bytes, the last one shorter, are numbered from 0.
 *
 * <p><b>Hash.</b> The first {@value #HASH_BYTES} bytes of the SHA-256 of the object's length (8
 * bytes, big-endian) and of store, bucket, key, ETag and version id, each as its length in UTF-8 (4
 * bytes; -1 for no version id) and its bytes.
 */
public record StoredObject(long first, long second, int third, long size) {
  /** Length of a chunk, but for an object's last one, in bytes. */
  public static final int CHUNK_BYTES = 64 << 10;

  /** Length of the hash, in bytes: 160 bits, for no two objects to meet by chance. */
  static final int HASH_BYTES = 20;

  /** As many chunks fit the number of a chunk. */
  static final long MOST_BYTES = (long) Integer.MAX_VALUE * CHUNK_BYTES;

  static StoredObject at(ByteBuffer buffer, int at, long size) {
    return new StoredObject(
        buffer.getLong(at), buffer.getLong(at + 8), buffer.getInt(at + 16), size);
  }

  /**
   * The object that a version is in a cache; null if it has no ETag of its own, no bytes or too
   * many. To be asked once for each opening: it hashes the name.
   *
   * @param store which store the bucket is in: scheme, host and port of its endpoint
   */
  public static @Nullable StoredObject of(String store, ObjectVersion version) {
    return !version.isIdentified() || version.size() <= 0 || version.size() > MOST_BYTES
        ? null
        : at(ByteBuffer.wrap(hashOf(identity(store, version))), 0, version.size());
  }

  /** The bytes whose hash names an object. */
  static byte[] identity(String store, ObjectVersion version) {
    String[] strings = {
      store,
      version.object().bucket(),
      version.object().key(),
      String.valueOf(version.etag()),
      version.versionId()
    };
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(version.size()).array());
    for (String each : strings) {
      byte[] utf8 = each == null ? new byte[0] : each.getBytes(UTF_8);
      int length = each == null ? -1 : utf8.length;
      bytes.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(length).array());
      bytes.writeBytes(utf8);
    }
    return bytes.toByteArray();
  }

  /** The hash of such bytes: {@value #HASH_BYTES} of them, and more. */
  static byte[] hashOf(byte[] identity) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(identity);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this JVM has no SHA-256", e);
    }
  }

  void putHash(ByteBuffer buffer, int at) {
    buffer.putLong(at, first).putLong(at + 8, second).putInt(at + 16, third);
  }

  int chunks() {
    return (int) ((size + CHUNK_BYTES - 1) / CHUNK_BYTES);
  }

  int chunkLength(int chunk) {
    return (int) Math.min(CHUNK_BYTES, size - (long) chunk * CHUNK_BYTES);
  }

  /** SplitMix64's number for the object and another number: the same in every process. */
  public long mixedWith(int number) {
    long both = ((long) hashCode() << Integer.SIZE) | Integer.toUnsignedLong(number);
    long mixed = both * 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }

  /** As a record's own, which the JDK makes when a reader first asks: 13 ms in a cold JVM. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof StoredObject that
        && first == that.first
        && second == that.second
        && third == that.third
        && size == that.size;
  }

  @Override
  public int hashCode() {
    return (int) first;
  }
}
