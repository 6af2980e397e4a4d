// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Sees bytes of an object as they arrive. Any thread; several ranges at a time. */
@FunctionalInterface
public interface ByteSink {

  /**
   * Takes the next bytes of a range.
   *
   * @param position offset of the first of them in the object
   * @param bytes the client's own buffer, from position to limit; valid until this method returns
   * @throws IOException when they are not the object's; the range fails with it
   */
  void accept(long position, ByteBuffer bytes) throws IOException;
}
