// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.LentBuffer;
import io.s3e.client.ResponseHead.LengthSource;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The body of one answer whose head has been accepted: counts its bytes, and says from when on the
 * destination may show them. An answer that ends in order with another number of bytes than its
 * head tells is not the store's: none of its bytes is the object's.
 *
 * <p>When that is known depends on whose word the length is. A body under the store's own
 * Content-Length can end nowhere else, so its bytes are believed as they come, and those that came
 * before a break stay. Every other body is held until all of it has come: with the one call of a
 * client that hands over whole bodies, or with the end of the answer.
 *
 * <p>Touched inside the attempt's fence, or after it was closed: by one thread at a time.
 */
final class Body {
  /** The memory that the body of a GET comes to. Touched as the body is. */
  interface Destination {
    /** Whether it takes one lent buffer, and no chunks. Any thread. */
    default boolean isLent() {
      return false;
    }

    /**
     * The object ends at {@code offset}, inside what is missing: nothing behind it comes.
     *
     * @throws IOException if the answer is of no use then
     */
    void endsAt(long offset) throws IOException;

    /**
     * Takes bytes, which are no more than are missing, {@code ahead} bytes behind the first that
     * is. They are missing still, and nobody is shown them, until they are {@linkplain #filled
     * kept}.
     */
    void put(int ahead, ByteBuffer chunk);

    /** The first so many of the bytes that are missing were put, and are the object's. */
    void filled(int count);

    /** Takes over a buffer with all bytes, where it {@linkplain #isLent is lent}, or closes it. */
    default void take(LentBuffer buffer) {
      buffer.close();
      throw new IllegalStateException("nobody has asked for a buffer");
    }
  }

  private final ByteRange told;
  private final LengthSource source;
  private final Destination destination;
  private long received;

  /** Bytes that the destination has, and that are not the object's yet. */
  private int held;

  /** Whether the destination has all bytes and may show them. Read by anybody. */
  volatile boolean complete;

  Body(ByteRange told, LengthSource source, Destination destination) {
    this.told = told;
    this.source = source;
    this.destination = destination;
  }

  /**
   * Counts bytes that have come, and are taken next; false, and they are not counted, if they are
   * more than are still to come, or lent and not all of them.
   */
  boolean came(int count) {
    boolean isExpected =
        destination.isLent()
            ? received == 0 && count == told.length()
            : received + count <= told.length();
    received += isExpected ? count : 0;
    return isExpected;
  }

  void take(ByteBuffer chunk) {
    int count = chunk.remaining();
    boolean isAll = count == told.length();
    destination.put(held, chunk);
    held += count;
    if (source == LengthSource.STORE || (source == LengthSource.CLIENT && isAll)) {
      keep();
    }
  }

  /** All bytes have come in one lent buffer. */
  void take(LentBuffer buffer) {
    destination.take(buffer);
    complete = true;
  }

  /** Whether as many bytes have come as its head tells. */
  boolean isWhole() {
    return received == told.length();
  }

  /** The bytes that came are the object's. */
  void keep() {
    int count = held;
    held = 0;
    destination.filled(count);
    complete = isWhole();
  }

  /** The bytes that are held are of no use: others come in their place; how many they were. */
  int drop() {
    int dropped = held;
    held = 0;
    return dropped;
  }

  @Override
  public String toString() {
    return received + " of " + told.length() + " bytes";
  }
}
