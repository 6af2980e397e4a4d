// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ByteRange;
import io.s3e.stream.S3EInputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The ways in which programs read, each over a whole object. */
enum ReaderKind {
  SEQUENTIAL {
    @Override
    void read(S3EInputStream in, byte[] expected, Random random) throws Exception {
      byte[] buffer = new byte[random.nextInt(1_000, 200_000)];
      int at = 0;
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        check(Arrays.copyOf(buffer, count), expected, at);
        at += count;
      }
      assertThat(at).as("the end of the object").isEqualTo(expected.length);
    }
  },
  POSITIONED {
    @Override
    void read(S3EInputStream in, byte[] expected, Random random) throws Exception {
      for (int i = 0; i < 6; i++) {
        int at = random.nextInt(expected.length);
        byte[] buffer = new byte[random.nextInt(1, Math.min(200_000, expected.length - at) + 1)];
        in.readFullyAt(at, buffer, 0, buffer.length);
        check(buffer, expected, at);
      }
    }
  },
  VECTORED {
    @Override
    void read(S3EInputStream in, byte[] expected, Random random) throws Exception {
      List<ByteRange> ranges = new ArrayList<>();
      for (int at = 0; at < expected.length; ) {
        int start = Math.min(expected.length, at + random.nextInt(50_000));
        int end = Math.min(expected.length, start + random.nextInt(100_000));
        ranges.add(new ByteRange(start, end));
        at = end + 1;
      }
      List<CompletableFuture<ByteBuffer>> results =
          in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
      for (int i = 0; i < ranges.size(); i++) {
        ByteBuffer result = results.get(i).get(90, TimeUnit.SECONDS);
        byte[] got = new byte[result.remaining()];
        result.get(got);
        assertThat(got.length).isEqualTo((int) ranges.get(i).length());
        check(got, expected, (int) ranges.get(i).start());
      }
    }
  };

  /**
   * Reads and compares.
   *
   * @throws java.io.IOException or {@link java.util.concurrent.ExecutionException} if a read fails
   */
  abstract void read(S3EInputStream in, byte[] expected, Random random) throws Exception;

  private static void check(byte[] got, byte[] expected, int at) {
    if (!Arrays.equals(got, 0, got.length, expected, at, at + got.length)) {
      int wrong = Arrays.mismatch(got, Arrays.copyOfRange(expected, at, at + got.length));
      throw new AssertionError("a wrong byte at " + (at + wrong));
    }
  }
}
