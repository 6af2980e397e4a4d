// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A test's offer to the writer. Bytes that have ended are overwritten, so that nobody who still
 * looks at them finds the right ones by luck. Any thread.
 */
final class TestWriteBack {
  private final StoredObject object;
  private final List<Integer> firstChunks = new ArrayList<>();
  private final List<ByteBuffer> pieces = new ArrayList<>();
  private final Set<Integer> evicted = new HashSet<>();
  private final AtomicIntegerArray pinned;
  private final AtomicIntegerArray ended;

  private TestWriteBack(StoredObject object, int first, int end, int pieceChunks) {
    this.object = object;
    for (int chunk = first; chunk < end; chunk += pieceChunks) {
      firstChunks.add(chunk);
      pieces.add(StoredBytes.of(object, chunk, Math.min(end, chunk + pieceChunks)));
    }
    pinned = new AtomicIntegerArray(pieces.size());
    ended = new AtomicIntegerArray(pieces.size());
  }

  /** The chunks {@code [first, end)}, in pieces of so many. */
  static TestWriteBack of(StoredObject object, int first, int end, int pieceChunks) {
    return new TestWriteBack(object, first, end, pieceChunks);
  }

  /** All of an object, a chunk a piece. */
  static TestWriteBack all(StoredObject object) {
    return of(object, 0, object.chunks(), 1);
  }

  /** A piece leaves memory before it is written. */
  TestWriteBack withEvicted(int piece) {
    evicted.add(piece);
    return this;
  }

  long bytes() {
    return pieces.stream().mapToLong(ByteBuffer::capacity).sum();
  }

  /** Whether all pieces have ended. */
  boolean isEnded() {
    for (int piece = 0; piece < pieces.size(); piece++) {
      if (ended.get(piece) == 0) {
        return false;
      }
    }
    return true;
  }

  /** What is offered. */
  WriteBack offered() {
    return new WriteBack(object, IntStream.range(0, pieces()).mapToObj(Offered::new).toList());
  }

  StoredObject object() {
    return object;
  }

  int pieces() {
    return pieces.size();
  }

  private final class Offered implements WriteBack.Piece {
    private final int piece;

    Offered(int piece) {
      this.piece = piece;
    }

    @Override
    public long start() {
      return (long) firstChunks.get(piece) * StoredObject.CHUNK_BYTES;
    }

    @Override
    public int length() {
      return pieces.get(piece).capacity();
    }

    @Override
    public @Nullable ByteBuffer pin() {
      if (evicted.contains(piece)) {
        return null;
      }
      assertThat(pinned.incrementAndGet(piece)).as("times that piece %d was pinned", piece).isOne();
      assertThat(ended.get(piece)).as("times that piece %d had ended", piece).isZero();
      return pieces.get(piece).duplicate();
    }

    @Override
    public void ended(boolean wasPinned) {
      ended.incrementAndGet(piece);
      if (wasPinned != (pinned.get(piece) == 1)) {
        // Seen by requireEndedOnce: an assertion here would be the writing thread's.
        ended.addAndGet(piece, 100);
      }
      ByteBuffer gone = pieces.get(piece);
      for (int at = 0; at + Long.BYTES <= gone.capacity(); at += Long.BYTES) {
        gone.putLong(at, -1);
      }
    }
  }

  /** Each piece has ended, once, and as it was pinned. */
  void requireEndedOnce() {
    for (int piece = 0; piece < pieces.size(); piece++) {
      assertThat(ended.get(piece)).as("times that piece %d of %s ended", piece, object).isOne();
    }
  }
}
