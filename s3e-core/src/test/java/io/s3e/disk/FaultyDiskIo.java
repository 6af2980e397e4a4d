// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.testing.Pause;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A file system that fails, hangs or is slow where a test says so. One rule at a time for each kind
 * of operation; a later one replaces the earlier. Any thread.
 *
 * <p>A hang lasts until {@link #heal} or {@link #heal(Operation)}, at most {@link #LONGEST_HANG};
 * the operation is then carried out, as on a disk that comes back.
 */
final class FaultyDiskIo extends DiskIo {
  static final Duration LONGEST_HANG = Duration.ofSeconds(30);

  /** Kinds of operations; the last three are those of open files. */
  enum Operation {
    OPEN,
    CREATE,
    RENAME,
    DELETE,
    USABLE_BYTES,
    READ,
    WRITE,
    CLOSE
  }

  /** How an operation fails, in the words of the kernel. */
  enum Failure {
    ENOSPC("No space left on device"),
    EIO("Input/output error"),
    EROFS("Read-only file system"),
    EACCES("Permission denied");

    private final String words;

    Failure(String words) {
      this.words = words;
    }

    FileSystemException exception(Path file) {
      return new FileSystemException(file.toString(), null, words);
    }
  }

  /** Runs before each operation of a kind. */
  private interface Rule {
    void before(Path file, long number) throws IOException;

    /** Releases the threads that are held. */
    default void end() {}
  }

  private final DiskIo disk;
  private final UnaryOperator<OpenFile> below;
  private final Map<Operation, Rule> rules = new EnumMap<>(Operation.class);
  private final Map<Operation, Long> counts = new EnumMap<>(Operation.class);
  private int hanging;

  FaultyDiskIo(DiskIo disk) {
    this(disk, UnaryOperator.identity());
  }

  /**
   * @param below wraps each file of the disk, beneath its faults
   */
  FaultyDiskIo(DiskIo disk, UnaryOperator<OpenFile> below) {
    this.disk = disk;
    this.below = below;
  }

  /** Lets every operation of a kind fail from now on. */
  void failEvery(Operation operation, Failure failure) {
    rule(
        operation,
        (file, number) -> {
          throw failure.exception(file);
        });
  }

  /** Lets one operation of a kind fail: the {@code n}-th from now, from 1. */
  void failNth(Operation operation, long n, Failure failure) {
    long at = count(operation) + n;
    rule(
        operation,
        (file, number) -> {
          if (number == at) {
            throw failure.exception(file);
          }
        });
  }

  /** Lets every operation of a kind hang from now on, until healed. */
  void hangEvery(Operation operation) {
    rule(operation, new Hang());
  }

  /** Makes every operation of a kind take this much longer from now on. */
  void slow(Operation operation, Duration by) {
    rule(
        operation,
        (file, number) -> {
          try {
            Pause.of(by, "a disk that is slow");
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
  }

  /** Ends what was said of a kind, and lets go those that hang in it. */
  void heal(Operation operation) {
    rule(operation, (file, number) -> {});
  }

  /** Ends everything, and lets go all that hang. */
  void heal() {
    for (Operation operation : Operation.values()) {
      heal(operation);
    }
  }

  /** How many operations of a kind were begun. */
  synchronized long count(Operation operation) {
    return counts.getOrDefault(operation, 0L);
  }

  /** How many threads hang now. */
  synchronized int hanging() {
    return hanging;
  }

  /** Waits until {@code threads} threads hang; fails after {@code atMost}. */
  synchronized void awaitHanging(int threads, Duration atMost) throws InterruptedException {
    long end = System.nanoTime() + atMost.toNanos();
    while (hanging < threads) {
      long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      if (left <= 0) {
        throw new AssertionError(hanging + " threads hang after " + atMost + ", not " + threads);
      }
      wait(left);
    }
  }

  private void rule(Operation operation, Rule rule) {
    Rule before;
    synchronized (this) {
      before = rules.put(operation, rule);
    }
    if (before != null) {
      before.end();
    }
  }

  private void before(Operation operation, Path file) throws IOException {
    Rule rule;
    long number;
    synchronized (this) {
      number = counts.merge(operation, 1L, Long::sum);
      rule = rules.get(operation);
    }
    if (rule != null) {
      rule.before(file, number);
    }
  }

  private synchronized void hangs(int more) {
    hanging += more;
    notifyAll();
  }

  private final class Hang implements Rule {
    private final CountDownLatch released = new CountDownLatch(1);

    @Override
    public void before(Path file, long number) throws IOException {
      hangs(1);
      boolean interrupted = false;
      long end = System.nanoTime() + LONGEST_HANG.toNanos();
      try {
        // A thread in an uninterruptible sleep of the kernel does not notice an interrupt either.
        while (!await(end - System.nanoTime())) {
          interrupted = true;
        }
      } finally {
        hangs(-1);
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }

    private boolean await(long nanos) throws IOException {
      try {
        if (!released.await(nanos, TimeUnit.NANOSECONDS)) {
          throw new IOException("the test has let this hang for " + LONGEST_HANG);
        }
        return true;
      } catch (InterruptedException e) {
        return false;
      }
    }

    @Override
    public void end() {
      released.countDown();
    }
  }

  @Override
  public OpenFile createUnlinked(Path directory) throws IOException {
    before(Operation.CREATE, directory);
    return new FaultyFile(directory, disk.createUnlinked(directory));
  }

  @Override
  public OpenFile openIn(Path file, Object directory) throws IOException {
    before(Operation.OPEN, file);
    return new FaultyFile(file, disk.openIn(file, directory));
  }

  @Override
  public OpenFile createIn(Path file, Object directory) throws IOException {
    before(Operation.CREATE, file);
    return new FaultyFile(file, disk.createIn(file, directory));
  }

  @Override
  public @Nullable Object identityOf(Path file) throws IOException {
    before(Operation.OPEN, file);
    return disk.identityOf(file);
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    before(Operation.RENAME, from);
    disk.rename(from, to);
  }

  /** Makes a name, as creating a file does. */
  @Override
  public void link(Path file, Path name) throws IOException {
    before(Operation.CREATE, name);
    disk.link(file, name);
  }

  @Override
  public void delete(Path file) throws IOException {
    before(Operation.DELETE, file);
    disk.delete(file);
  }

  @Override
  public long usableBytes(Path directory) throws IOException {
    before(Operation.USABLE_BYTES, directory);
    return disk.usableBytes(directory);
  }

  private final class FaultyFile implements OpenFile {
    private final Path path;
    private final OpenFile file;

    FaultyFile(Path path, OpenFile file) {
      this.path = path;
      this.file = below.apply(file);
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      before(Operation.READ, path);
      return file.read(target, position);
    }

    @Override
    public void write(ByteBuffer source, long position) throws IOException {
      before(Operation.WRITE, path);
      file.write(source, position);
    }

    /** The descriptor is closed whatever a rule says, as a kernel does. */
    @Override
    public void close() throws IOException {
      try {
        before(Operation.CLOSE, path);
      } finally {
        file.close();
      }
    }
  }
}
