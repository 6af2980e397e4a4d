package io.s3e.disk;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.SplittableRandom;

/** Disk blocks of made-up objects, and bytes that say which chunk of which block they are. */
final class TestBlocks {
  private static final int SHORT_TAIL = 1000;

  private TestBlocks() {}

  /** A whole disk block of an object of 1 TiB. */
  static DiskBlockId block(long index) {
    return new DiskBlockId("https://s3.test", version("data", 1L << 40), index);
  }

  /** The only disk block of an object: three whole chunks and 1000 bytes. */
  static DiskBlockId shortBlock(String key) {
    long size = 3L * DiskBlockId.CHUNK_BYTES + SHORT_TAIL;
    return new DiskBlockId("https://s3.test", version(key, size), 0);
  }

  private static ObjectVersion version(String key, long size) {
    return ObjectVersion.identified(new ObjectRef("bucket", key), size, "\"e-" + key + "\"", null);
  }

  /** What the chunk consists of. */
  static ByteBuffer bytes(DiskBlockId id, int chunk) {
    SplittableRandom random = new SplittableRandom(id.hashCode() * 31L + chunk);
    byte[] bytes = new byte[id.chunkLength(chunk)];
    random.nextBytes(bytes);
    return ByteBuffer.wrap(bytes);
  }

  /** A clock that stands still but for what a test adds. */
  static final class ManualClock {
    // Just before the end of the numbers: whoever compares times and not differences is found out.
    private volatile long now = Long.MAX_VALUE - 1_000;

    long nanos() {
      return now;
    }

    void pass(Duration time) {
      now += time.toNanos();
    }
  }
}
