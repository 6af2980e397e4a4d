package io.s3e.stream;

import io.s3e.memory.Block;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Where a read puts its bytes: an array or a buffer. Belongs to one read. */
abstract sealed class Target {
  /** Bytes still wanted. */
  abstract int remaining();

  /** Takes what the pinned block has from {@code position} on, as far as wanted; how many bytes. */
  int copy(Block block, long position) {
    int offset = (int) (position - block.start());
    int count = Math.min(remaining(), block.length() - offset);
    take(block, offset, count);
    return count;
  }

  abstract void take(Block block, int offset, int count);

  /** The next {@code most} bytes of it at most, for somebody else to fill from the front. */
  abstract ByteBuffer room(long most);

  /** The next {@code count} bytes of it have been filled. */
  abstract void filled(int count);

  /**
   * A copy of {@code count} bytes that it has taken.
   *
   * @param back how many bytes before the end of what it has taken they begin; no less than {@code
   *     count}
   */
  abstract byte[] taken(int back, int count);

  static final class OfArray extends Target {
    private final byte[] array;
    private int offset;
    private int left;

    OfArray(byte[] array, int offset, int length) {
      this.array = array;
      this.offset = offset;
      this.left = length;
    }

    @Override
    int remaining() {
      return left;
    }

    @Override
    void take(Block block, int from, int count) {
      block.copyTo(from, array, offset, count);
      filled(count);
    }

    @Override
    ByteBuffer room(long most) {
      return ByteBuffer.wrap(array, offset, (int) Math.min(left, most));
    }

    @Override
    void filled(int count) {
      offset += count;
      left -= count;
    }

    @Override
    byte[] taken(int back, int count) {
      return Arrays.copyOfRange(array, offset - back, offset - back + count);
    }
  }

  static final class OfBuffer extends Target {
    private final ByteBuffer buffer;

    OfBuffer(ByteBuffer buffer) {
      this.buffer = buffer;
    }

    @Override
    int remaining() {
      return buffer.remaining();
    }

    @Override
    void take(Block block, int from, int count) {
      block.copyTo(from, buffer, count);
    }

    @Override
    ByteBuffer room(long most) {
      return buffer.slice(buffer.position(), (int) Math.min(buffer.remaining(), most));
    }

    @Override
    void filled(int count) {
      buffer.position(buffer.position() + count);
    }

    @Override
    byte[] taken(int back, int count) {
      byte[] bytes = new byte[count];
      buffer.get(buffer.position() - back, bytes);
      return bytes;
    }
  }
}
