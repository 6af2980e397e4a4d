// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Pause;
import io.s3e.testing.StoredContent;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Readers that read until they are stopped, and a note of every read. Each opens a file of its own,
 * too large for anything to be read twice, reads, and pauses; where a read fails it opens the file
 * anew and goes on.
 *
 * <p>One thread a reader. {@link #reads} may be called at any time, from any thread.
 */
final class Load implements AutoCloseable {
  /** A kind of reader. */
  enum Kind {
    /** 64 KiB by position, then 20 ms of work. */
    POSITIONED(64 << 10, Duration.ofMillis(20)),
    /** As before, each from a file that nobody has read. */
    NEW_FILES(64 << 10, Duration.ofMillis(20)),
    /** 256 KiB by position, without a pause. */
    LONG_POSITIONED(256 << 10, Duration.ZERO),
    /** Four ranges of 64 KiB in 4 MiB in one call, then 20 ms of work. */
    VECTORED(256 << 10, Duration.ofMillis(20)),
    /** 1 MiB from where the last one ended, then 200 ms of work. */
    SCAN(1 << 20, Duration.ofMillis(200));

    private final int bytes;
    private final Duration pause;

    Kind(int bytes, Duration pause) {
      this.bytes = bytes;
      this.pause = pause;
    }
  }

  /** How a read ended. */
  enum End {
    RIGHT,
    FAILED,
    WRONG
  }

  /**
   * One read.
   *
   * @param kind of its reader
   * @param start when it began, by {@link System#nanoTime}
   * @param nanos how long it took
   * @param end how it ended
   * @param error of one that failed; empty otherwise
   */
  record Read(Kind kind, long start, long nanos, End end, String error) {
    long done() {
      return start + nanos;
    }

    long goodBytes() {
      return end == End.RIGHT ? kind.bytes : 0;
    }
  }

  private static final long FILE_BYTES = 64L << 30;
  private static final int VECTORED_RANGES = 4;
  private static final int VECTORED_SPAN = 4 << 20;

  private final HostileS3Server server;
  private final FileSystem fs;
  private final StoredContent content;
  private final Queue<Read> reads = new ConcurrentLinkedQueue<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopped;

  Load(HostileS3Server server, FileSystem fs, StoredContent content) {
    this.server = server;
    this.fs = fs;
    this.content = content;
  }

  /** A file that is read by a load; all objects of a server may share one. */
  static StoredContent hugeFile() {
    return StoredContent.generated(FILE_BYTES, 7);
  }

  static ObjectRef object(String name) {
    return new ObjectRef(S3AServer.BUCKET, name);
  }

  /** Starts a reader of that file, which is put there. */
  void start(Kind kind, ObjectRef object) {
    server.put(object, content);
    Thread thread = new Thread(() -> run(kind, object), "load-" + kind + "-" + object.key());
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  /** The reads that have ended. */
  Collection<Read> reads() {
    return List.copyOf(reads);
  }

  /** Lets every reader end its read; gives how many have not done so in time. */
  int stop(Duration patience) throws InterruptedException {
    stopped = true;
    long deadline = System.nanoTime() + patience.toNanos();
    int stuck = 0;
    for (Thread thread : threads) {
      thread.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
      stuck += thread.isAlive() ? 1 : 0;
    }
    return stuck;
  }

  @Override
  public void close() {
    stopped = true;
  }

  private void run(Kind kind, ObjectRef object) {
    Random random = new Random(object.key().hashCode());
    long next = 0;
    int files = 0;
    try {
      while (!stopped) {
        ObjectRef file = object;
        if (kind == Kind.NEW_FILES) {
          file = new ObjectRef(object.bucket(), object.key() + "-" + files++);
          server.put(file, content);
        }
        try (FSDataInputStream in = open(kind, file)) {
          in.seek(next);
          while (!stopped) {
            long start = System.nanoTime();
            End end = End.FAILED;
            String error = "";
            try {
              read(kind, in, random);
              end = End.RIGHT;
              next = in.getPos();
            } catch (WrongBytesException e) {
              end = End.WRONG;
              error = e.getMessage();
            } catch (Exception e) {
              error = e.toString();
            }
            if (stopped && end == End.FAILED) {
              return;
            }
            reads.add(new Read(kind, start, System.nanoTime() - start, end, error));
            if (end != End.RIGHT) {
              Pause.millis(50, "the reader's pace after a failure");
              break;
            }
            Pause.of(kind.pause, "the reader's pace");
            if (kind == Kind.NEW_FILES) {
              break;
            }
          }
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts a reader", e);
    } catch (Exception e) {
      if (!stopped) {
        reads.add(new Read(kind, System.nanoTime(), 0, End.FAILED, "open: " + e));
      }
    }
  }

  private FSDataInputStream open(Kind kind, ObjectRef object) throws Exception {
    return fs.openFile(new Path("/" + object.key()))
        .opt("fs.option.openfile.length", Long.toString(content.size()))
        .opt("fs.option.openfile.read.policy", kind == Kind.SCAN ? "sequential" : "random")
        .build()
        .get();
  }

  private void read(Kind kind, FSDataInputStream in, Random random) throws Exception {
    byte[] some = new byte[kind.bytes];
    long at = (long) (random.nextDouble() * (content.size() - VECTORED_SPAN));
    switch (kind) {
      case POSITIONED, NEW_FILES, LONG_POSITIONED -> {
        in.readFully(at, some);
        ReadStyle.check(content, at, some, some.length);
      }
      case SCAN -> {
        long from = in.getPos();
        in.readFully(some);
        ReadStyle.check(content, from, some, some.length);
      }
      case VECTORED -> {
        List<FileRange> ranges = new ArrayList<>();
        for (int i = 0; i < VECTORED_RANGES; i++) {
          ranges.add(
              FileRange.createFileRange(
                  at + (long) i * VECTORED_SPAN / VECTORED_RANGES, kind.bytes / VECTORED_RANGES));
        }
        in.readVectored(ranges, ByteBuffer::allocate);
        for (FileRange range : ranges) {
          ReadStyle.check(content, range.getOffset(), ReadStyle.join(range));
        }
      }
    }
  }
}
