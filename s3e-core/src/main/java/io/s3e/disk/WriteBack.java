package io.s3e.disk;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Adjacent bytes of one object that are in memory and are to be written, in pieces that may leave
 * memory each on its own. Called by one thread of the cache at a time, which must not be held up.
 */
public interface WriteBack {
  /** The object that the bytes are of. */
  StoredObject object();

  /** Whether they are of a reader that goes from front to end. */
  boolean isScanned();

  /** How many pieces there are, one after the other in the object. */
  int pieces();

  /** The pieces {@code [from, to)}, to be offered in place of these. */
  WriteBack part(int from, int to);

  /** The first chunk of a piece, whose bytes begin there. */
  int firstChunk(int piece);

  /** Bytes in a piece: whole chunks, but for the object's end. */
  int length(int piece);

  /**
   * The bytes of a piece, which stay where they are until {@link #ended}, however long the write
   * hangs; null if they are gone.
   */
  @Nullable ByteBuffer pin(int piece);

  /**
   * A piece was written or dropped, and its bytes are not looked at any more. Called once for each
   * piece, pinned or not; a write that hangs calls it when it returns.
   *
   * @param pinned whether {@link #pin} gave its bytes
   */
  void ended(int piece, boolean pinned);
}
