// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.testing.Slow;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The modes {@code warn} and {@code none} of change detection: an open file that was replaced by
 * one of another size is read as the store has it, up to the length that was known when it was
 * opened.
 */
@Timeout(180)
@Slow
class ServedChangesTest {
  private static final int SIZE = 3 << 20;
  private static final byte[] BEFORE = S3AReads.random(SIZE);
  private static final AtomicInteger NAMES = new AtomicInteger();

  private final Path path = new Path("/served/" + NAMES.incrementAndGet());

  static Stream<Arguments> subjects() {
    return Stream.of("classic", "auto", "s3a")
        .flatMap(client -> Stream.of("warn", "none").map(mode -> Arguments.of(client, mode)));
  }

  private static FileSystem open(String client, String mode) throws IOException {
    boolean classic = client.equals("classic");
    Configuration conf =
        classic ? S3AServer.s3a(S3AServer.endpoint()) : S3AServer.s3e(S3AServer.endpoint());
    if (classic) {
      conf.set("fs.s3a.input.stream.type", "classic");
    } else {
      conf.set("fs.s3a.s3e.client", client);
      conf.set("fs.s3a.s3e.prefetch.enabled", "false");
    }
    conf.set("fs.s3a.change.detection.mode", mode);
    return S3AReads.open(conf);
  }

  @ParameterizedTest
  @MethodSource("subjects")
  void aFileThatGrewIsServedUpToTheLengthItWasOpenedWith(String client, String mode)
      throws Exception {
    byte[] now = ones(2 * SIZE);
    try (FileSystem fs = open(client, mode)) {
      write(fs, BEFORE);
      try (FSDataInputStream in = fs.open(path)) {
        assertRead(in, 0, BEFORE);
        in.unbuffer();
        write(fs, now);
        assertRead(in, SIZE / 2, now);
        assertRead(in, SIZE - 1000, now);
        in.seek(SIZE - 500_000);
        assertArrayEquals(Arrays.copyOf(now, 500_000), in.readAllBytes());
      }
    }
  }

  /** Once, though both reads are of another version than the HEAD before them. */
  @ParameterizedTest
  @MethodSource("subjects")
  void aFileThatWasReplacedBeforeItsFirstReadIsToldOfAsThat(String client, String mode)
      throws Exception {
    byte[] now = ones(SIZE);
    try (FileSystem fs = open(client, mode)) {
      write(fs, BEFORE);
      try (FSDataInputStream in = openForRandomReads(fs)) {
        write(fs, now);
        assertRead(in, 1_000, now);
        assertRead(in, SIZE / 2, now);
        assertThat(in.getIOStatistics().counters().get("stream_read_version_mismatches"))
            .isEqualTo(mode.equals("warn") ? 1 : 0);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("subjects")
  void aFileThatShrankIsServedAsFarAsItGoes(String client, String mode) throws Exception {
    byte[] now = ones(2 * SIZE / 3);
    try (FileSystem fs = open(client, mode)) {
      write(fs, BEFORE);
      try (FSDataInputStream in = openForRandomReads(fs)) {
        assertRead(in, 0, BEFORE);
        in.unbuffer();
        write(fs, now);
        assertRead(in, SIZE / 2, now);
        assertThatThrownBy(() -> in.readFully(SIZE - 1000, new byte[1000]))
            .isInstanceOf(IOException.class);
      }
    }
  }

  private FSDataInputStream openForRandomReads(FileSystem fs) throws Exception {
    return fs.openFile(path).opt("fs.option.openfile.read.policy", "random").build().get();
  }

  private static void assertRead(FSDataInputStream in, int from, byte[] of) throws IOException {
    byte[] bytes = new byte[1000];
    in.readFully(from, bytes);
    assertArrayEquals(Arrays.copyOfRange(of, from, from + 1000), bytes);
  }

  private static byte[] ones(int size) {
    byte[] bytes = new byte[size];
    Arrays.fill(bytes, (byte) 1);
    return bytes;
  }

  private void write(FileSystem fs, byte[] bytes) throws IOException {
    try (FSDataOutputStream out = fs.create(path, true)) {
      out.write(bytes);
    }
  }
}
