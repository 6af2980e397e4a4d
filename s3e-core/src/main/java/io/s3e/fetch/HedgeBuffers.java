package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.client.LentBuffer;
import io.s3e.memory.Grant;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The pooled buffers of a {@link Hedge}, which hold its bytes until they are all there. Released
 * once, by the hedge.
 */
final class HedgeBuffers implements Destination {
  private final ByteRange range;
  private final Grant grant;
  private final int blockBytes;
  private int filled;

  /** Bytes of the filled ones that the run has taken. */
  private int used;

  /**
   * @param range that the grant has buffers for
   */
  HedgeBuffers(ByteRange range, Grant grant, int blockBytes) {
    this.range = range;
    this.grant = grant;
    this.blockBytes = blockBytes;
  }

  @Override
  public boolean isLent() {
    return false;
  }

  @Override
  public void endsAt(long offset) throws IOException {
    throw new IOException("the object ends inside a range that is asked for twice");
  }

  @Override
  public void accept(ByteBuffer chunk) {
    while (chunk.hasRemaining()) {
      int at = filled % blockBytes;
      int count = Math.min(chunk.remaining(), blockBytes - at);
      grant.leases().get(filled / blockBytes).buffer().put(at, chunk, chunk.position(), count);
      chunk.position(chunk.position() + count);
      filled += count;
    }
  }

  /** All are held until the hedge has won. */
  @Override
  public void hold(ByteBuffer chunk) {
    accept(chunk);
  }

  @Override
  public void keep() {
    // The hedge hands them over.
  }

  @Override
  public long drop() {
    int dropped = filled;
    filled = 0;
    return dropped;
  }

  @Override
  public void accept(LentBuffer buffer) throws IOException {
    buffer.close();
    throw new IOException("a lent buffer that nobody asked for");
  }

  /** Copies what {@code landing}, which is not complete, misses of the range. */
  void fill(Landing landing) {
    int skipped = Math.toIntExact(landing.missing().start() - range.start());
    for (int at = skipped; at < filled; ) {
      int inBlock = at % blockBytes;
      int count = Math.min(filled - at, blockBytes - inBlock);
      ByteBuffer bytes = grant.leases().get(at / blockBytes).buffer().duplicate();
      landing.accept(bytes.limit(inBlock + count).position(inBlock));
      used += count;
      at += count;
    }
  }

  /** Bytes that came for nothing, so far. */
  int unusedBytes() {
    return filled - used;
  }

  /** Gives the memory and the place among the GETs back. */
  void release() {
    grant.leases().forEach(grant::release);
    grant.leaveLane();
  }
}
