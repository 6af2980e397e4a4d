// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.bundle;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * What a program reads of an object whose bytes it knows: all of it in order, ranges at once, parts
 * at random, and all of it again from local disk. Says a line of each on standard output. It stands
 * upon the JDK alone, for it runs where S3E's core or Hadoop is the only library.
 */
abstract class CheckedReads {
  static final int LENGTH = (40 << 20) + 4321;

  /** Less than the object, so that reading it again is a matter of the disk. */
  static final int MEMORY_BYTES = 16 << 20;

  private static final int RANGES = 12;
  private static final int RANDOM_READS = 60;
  private static final int PASSES = 6;
  private static final int SEED = 29;
  private static final int PIECE = 1 << 20;
  private static final long PATIENCE_SECONDS = 120;

  private final byte[] content = content();

  /** A stream of the object, all of whose reads S3E answers. */
  interface Source extends AutoCloseable {
    InputStream inOrder();

    void readFullyAt(long at, byte[] target) throws IOException;

    /** Pairs of the first byte and the number of bytes, which do not overlap. */
    List<CompletableFuture<ByteBuffer>> readVectored(List<int[]> ranges) throws IOException;

    @Override
    void close() throws IOException;
  }

  static byte[] content() {
    byte[] bytes = new byte[LENGTH];
    new Random(LENGTH).nextBytes(bytes);
    return bytes;
  }

  /** In hexadecimal digits. */
  static String sha256(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  abstract Source open() throws IOException;

  /** The name of the client that has read. */
  abstract String client();

  /** Bytes that came from the store. */
  abstract long fetchedBytes();

  /** Bytes that are in the cache on disk. */
  abstract long diskBytes();

  final void run() throws Exception {
    scan("SCAN");
    vectored();
    random();
    // A slow JVM opens its cache late, and its disk drops what comes faster than it writes.
    long fetched = LENGTH;
    for (int i = 0; i < PASSES && fetched >= LENGTH / 2; i++) {
      awaitWrites();
      long before = fetchedBytes();
      scan("AGAIN");
      fetched = fetchedBytes() - before;
      System.out.println("FETCHED AGAIN " + fetched);
    }
    System.out.println("ON DISK " + diskBytes());
    System.out.println("CLIENT " + client());
  }

  /** Until nothing more has been written for a second: what memory had no room for never is. */
  private void awaitWrites() throws Exception {
    long written = -1;
    while (written < diskBytes()) {
      written = diskBytes();
      new CompletableFuture<Void>().completeOnTimeout(null, 1, TimeUnit.SECONDS).get();
    }
  }

  private void scan(String name) throws Exception {
    byte[] read = new byte[LENGTH];
    long from = System.nanoTime();
    int at = 0;
    try (Source source = open()) {
      InputStream in = source.inOrder();
      while (at < LENGTH) {
        int count = in.read(read, at, Math.min(PIECE, LENGTH - at));
        if (count < 0) {
          break;
        }
        at += count;
      }
      if (in.read() >= 0) {
        throw new IOException("more than " + LENGTH + " bytes");
      }
    }
    double seconds = (System.nanoTime() - from) / 1e9;
    System.out.printf(
        Locale.ROOT, "%s %d %.1f MB/s %s%n", name, at, at / 1e6 / seconds, sha256(read));
  }

  private void vectored() throws Exception {
    List<int[]> ranges = new ArrayList<>();
    int step = LENGTH / RANGES;
    for (int i = RANGES - 1; i >= 0; i--) {
      ranges.add(new int[] {i * step + 17 * i, step / 3 + i});
    }
    int wrong = 0;
    try (Source source = open()) {
      List<CompletableFuture<ByteBuffer>> reads = source.readVectored(ranges);
      for (int i = 0; i < RANGES; i++) {
        ByteBuffer buffer = reads.get(i).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        byte[] read = new byte[buffer.remaining()];
        buffer.get(read);
        wrong += isRight(ranges.get(i)[0], ranges.get(i)[1], read) ? 0 : 1;
      }
    }
    System.out.println("VECTORED " + RANGES + " wrong " + wrong);
  }

  private void random() throws Exception {
    Random random = new Random(SEED);
    int wrong = 0;
    try (Source source = open()) {
      for (int i = 0; i < RANDOM_READS; i++) {
        byte[] read = new byte[1 + random.nextInt(200_000)];
        int at = random.nextInt(LENGTH - read.length);
        source.readFullyAt(at, read);
        wrong += isRight(at, read.length, read) ? 0 : 1;
      }
    }
    System.out.println("RANDOM " + RANDOM_READS + " wrong " + wrong);
  }

  private boolean isRight(int at, int length, byte[] read) {
    return read.length == length && Arrays.equals(content, at, at + length, read, 0, length);
  }
}
