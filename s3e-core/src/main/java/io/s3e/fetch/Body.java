// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.LentBuffer;
import io.s3e.client.ResponseHead.LengthSource;
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
 * <p>Touched inside the attempt's fence, or after it was closed.
 */
final class Body {
  private final ByteRange told;
  private final LengthSource source;
  private final Destination destination;
  private long received;

  /** Whether the destination has all bytes and may show them. Read by anybody. */
  private volatile boolean complete;

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

  long received() {
    return received;
  }

  void take(ByteBuffer chunk) {
    boolean isAll = chunk.remaining() == told.length();
    boolean believed = source == LengthSource.STORE || (source == LengthSource.CLIENT && isAll);
    destination.take(chunk, believed);
    // Once so, it stays so: nothing may come behind the last byte.
    complete = complete || (believed && isWhole());
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

  /** It has ended in order and is whole. */
  void keep() {
    destination.keep();
    complete = true;
  }

  boolean isComplete() {
    return complete;
  }

  @Override
  public String toString() {
    return received + " of " + told.length() + " bytes";
  }
}
