// SPDX-License-Identifier: Apache-2.0
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

  /**
   * Takes the next bytes, which are no more than are missing, behind those that are held.
   *
   * @param believed whether they are the object's; otherwise they are held, and nobody is shown
   *     them before they are {@linkplain #keep kept}
   */
  void take(ByteBuffer chunk, boolean believed);

  /** The bytes that are held are the object's. */
  void keep();

  /** The bytes that are held are of no use: others come in their place; how many they were. */
  long drop();

  /** Takes over a buffer with all bytes, where it {@linkplain #isLent is lent}, or closes it. */
  void take(LentBuffer buffer);
}
