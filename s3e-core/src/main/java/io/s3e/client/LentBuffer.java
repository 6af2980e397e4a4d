// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import java.nio.ByteBuffer;

/**
 * A response body in memory of the client's. It belongs to the handler that got it from {@link
 * ResponseHandler#onLent}; {@link #close()} gives the slot back.
 */
public interface LentBuffer extends AutoCloseable {

  /**
   * The body: a direct buffer, position 0 to limit. Valid until {@link #close()}; reading it
   * afterwards is memory corruption, not an exception. Absolute reads are safe from many threads.
   */
  ByteBuffer bytes();

  /** Gives the memory back to the client. Any thread, idempotent, never blocks. */
  @Override
  void close();
}
