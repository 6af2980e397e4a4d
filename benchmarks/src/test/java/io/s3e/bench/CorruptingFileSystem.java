package io.s3e.bench;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileSystem;

/** A bad peer: S3A with one bit of the object turned round. */
public final class CorruptingFileSystem extends S3AFileSystem {

  /** Where the wrong byte is. */
  static final long WRONG_BYTE = 1_234_567;

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return new FSDataInputStream(new CorruptingStream(super.open(path, bufferSize)));
  }

  private static final class CorruptingStream extends FSInputStream {
    private final FSDataInputStream in;

    CorruptingStream(FSDataInputStream in) {
      this.in = in;
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
      if (got > 0 && position <= WRONG_BYTE && WRONG_BYTE < position + got) {
        bytes[offset + (int) (WRONG_BYTE - position)] ^= 1;
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
