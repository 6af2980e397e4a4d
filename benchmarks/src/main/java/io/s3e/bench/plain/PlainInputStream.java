// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.plain;

import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.apache.hadoop.fs.FSInputStream;

/**
 * A {@link FileInputStream} and nothing above it but what Hadoop needs to call it. One thread reads
 * and seeks; positioned reads may come from any.
 */
final class PlainInputStream extends FSInputStream {

  private final FileInputStream in;
  private final FileChannel channel;
  private long position;

  PlainInputStream(Path file) throws IOException {
    in = new FileInputStream(file.toFile());
    channel = in.getChannel();
  }

  @Override
  public int read() throws IOException {
    int value = in.read();
    if (value >= 0) {
      position++;
    }
    return value;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int got = in.read(bytes, offset, length);
    if (got > 0) {
      position += got;
    }
    return got;
  }

  @Override
  public int read(long at, byte[] bytes, int offset, int length) throws IOException {
    validatePositionedReadArgs(at, bytes, offset, length);
    return channel.read(ByteBuffer.wrap(bytes, offset, length), at);
  }

  @Override
  public void readFully(long at, byte[] bytes, int offset, int length) throws IOException {
    for (int done = 0; done < length; ) {
      int got = read(at + done, bytes, offset + done, length - done);
      if (got < 0) {
        throw new EOFException("End of the file " + (length - done) + " bytes too early");
      }
      done += got;
    }
  }

  @Override
  public void seek(long to) throws IOException {
    if (to < 0) {
      throw new EOFException("Cannot seek to " + to);
    }
    if (to != position) {
      channel.position(to);
      position = to;
    }
  }

  @Override
  public long getPos() {
    return position;
  }

  @Override
  public boolean seekToNewSource(long to) {
    return false;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
