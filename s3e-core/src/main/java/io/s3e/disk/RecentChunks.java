// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ObjIntConsumer;

/**
 * The chunks of a cache that reads took a part of, as last seen: the next short read goes on there
 * as a rule, and need not wait for a thread of the directory again. Verified and plain bytes, of
 * one version, so never out of date. The latest takes the place of what was used longest ago.
 *
 * <p>Any thread; one at a time looks or copies, which takes some microseconds.
 */
final class RecentChunks {
  /** Eight readers in order that each have a batch ahead of them: 2 MiB. */
  private static final int MOST = 8 * ChunkReader.BATCH_CHUNKS;

  /** What all of them take, in bytes. */
  static final int BYTES = MOST * StoredObject.CHUNK_BYTES;

  /** By object and number, in the order of their last uses. Guarded by this. */
  private final Map<List<Object>, ByteBuffer> kept = new LinkedHashMap<>(2 * MOST, 0.75f, true);

  RecentChunks() {
    // All memory is taken at once, under keys of nothing.
    for (int i = 0; i < MOST; i++) {
      kept.put(List.of(i), ByteBuffer.allocateDirect(StoredObject.CHUNK_BYTES));
    }
  }

  /** Shows the bytes of a chunk, valid during the call; false if it is not kept. */
  synchronized boolean visit(StoredObject object, int chunk, ObjIntConsumer<ByteBuffer> visitor) {
    ByteBuffer bytes = kept.get(List.of(object, chunk));
    if (bytes != null) {
      visitor.accept(bytes.duplicate(), chunk);
    }
    return bytes != null;
  }

  synchronized void keep(StoredObject object, int chunk, ByteBuffer bytes) {
    List<Object> key = List.of(object, chunk);
    if (kept.get(key) == null) {
      ByteBuffer source = bytes.duplicate();
      var eldest = kept.entrySet().iterator().next();
      // In this order a heap without room leaves all as it was.
      kept.put(key, eldest.getValue());
      kept.remove(eldest.getKey());
      eldest.getValue().clear().put(source).flip();
    }
  }
}
