package io.s3e.fetch;

import io.s3e.disk.StoredObject;
import io.s3e.disk.WriteBack;
import io.s3e.memory.Block;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of one object on their way to disk. Each is dirty until it is written or dropped, and may
 * leave memory before, where a reader needs the room.
 */
final class Spill implements WriteBack {
  private final StoredObject object;
  private final List<Block> blocks;
  private final boolean ofScan;

  /**
   * @param blocks at least one, all of them marked dirty
   */
  Spill(StoredObject object, List<Block> blocks, boolean ofScan) {
    this.object = object;
    this.blocks = blocks;
    this.ofScan = ofScan;
  }

  @Override
  public StoredObject object() {
    return object;
  }

  @Override
  public boolean isScanned() {
    return ofScan;
  }

  @Override
  public int pieces() {
    return blocks.size();
  }

  @Override
  public WriteBack part(int from, int to) {
    return new Spill(object, blocks.subList(from, to), ofScan);
  }

  @Override
  public int firstChunk(int piece) {
    return (int) (blocks.get(piece).start() / StoredObject.CHUNK_BYTES);
  }

  @Override
  public int length(int piece) {
    return blocks.get(piece).length();
  }

  @Override
  public @Nullable ByteBuffer pin(int piece) {
    Block block = blocks.get(piece);
    return block.tryPin() ? block.bytes() : null;
  }

  @Override
  public void ended(int piece, boolean pinned) {
    Block block = blocks.get(piece);
    block.markClean();
    if (pinned) {
      block.unpin();
    }
  }
}
