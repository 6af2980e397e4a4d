package io.s3e.disk;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Chunks of one disk block on their way to disk, in one buffer of the {@link WriteQueue}'s arena.
 *
 * <p>The queue owns it and guards its fields by the queue's lock. While it collects, chunks are
 * claimed under the lock and copied outside of it, each by the one thread that claimed it. Once
 * {@link WriteQueue#take} has handed it out nothing changes any more, and it belongs to that
 * thread, which alone calls {@link #mask()} and {@link #chunk}, until {@link WriteQueue#done}.
 */
final class PendingBlock implements ChunkSource {
  private final DiskBlockId id;

  /** When its first chunk came, by the queue's clock, in ns. */
  final long createdNanos;

  /** When its last chunk came. */
  long lastChunkNanos;

  /** Chunks that somebody has copied or is copying. */
  int claimed;

  /** It is not to wait for more chunks. */
  boolean isAskedFor;

  /** Threads that copy. */
  int copiers;

  /** Chunks that are here in full. */
  private int filled;

  /** Null once it is done. */
  private @Nullable ByteBuffer memory;

  PendingBlock(DiskBlockId id, ByteBuffer memory, long nowNanos) {
    this.id = id;
    this.memory = memory;
    this.createdNanos = nowNanos;
    this.lastChunkNanos = nowNanos;
  }

  /** Which disk block it is part of. */
  DiskBlockId id() {
    return id;
  }

  @Override
  public int mask() {
    return filled;
  }

  /**
   * @throws IllegalStateException if the chunk is not here
   */
  @Override
  public ByteBuffer chunk(int index) {
    if ((filled & 1 << index) == 0) {
      throw new IllegalStateException("chunk " + index + " of " + id + " is not here");
    }
    return memory()
        .slice(index * DiskBlockId.CHUNK_BYTES, id.chunkLength(index))
        .asReadOnlyBuffer();
  }

  /** Bytes of object data that are here. */
  long bytes() {
    long bytes = 0;
    for (int chunk = 0; chunk < id.chunks(); chunk++) {
      bytes += (filled & 1 << chunk) == 0 ? 0 : id.chunkLength(chunk);
    }
    return bytes;
  }

  /** Whether all its chunks are claimed. */
  boolean isFull() {
    return Integer.bitCount(claimed) == id.chunks();
  }

  /** Copies a claimed chunk in; outside of the lock. */
  void copy(int chunk, ByteBuffer bytes) {
    memory().put(chunk * DiskBlockId.CHUNK_BYTES, bytes, bytes.position(), bytes.remaining());
  }

  /** A claimed chunk is here in full. */
  void filled(int chunk) {
    filled |= 1 << chunk;
  }

  /** Gives up its buffer; what asks for chunks from now on fails. */
  ByteBuffer release() {
    ByteBuffer released = memory();
    memory = null;
    filled = 0;
    return released;
  }

  private ByteBuffer memory() {
    if (memory == null) {
      throw new IllegalStateException(id + " is written and has given its buffer back");
    }
    return memory;
  }
}
