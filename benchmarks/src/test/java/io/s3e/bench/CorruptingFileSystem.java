// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.s3a.S3AFileSystem;

/** A bad peer: S3A with one bit of each object turned round. */
public final class CorruptingFileSystem extends S3AFileSystem {

  /** Key of where the wrong byte is. */
  public static final String WRONG_BYTE_KEY = "s3e.test.wrong.byte";

  /** Where it is when nothing is set. */
  static final long WRONG_BYTE = 1_234_567;

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return corrupt(super.open(path, bufferSize));
  }

  @Override
  public CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    return super.openFileWithOptions(path, parameters).thenApply(this::corrupt);
  }

  private FSDataInputStream corrupt(FSDataInputStream in) {
    return new FSDataInputStream(
        new CorruptingStream(in, getConf().getLong(WRONG_BYTE_KEY, WRONG_BYTE)));
  }

  private static final class CorruptingStream extends FSInputStream {
    private final FSDataInputStream in;
    private final long wrongByte;

    CorruptingStream(FSDataInputStream in, long wrongByte) {
      this.in = in;
      this.wrongByte = wrongByte;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      long position = in.getPos();
      int got = in.read(bytes, offset, length);
      if (got > 0 && position <= wrongByte && wrongByte < position + got) {
        bytes[offset + (int) (wrongByte - position)] ^= 1;
      }
      return got;
    }

    @Override
    public void seek(long position) throws IOException {
      in.seek(position);
    }

    @Override
    public long getPos() throws IOException {
      return in.getPos();
    }

    @Override
    public boolean seekToNewSource(long position) throws IOException {
      return in.seekToNewSource(position);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
