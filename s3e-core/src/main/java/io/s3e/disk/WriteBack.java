// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Bytes of one object in memory that are to be written, in one piece at least. */
public record WriteBack(StoredObject object, List<? extends Piece> pieces) {
  /** Bytes that may leave memory by themselves. For one thread at a time, never held up. */
  public interface Piece {
    /** Offset in the object, where a chunk begins. */
    long start();

    /** How many bytes: whole chunks, but for the object's end. */
    int length();

    /** The bytes, which stay until {@link #ended}, however long a write hangs; null if gone. */
    @Nullable ByteBuffer pin();

    /**
     * The piece was written or dropped, and its bytes are not looked at any more. Called once,
     * pinned or not; a write that hangs calls it when it returns.
     *
     * @param pinned whether {@link #pin} gave its bytes
     */
    void ended(boolean pinned);
  }

  long bytes() {
    return pieces.stream().mapToLong(Piece::length).sum();
  }

  void drop() {
    pieces.forEach(piece -> piece.ended(false));
  }
}
