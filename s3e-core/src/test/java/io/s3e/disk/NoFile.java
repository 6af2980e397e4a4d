package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The file of a region in a test that has no disk. */
final class NoFile implements OpenFile {
  private static IOException none() {
    return new IOException("this test has no disk");
  }

  @Override
  public long size() throws IOException {
    throw none();
  }

  @Override
  public int read(ByteBuffer target, long position) throws IOException {
    throw none();
  }

  @Override
  public void write(ByteBuffer source, long position) throws IOException {
    throw none();
  }

  @Override
  public void write(ByteBuffer[] sources, long position) throws IOException {
    throw none();
  }

  @Override
  public void truncate(long bytes) throws IOException {
    throw none();
  }

  @Override
  public void close() {}
}
