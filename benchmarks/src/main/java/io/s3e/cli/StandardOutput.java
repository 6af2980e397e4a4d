// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Standard output as a channel whose failures are told apart from the network's: the reader of a
 * pipe that has seen enough is no failure of the store. Closing it leaves the stream open. What
 * could not be written is remembered, for writers that say nothing of it.
 */
final class StandardOutput implements WritableByteChannel {
  private final WritableByteChannel channel;
  private volatile boolean open = true;
  private volatile @Nullable IOException failure;

  StandardOutput(OutputStream out) {
    this.channel = Channels.newChannel(out);
  }

  /**
   * @throws ClosedPipeException if nobody reads the output any more
   */
  @Override
  public int write(ByteBuffer source) throws IOException {
    try {
      return channel.write(source);
    } catch (IOException e) {
      IOException told =
          isOfPipe(e, channel)
              ? new ClosedPipeException(e)
              : new IOException("Cannot write to standard output: " + e.getMessage(), e);
      failure = told;
      throw told;
    }
  }

  /** Systems tell it in the user's language; but a pipe has no position, in any of them. */
  static boolean isOfPipe(IOException failure, Channel channel) {
    String words = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
    if (words.contains("broken pipe") || words.contains("pipe closed")) {
      return true;
    }
    try {
      return channel instanceof FileChannel file && file.isOpen() && file.position() < 0;
    } catch (IOException e) {
      return true;
    }
  }

  /** Why something could not be written; null if all was. */
  @Nullable IOException failure() {
    return failure;
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public void close() {
    open = false;
  }
}
