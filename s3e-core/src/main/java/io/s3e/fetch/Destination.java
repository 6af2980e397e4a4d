package io.s3e.fetch;

import io.s3e.client.Fence;
import io.s3e.client.LentBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The memory that the body of a GET comes to. Touched inside a {@link Fence} that is open, or after
 * it was closed: by one thread at a time.
 */
interface Destination {
  /** Whether it takes one lent buffer, and no chunks. Any thread. */
  boolean isLent();

  /**
   * The object ends at {@code offset}, inside what is missing: nothing behind it comes.
   *
   * @throws IOException if the answer is of no use then
   */
  void endsAt(long offset) throws IOException;

  /** Takes the next bytes, which are no more than are missing. */
  void accept(ByteBuffer chunk);

  /**
   * Takes over a buffer with all bytes.
   *
   * @throws IOException if it did not ask for one or has one; the buffer is closed then
   */
  void accept(LentBuffer buffer) throws IOException;
}
