// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.DiskIo.OpenFile;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Objects of tests, whose bytes follow from their names. */
final class StoredBytes {

  private StoredBytes() {}

  static ObjectVersion version(String key, long size) {
    return ObjectVersion.identified(new ObjectRef("bucket", key), size, "\"etag\"", null);
  }

  /** The one instance that stands for it. */
  static StoredObject object(String key, long size) {
    return StoredObject.of("store", version(key, size));
  }

  /** The bytes of the chunks {@code [first, end)}. */
  static ByteBuffer of(StoredObject object, int first, int end) {
    int length = 0;
    for (int chunk = first; chunk < end; chunk++) {
      length += object.chunkLength(chunk);
    }
    ByteBuffer bytes = ByteBuffer.allocateDirect(length);
    for (int chunk = first; chunk < end; chunk++) {
      bytes.put(of(object, chunk));
    }
    return bytes.flip();
  }

  static byte[] of(StoredObject object, int chunk) {
    byte[] bytes = new byte[object.chunkLength(chunk)];
    ByteBuffer words = ByteBuffer.wrap(bytes);
    long word = ((long) object.hashCode() << 32 | chunk) * 0x9E3779B97F4A7C15L + 1;
    while (words.remaining() >= Long.BYTES) {
      word ^= word << 13;
      word ^= word >>> 7;
      word ^= word << 17;
      words.putLong(word);
    }
    while (words.hasRemaining()) {
      words.put((byte) (word >>>= 7));
    }
    return bytes;
  }

  static void require(StoredObject object, int chunk, ByteBuffer bytes) {
    assertThat(bytes.duplicate().mismatch(ByteBuffer.wrap(of(object, chunk))))
        .as("first wrong byte of chunk %d of %s", chunk, object)
        .isEqualTo(-1);
  }

  /** A region without a file, which the index knows. */
  static Region region(ChunkIndex index, int number, long bytes, int mostEntries) {
    Region region = region(number, bytes, mostEntries, null);
    index.enter(region);
    return region;
  }

  /** A region without a file. */
  static Region region(int number, long bytes, int mostEntries, @Nullable CacheKey key) {
    return region(number, bytes, mostEntries, ByteBuffer.allocate(CacheKey.SALT_BYTES), key);
  }

  static Region region(
      int number, long bytes, int mostEntries, ByteBuffer salt, @Nullable CacheKey key) {
    Region.Header header = new Region.Header(number, mostEntries, bytes, 0, salt);
    return new Region(header, mostEntries, new NoFile(), 0, null, key);
  }

  /** A file that nobody may touch. */
  private static final class NoFile implements OpenFile {
    @Override
    public int read(ByteBuffer target, long position) {
      throw new AssertionError("no file");
    }

    @Override
    public void write(ByteBuffer source, long position) {
      throw new AssertionError("no file");
    }

    @Override
    public void close() {}
  }
}
