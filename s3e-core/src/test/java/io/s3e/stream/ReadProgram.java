// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A random program of calls on a stream, each compared with what an array of the same bytes would
 * give.
 */
final class ReadProgram {
  private static final int STEPS = 60;

  private final int blockBytes;

  ReadProgram(int blockBytes) {
    this.blockBytes = blockBytes;
  }

  void run(S3EInputStream in, byte[] expected, Random random) throws Exception {
    for (int step = 0; step < STEPS; step++) {
      switch (random.nextInt(9)) {
        case 0 -> in.seek(random.nextInt(expected.length + 1));
        case 1 -> readByte(in, expected);
        case 2, 3 -> readArray(in, expected, random.nextInt(1, 3 * blockBytes));
        case 4 -> readArray(in, expected, random.nextInt(1, 200));
        case 5 -> positioned(in, expected, random);
        case 6 -> vectored(in, expected, random);
        case 7 -> skip(in, expected, random);
        default -> {
          if (random.nextInt(4) == 0) {
            in.unbuffer();
          } else {
            readBuffer(in, expected, random.nextInt(1, 2 * blockBytes));
          }
        }
      }
    }
  }

  private void readByte(S3EInputStream in, byte[] expected) throws IOException {
    int at = (int) in.position();
    int read = in.read();
    assertThat(read).isEqualTo(at < expected.length ? expected[at] & 0xFF : -1);
    assertThat(in.position()).isEqualTo(Math.min(at + 1, expected.length));
  }

  private void readArray(S3EInputStream in, byte[] expected, int length) throws IOException {
    int at = (int) in.position();
    byte[] target = new byte[length + 2];
    int count = in.read(target, 1, length);
    check(expected, at, count, length, Arrays.copyOfRange(target, 1, 1 + Math.max(0, count)));
    assertThat(target[0]).isZero();
    assertThat(in.position()).isEqualTo(at + Math.max(0, count));
  }

  private void readBuffer(S3EInputStream in, byte[] expected, int length) throws IOException {
    int at = (int) in.position();
    ByteBuffer target = ByteBuffer.allocateDirect(length);
    int count = in.read(target);
    byte[] got = new byte[Math.max(0, count)];
    target.flip().get(got);
    check(expected, at, count, length, got);
  }

  private void positioned(S3EInputStream in, byte[] expected, Random random) throws IOException {
    int at = random.nextInt(expected.length + 10);
    int length = random.nextInt(1, 6 * blockBytes);
    long before = in.position();
    byte[] target = new byte[length];
    int count = in.readAt(at, target, 0, length);
    int there = Math.max(0, Math.min(length, expected.length - at));
    assertThat(count).isEqualTo(there == 0 ? -1 : there);
    check(expected, at, count, length, Arrays.copyOf(target, Math.max(0, count)));
    assertThat(in.position()).isEqualTo(before);
  }

  private void vectored(S3EInputStream in, byte[] expected, Random random) throws Exception {
    List<ByteRange> ranges = new ArrayList<>();
    int at = 0;
    while (ranges.size() < 6) {
      int start = at + random.nextInt(2 * blockBytes);
      int end = start + random.nextInt(blockBytes);
      if (end > expected.length) {
        break;
      }
      ranges.add(new ByteRange(start, end));
      at = end;
    }
    Collections.shuffle(ranges, random);
    List<CompletableFuture<ByteBuffer>> results =
        in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
    for (int i = 0; i < ranges.size(); i++) {
      ByteBuffer result = results.get(i).get(60, TimeUnit.SECONDS);
      byte[] got = new byte[result.remaining()];
      result.get(got);
      assertThat(got)
          .isEqualTo(
              Arrays.copyOfRange(expected, (int) ranges.get(i).start(), (int) ranges.get(i).end()));
    }
  }

  private void skip(S3EInputStream in, byte[] expected, Random random) throws IOException {
    long at = in.position();
    long count = random.nextInt(2 * blockBytes);
    assertThat(in.skip(count)).isEqualTo(Math.min(count, expected.length - at));
  }

  private void check(byte[] expected, int at, int count, int wanted, byte[] got) {
    if (at >= expected.length) {
      assertThat(count).isEqualTo(-1);
      return;
    }
    assertThat(count).isBetween(1, Math.min(wanted, expected.length - at));
    assertThat(got).isEqualTo(Arrays.copyOfRange(expected, at, at + count));
  }
}
