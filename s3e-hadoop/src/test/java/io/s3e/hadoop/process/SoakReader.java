// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.process;

import io.s3e.Engines;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.testing.Eventually;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Pause;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A program whose {@value #STREAMS} streams read objects in all ways, compare every byte, and then
 * tells what is left. Its lines begin with one of the words below.
 */
public final class SoakReader {
  static final String BUCKET = "soak";
  static final int STREAMS = 64;
  static final int OBJECTS = 12;
  static final int SIZE = 4 << 20;

  /** Resident memory in KiB, every second. */
  static final String RSS = "rss ";

  /** Bytes that were read and compared, when all streams are closed. */
  static final String READ = "read ";

  /** Bytes in memory unread, when the file system is closed. */
  static final String UNREAD = "unread ";

  /** Bytes of the engine's memory, when the file system is closed. */
  static final String RESERVED = "reserved ";

  /** S3E's threads that are left, when the file system is closed. */
  static final String THREADS = "threads ";

  /** Streams with an error. */
  static final String FAILED = "failed ";

  static final String END = "end";

  private static final int LONGEST_READ = 600_000;
  private static final long PATIENCE_MILLIS = 45_000;

  private final FileSystem fileSystem;
  private final long until;
  private final LongAdder read = new LongAdder();
  private final List<byte[]> contents = new ArrayList<>();

  private SoakReader(FileSystem fileSystem, long until) {
    this.fileSystem = fileSystem;
    this.until = until;
    for (int number = 0; number < OBJECTS; number++) {
      contents.add(content(number));
    }
  }

  static String key(int number) {
    return "object-" + number;
  }

  static byte[] content(int number) {
    return MemoryObjectClient.bytes(SIZE, number);
  }

  /** With a cache on disk that is shared, and too small for all objects. */
  private static Configuration configuration(URI endpoint, String cache) {
    Configuration conf = S3AServer.s3e(endpoint);
    conf.set("fs.s3a.s3e.client", "crt");
    conf.set("fs.s3a.s3e.cache.mode", "disk");
    conf.set("fs.s3a.s3e.cache.scope", "host");
    conf.set("fs.s3a.s3e.cache.dirs", cache);
    conf.set("fs.s3a.s3e.cache.capacity", "32M");
    conf.set("fs.s3a.s3e.memory.budget", "64M");
    S3AServer.stallsAfter(conf, Duration.ofSeconds(2));
    conf.set("fs.s3a.s3e.read.timeout", "60s");
    return conf;
  }

  /**
   * @param args endpoint, directory of the cache, seconds, seed
   */
  public static void main(String[] args) throws Exception {
    URI root = URI.create("s3a://" + BUCKET);
    FileSystem fileSystem =
        FileSystem.newInstance(root, configuration(URI.create(args[0]), args[1]));
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[2]));
    SoakReader reader = new SoakReader(fileSystem, until);
    ExecutorService threads = Executors.newFixedThreadPool(STREAMS);
    SplittableRandom random = new SplittableRandom(Long.parseLong(args[3]));
    List<Future<?>> streams = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      SplittableRandom own = random.split();
      streams.add(
          threads.submit(
              () -> {
                reader.readOn(own);
                return null;
              }));
    }
    while (System.nanoTime() < until) {
      say(RSS + residentKib());
      Pause.millis(1000, "between two samples");
    }
    for (Future<?> stream : streams) {
      try {
        stream.get(120, TimeUnit.SECONDS);
      } catch (java.util.concurrent.ExecutionException e) {
        e.getCause().printStackTrace();
        say(FAILED + e.getCause());
      }
    }
    threads.shutdown();
    say(READ + reader.read.sum());
    S3EFileSystem s3e = (S3EFileSystem) fileSystem;
    fileSystem.close();
    // What streams gave up is in memory until its place is needed, or its file system is closed.
    say(UNREAD + awaitLeast(() -> unread(s3e)));
    say(RESERVED + awaitLeast(() -> gauge(s3e, "stream_read_active_memory_in_use")));
    // Its engine waits for others, for as long as EngineLingerTest has it wait.
    Engines.endIdle();
    say(THREADS + awaitLeast(() -> s3eThreads().size()) + " " + s3eThreads());
    say(END);
  }

  private void readOn(SplittableRandom random) throws Exception {
    while (System.nanoTime() < until) {
      int number = random.nextInt(OBJECTS);
      byte[] content = contents.get(number);
      try (FSDataInputStream in = fileSystem.open(new Path("/" + key(number)))) {
        for (int i = 1 + random.nextInt(6); i > 0; i--) {
          int length = 1 + random.nextInt(LONGEST_READ);
          int from = random.nextInt(SIZE - length);
          switch (random.nextInt(4)) {
            case 0 -> scan(in, content, from, length);
            case 1 -> {
              byte[] bytes = new byte[length];
              in.readFully(from, bytes);
              compare(content, from, ByteBuffer.wrap(bytes));
            }
            case 2 -> vectored(in, content, random);
            default -> in.unbuffer();
          }
        }
      }
    }
  }

  private void scan(FSDataInputStream in, byte[] content, int from, int length) throws IOException {
    in.seek(from);
    byte[] piece = new byte[64 << 10];
    for (int at = from; at < from + length; ) {
      int count = in.read(piece, 0, Math.min(piece.length, from + length - at));
      compare(content, at, ByteBuffer.wrap(piece, 0, count));
      at += count;
    }
  }

  private void vectored(FSDataInputStream in, byte[] content, SplittableRandom random)
      throws Exception {
    List<FileRange> ranges = new ArrayList<>();
    for (int at = random.nextInt(SIZE / 4); at < SIZE; at += random.nextInt(SIZE / 4)) {
      int length = 1 + random.nextInt(Math.min(100_000, SIZE - at));
      ranges.add(FileRange.createFileRange(at, length));
      at += length;
    }
    in.readVectored(ranges, ByteBuffer::allocate);
    for (FileRange range : ranges) {
      ByteBuffer bytes = range.getData().get(90, TimeUnit.SECONDS);
      if (bytes.remaining() != range.getLength()) {
        throw new AssertionError("short range " + range);
      }
      compare(content, (int) range.getOffset(), bytes);
    }
  }

  private void compare(byte[] content, int from, ByteBuffer bytes) {
    if (!ByteBuffer.wrap(content, from, bytes.remaining()).equals(bytes)) {
      throw new AssertionError("wrong bytes from " + from + " on");
    }
    read.add(bytes.remaining());
  }

  private static long unread(S3EFileSystem fileSystem) {
    return gauge(fileSystem, "s3e_prefetch_held_bytes");
  }

  private static long gauge(S3EFileSystem fileSystem, String name) {
    Map<String, Long> gauges = fileSystem.getIOStatistics().gauges();
    Long value = gauges.get(name);
    if (value == null) {
      throw new IllegalStateException("no " + name + " in " + gauges);
    }
    return value;
  }

  /** The measured number once it is 0, or when patience ends. */
  private static long awaitLeast(java.util.function.LongSupplier measured)
      throws InterruptedException {
    Eventually.within(Duration.ofMillis(PATIENCE_MILLIS), () -> measured.getAsLong() <= 0);
    return measured.getAsLong();
  }

  /** But for the timer, which is the JVM's. */
  private static List<String> s3eThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("s3e-") && !name.equals("s3e-timer"))
        .sorted()
        .toList();
  }

  private static long residentKib() throws IOException {
    return Files.readAllLines(java.nio.file.Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(Arrays.asList(line.split("\\s+")).get(1)))
        .findFirst()
        .orElseThrow();
  }

  private static synchronized void say(String line) {
    System.out.println(line);
  }
}
