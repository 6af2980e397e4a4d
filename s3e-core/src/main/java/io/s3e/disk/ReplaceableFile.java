package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A file that is held by descriptor, until another stands under its name. Any thread; one at a time
 * may write, and one at a time may reopen.
 */
final class ReplaceableFile implements OpenFile {
  private final DiskIo io;
  private final Path path;
  private volatile OpenFile file;
  private volatile @Nullable Object identity;

  private ReplaceableFile(DiskIo io, Path path, OpenFile file, @Nullable Object identity) {
    this.io = io;
    this.path = path;
    this.file = file;
    this.identity = identity;
  }

  static ReplaceableFile open(DiskIo io, Path path) throws IOException {
    OpenFile file = io.openOrCreate(path);
    return new ReplaceableFile(io, path, file, io.identityOf(path));
  }

  boolean isInPlace() throws IOException {
    return Objects.equals(identity, io.identityOf(path));
  }

  void reopen() throws IOException {
    OpenFile before = file;
    file = io.openOrCreate(path);
    identity = io.identityOf(path);
    before.close();
  }

  @Override
  public long size() throws IOException {
    return file.size();
  }

  @Override
  public int read(ByteBuffer target, long position) throws IOException {
    return file.read(target, position);
  }

  @Override
  public void write(ByteBuffer source, long position) throws IOException {
    file.write(source, position);
  }

  @Override
  public void write(ByteBuffer[] sources, long position) throws IOException {
    file.write(sources, position);
  }

  @Override
  public void truncate(long bytes) throws IOException {
    file.truncate(bytes);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
