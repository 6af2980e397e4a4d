package io.s3e.disk;

import java.nio.ByteBuffer;

/** One read of adjacent chunks. */
final class RegionRead extends Look implements ChunkSink {
  RegionRead(RegionStore store, ChunkRange wanted, Receiver receiver) {
    super(store, wanted, receiver);
  }

  @Override
  void look() {
    boolean complete = store.readChunks(wanted, this) == wanted.end();
    boolean unused = end(complete ? End.HIT : End.MISS);
  }

  @Override
  public boolean accept(int chunk, ByteBuffer bytes) {
    return !hasEnded() && receiver.onBytes(bytes);
  }
}
