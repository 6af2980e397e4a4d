// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.process;

import io.s3e.hadoop.S3AServer;
import io.s3e.testing.Pause;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A program that reads from some file systems and, as most programs do, closes none of them. Says
 * {@value #ENDING} when nothing is left to do but to end.
 */
public final class LeavingReader {
  static final String ENDING = "ending";
  static final int EXIT_CODE = 3;
  static final String OBJECT = "object";

  /** The reader's work when the JVM ends. */
  enum Activity {
    /** Nothing: its streams are closed. */
    IDLE,
    /** Daemon threads read on. */
    READING,
    /** Streams are open, one on each file system, and nobody reads. */
    OPEN,
    /** Nothing: its file systems are closed, and the engine waits for others. */
    CLOSED
  }

  /** How it ends. */
  enum Ending {
    RETURN,
    EXIT,
    SIGTERM
  }

  /** Reachable to the end, so that the collector has no leaked stream to report. */
  private static final List<FSDataInputStream> LEFT_OPEN = new ArrayList<>();

  private LeavingReader() {}

  /** Of a program with a private cache on disk and with Hadoop's cache of file systems. */
  static Configuration configuration(URI endpoint, String fileSystem, String cache) {
    Configuration conf = S3AServer.s3a(endpoint);
    conf.set("fs.s3a.impl", fileSystem);
    conf.setBoolean("fs.s3a.impl.disable.cache", false);
    // The front of each object is written when it is first read.
    conf.set("fs.s3a.s3e.cache.mode", "hybrid");
    conf.set("fs.s3a.s3e.cache.dirs", cache);
    conf.set("fs.s3a.s3e.cache.capacity", "64M");
    return conf;
  }

  /**
   * @param args endpoint, class of the file system, directory of the cache on disk, activity,
   *     ending, buckets
   */
  public static void main(String[] args) throws Exception {
    Configuration conf = configuration(URI.create(args[0]), args[1], args[2]);
    // As a program would leave it: S3A's own prefetching thread pool says on stderr that it ends.
    conf.set("fs.s3a.input.stream.type", "classic");
    Activity activity = Activity.valueOf(args[3]);
    Ending ending = Ending.valueOf(args[4]);

    CountDownLatch read = new CountDownLatch(args.length - 5);
    for (int i = 5; i < args.length; i++) {
      FileSystem fileSystem = FileSystem.get(URI.create("s3a://" + args[i]), conf);
      begin(fileSystem, activity, read);
    }
    read.await();
    System.out.println(ENDING);
    switch (ending) {
      case RETURN -> {}
      case EXIT -> System.exit(EXIT_CODE);
      case SIGTERM -> Pause.millis(60_000, "until the signal ends it");
    }
  }

  private static void begin(FileSystem fileSystem, Activity activity, CountDownLatch read)
      throws IOException {
    FSDataInputStream in = fileSystem.open(new Path("/" + OBJECT));
    in.readFully(0, new byte[100]);
    switch (activity) {
      case IDLE -> {
        in.close();
        read.countDown();
      }
      case CLOSED -> {
        in.close();
        fileSystem.close();
        read.countDown();
      }
      case OPEN -> {
        LEFT_OPEN.add(in);
        read.countDown();
      }
      case READING -> {
        in.close();
        Thread reader = new Thread(() -> readOn(fileSystem, read), "reads-on");
        reader.setDaemon(true);
        reader.start();
      }
    }
  }

  /** Reads the object again and again, past what memory holds, until the file system is closed. */
  private static void readOn(FileSystem fileSystem, CountDownLatch read) {
    byte[] buffer = new byte[1 << 16];
    try {
      for (; ; ) {
        try (FSDataInputStream in = fileSystem.open(new Path("/" + OBJECT))) {
          while (in.read(buffer) > 0) {
            read.countDown();
          }
        }
      }
    } catch (IOException | RuntimeException e) {
      // The end of the JVM closes the file system under the reader.
    }
  }
}
