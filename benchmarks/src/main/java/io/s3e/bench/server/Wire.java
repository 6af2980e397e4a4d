// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/** One connection as HTTP sees it, encrypted or not. Blocks. One thread, which owns it. */
interface Wire extends ReadableByteChannel, Closeable {

  /** Sends all that remains in the buffer. */
  void write(ByteBuffer bytes) throws IOException;

  /**
   * Sends {@code count} bytes of an object.
   *
   * @throws EOFException when its file ends before
   */
  void transfer(ObjectFiles.OpenObject object, long position, int count) throws IOException;
}
