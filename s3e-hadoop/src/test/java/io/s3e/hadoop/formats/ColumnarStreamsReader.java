// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.formats.ColumnarBytes.Manner;
import io.s3e.hadoop.formats.ColumnarStore.Stream;
import io.s3e.testing.Eventually;
import io.s3e.testing.Pause;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;

/**
 * A program of two file systems, half of whose {@value #STREAMS} threads read columnar objects
 * through each, the second with a cache on disk; they compare every byte, leave files at any point,
 * and some are closed by another thread in the middle of a read. Then it tells what is left. Its
 * lines begin with one of the words below.
 */
public final class ColumnarStreamsReader {
  static final int STREAMS = 64;
  static final int OBJECTS = 4;
  static final int GROUPS = 12;
  static final long BUDGET_BYTES = 64 << 20;
  static final List<String> BUCKETS = List.of("streams-a", "streams-b");

  /** The most memory that was seen in use, in bytes. */
  static final String PEAK = "peak ";

  /** Files that were read, and those that were read to their end. */
  static final String FILES = "files ";

  /** Bytes that were asked for ahead, of both file systems. */
  static final String ASKED = "asked ";

  /** Bytes in memory unread, when all streams are closed. */
  static final String UNREAD = "unread ";

  /** Bytes of the engine's memory, when the file systems are closed. */
  static final String RESERVED = "reserved ";

  /** Streams with an error. */
  static final String FAILED = "failed ";

  static final String END = "end";

  private static final long PATIENCE_MILLIS = 30_000;

  private final List<FileSystem> fileSystems;
  private final List<ColumnarObject> objects;
  private final long until;
  private final LongAdder files = new LongAdder();
  private final LongAdder whole = new LongAdder();

  private ColumnarStreamsReader(
      List<FileSystem> fileSystems, List<ColumnarObject> objects, long until) {
    this.fileSystems = fileSystems;
    this.objects = objects;
    this.until = until;
  }

  static ColumnarObject object(int number) throws IOException {
    return ColumnarObject.of(GROUPS, number);
  }

  /** Two tables: their files have a directory of their own. */
  static String key(int number) {
    return "table-" + number % 2 + "/part-" + number;
  }

  /**
   * @param args endpoint, seconds, seed, directory of a cache
   */
  public static void main(String[] args) throws Exception {
    URI endpoint = URI.create(args[0]);
    List<FileSystem> fileSystems = new ArrayList<>();
    for (String bucket : BUCKETS) {
      Configuration conf = ColumnarStore.configuration(endpoint, Stream.AUTO);
      conf.set("fs.s3a.s3e.memory.budget", Long.toString(BUDGET_BYTES));
      S3AServer.stallsAfter(conf, Duration.ofSeconds(2));
      if (bucket.equals(BUCKETS.get(1))) {
        // Too small for all objects.
        conf.set("fs.s3a.s3e.cache.mode", "disk");
        conf.set("fs.s3a.s3e.cache.dirs", args[3]);
        conf.set("fs.s3a.s3e.cache.capacity", "32M");
      }
      fileSystems.add(FileSystem.newInstance(URI.create("s3a://" + bucket), conf));
    }
    List<ColumnarObject> objects = new ArrayList<>();
    for (int number = 0; number < OBJECTS; number++) {
      objects.add(object(number));
    }
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[1]));
    new ColumnarStreamsReader(fileSystems, objects, until).run(Long.parseLong(args[2]));
  }

  private void run(long seed) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(STREAMS);
    SplittableRandom random = new SplittableRandom(seed);
    List<Future<?>> streams = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      SplittableRandom own = random.split();
      FileSystem fs = fileSystems.get(i % fileSystems.size());
      streams.add(
          threads.submit(
              () -> {
                while (System.nanoTime() < until) {
                  readFile(fs, own);
                }
                return null;
              }));
    }
    long peak = 0;
    while (System.nanoTime() < until) {
      peak = Math.max(peak, gauge(fileSystems.get(0), "stream_read_active_memory_in_use"));
      Pause.millis(20, "between two samples");
    }
    for (Future<?> stream : streams) {
      try {
        stream.get(120, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        e.getCause().printStackTrace();
        say(FAILED + e.getCause());
      }
    }
    threads.shutdown();
    say(PEAK + peak);
    say(FILES + files.sum() + " " + whole.sum());
    long asked = 0;
    for (FileSystem fs : fileSystems) {
      fs.close();
      ColumnarStore.checkGuesses(fs);
      asked +=
          IOStatisticsSupport.retrieveIOStatistics(fs).counters().get("s3e_columnar_asked_bytes");
    }
    // What streams gave up is in memory until its place is needed, or its file system is closed.
    say(
        UNREAD
            + awaitLeast(
                () ->
                    fileSystems.stream()
                        .mapToLong(fs -> gauge(fs, "s3e_prefetch_held_bytes"))
                        .sum()));
    say(ASKED + asked);
    say(RESERVED + awaitLeast(() -> gauge(fileSystems.get(0), "stream_read_active_memory_in_use")));
    say(END);
  }

  /** A file as a task would read it: footer, then groups from some point on, unless it is left. */
  private void readFile(FileSystem fs, SplittableRandom random) throws Exception {
    int number = random.nextInt(OBJECTS);
    Manner manner = Manner.values()[random.nextInt(Manner.values().length)];
    int first = random.nextInt(GROUPS);
    int leave = random.nextInt(4) == 0 ? random.nextInt(GROUPS) : GROUPS;
    try (FSDataInputStream in = fs.open(new Path("/" + key(number)))) {
      ColumnarBytes reader = new ColumnarBytes(objects.get(number), in);
      if (random.nextInt(8) > 0) {
        reader.footer();
      }
      for (int group = first; group < leave; group++) {
        reader.group(group, 1 + random.nextInt(ColumnarObject.COLUMNS), manner);
        int turn = random.nextInt(40);
        if (turn == 0) {
          in.unbuffer();
        } else if (turn < 3) {
          reader.anywhere(random);
        } else if (turn == 3) {
          closeAmidARead(in, random);
          return;
        }
      }
      files.increment();
      if (leave == GROUPS) {
        whole.increment();
      }
    }
  }

  /** Its ranges fail or come; either is right. */
  private static void closeAmidARead(FSDataInputStream in, SplittableRandom random)
      throws Exception {
    List<FileRange> ranges = new ArrayList<>();
    for (int group = 0; group < GROUPS; group += 1 + random.nextInt(4)) {
      long from = 4 + (long) group * ColumnarObject.COLUMNS * ColumnarObject.CHUNK_BYTES;
      ranges.add(FileRange.createFileRange(from, ColumnarObject.CHUNK_BYTES));
    }
    in.readVectored(ranges, ByteBuffer::allocate);
    in.close();
    for (FileRange range : ranges) {
      try {
        range.getData().get(90, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof IOException)) {
          throw new AssertionError("another failure than of a closed stream", e);
        }
      }
    }
  }

  private static long gauge(FileSystem fileSystem, String name) {
    return IOStatisticsSupport.retrieveIOStatistics(fileSystem).gauges().get(name);
  }

  /** The measured number once it is 0, or when patience ends. */
  private static long awaitLeast(LongSupplier measured) throws InterruptedException {
    Eventually.within(Duration.ofMillis(PATIENCE_MILLIS), () -> measured.getAsLong() <= 0);
    return measured.getAsLong();
  }

  private static synchronized void say(String line) {
    System.out.println(line);
  }
}
