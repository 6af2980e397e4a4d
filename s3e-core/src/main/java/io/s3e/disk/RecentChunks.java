package io.s3e.disk;

import java.nio.ByteBuffer;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The chunks of one directory that reads took a part of, as last seen: the next short read goes on
 * there as a rule, and need not wait for a thread of the directory again. Verified and plain bytes;
 * they name one version, so they are never out of date. Whoever comes last takes the place of what
 * was used longest ago.
 *
 * <p>Any thread; one at a time looks or copies, which takes some microseconds.
 */
final class RecentChunks {
  /** Eight readers in order that each have a batch ahead of them: 2 MiB. */
  private static final int MOST = 8 * ChunkReader.BATCH_CHUNKS;

  private static final class Kept {
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(StoredObject.CHUNK_BYTES);
    private @Nullable StoredObject object;
    private int chunk;
    private long used;
  }

  private final Kept[] all = new Kept[MOST];

  /** Counts uses, so that they have an order. */
  private long uses;

  RecentChunks() {
    for (int i = 0; i < MOST; i++) {
      all[i] = new Kept();
    }
  }

  /** Memory that they take, in bytes. */
  static long bufferBytes() {
    return (long) MOST * StoredObject.CHUNK_BYTES;
  }

  /**
   * Shows the bytes of a chunk, valid during the call.
   *
   * @return false if the chunk is not kept
   */
  synchronized boolean visit(StoredObject object, int chunk, ObjIntConsumer<ByteBuffer> visitor) {
    Kept found = find(object, chunk);
    if (found == null) {
      return false;
    }
    found.used = ++uses;
    visitor.accept(found.bytes.duplicate(), chunk);
    return true;
  }

  /** Keeps a copy of a chunk's bytes. */
  synchronized void keep(StoredObject object, int chunk, ByteBuffer bytes) {
    Kept place = find(object, chunk);
    if (place == null) {
      place = all[0];
      for (Kept each : all) {
        if (each.used < place.used) {
          place = each;
        }
      }
      place.object = object;
      place.chunk = chunk;
      place.bytes.clear().put(bytes.duplicate()).flip();
    }
    place.used = ++uses;
  }

  private @Nullable Kept find(StoredObject object, int chunk) {
    for (Kept each : all) {
      if (each.chunk == chunk && object.equals(each.object)) {
        return each;
      }
    }
    return null;
  }
}
