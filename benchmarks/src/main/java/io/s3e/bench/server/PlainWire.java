// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Bytes as they are: what comes from a file does not pass through this process. */
final class PlainWire implements Wire {

  private final SocketChannel channel;

  PlainWire(SocketChannel channel) {
    this.channel = channel;
  }

  @Override
  public int read(ByteBuffer destination) throws IOException {
    return channel.read(destination);
  }

  @Override
  public void write(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  @Override
  public void transfer(ObjectFiles.OpenObject object, long position, int count) throws IOException {
    for (long at = position, end = position + count; at < end; ) {
      long sent = object.channel().transferTo(at, end - at, channel);
      if (sent <= 0) {
        throw new EOFException("File ended at " + at + ", " + (end - at) + " bytes early");
      }
      at += sent;
    }
  }

  @Override
  public boolean isOpen() {
    return channel.isOpen();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
