// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.nio.ByteBuffer;
import java.util.function.ObjIntConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

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

  private static final class Kept {
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(StoredObject.CHUNK_BYTES);
    private @Nullable StoredObject object;
    private int chunk;

    boolean is(StoredObject of, int number) {
      return chunk == number && of.equals(object);
    }
  }

  /** In the order of their last uses, the latest first. */
  private final Kept[] all = Stream.generate(Kept::new).limit(MOST).toArray(Kept[]::new);

  /** Shows the bytes of a chunk, valid during the call; false if it is not kept. */
  synchronized boolean visit(StoredObject object, int chunk, ObjIntConsumer<ByteBuffer> visitor) {
    int at = find(object, chunk);
    if (!all[at].is(object, chunk)) {
      return false;
    }
    visitor.accept(used(at).bytes.duplicate(), chunk);
    return true;
  }

  synchronized void keep(StoredObject object, int chunk, ByteBuffer bytes) {
    Kept place = used(find(object, chunk));
    if (!place.is(object, chunk)) {
      place.object = object;
      place.chunk = chunk;
      place.bytes.clear().put(bytes.duplicate()).flip();
    }
  }

  /** Where a chunk is kept, or else the last place. */
  private int find(StoredObject object, int chunk) {
    int at = 0;
    while (at < MOST - 1 && !all[at].is(object, chunk)) {
      at++;
    }
    return at;
  }

  private Kept used(int at) {
    Kept used = all[at];
    System.arraycopy(all, 0, all, 1, at);
    all[0] = used;
    return used;
  }
}
