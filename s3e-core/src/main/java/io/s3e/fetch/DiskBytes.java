package io.s3e.fetch;

import io.s3e.disk.ChunkStream;
import io.s3e.disk.StoredObject;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Bytes of one read that come from disk to the reader itself. One thread, the reader's. */
public final class DiskBytes implements AutoCloseable {
  private final DiskTier disk;
  private final ObjectHandle handle;
  private final ChunkStream stream;
  private final long end;
  private long next;
  private long taken;

  /** Bytes of the first chunk that are before the read. */
  private int before;

  DiskBytes(DiskTier disk, ObjectHandle handle, ChunkStream stream, long position, long end) {
    this.disk = disk;
    this.handle = handle;
    this.stream = stream;
    this.next = position;
    this.end = end;
    this.before = (int) (position % StoredObject.CHUNK_BYTES);
  }

  /** The next bytes, valid until the next call; null if no more come from here. */
  public @Nullable ByteBuffer next() {
    ByteBuffer bytes = next < end ? stream.next() : null;
    if (bytes == null) {
      return null;
    }
    bytes.position(before);
    before = 0;
    bytes.limit((int) Math.min(bytes.limit(), bytes.position() + end - next));
    next += bytes.remaining();
    taken += bytes.remaining();
    return bytes;
  }

  @Override
  public void close() {
    stream.close();
    if (taken > 0) {
      handle.progress().takesFromDisk(taken);
    } else {
      handle.progress().leavesDisk();
    }
    disk.hit(handle, taken, next == end);
    disk.used(handle, taken);
  }
}
