package io.s3e.disk;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

/**
 * The processes that use one instance: which of them live. Each holds a lock on a file of its own
 * in {@code owners/}; who cannot lock that file knows that its owner lives, and who can, that it is
 * dead, and deletes it.
 *
 * <p>Any thread. Answers are remembered for {@value #REMEMBER_MILLIS} ms, so that asking often is
 * cheap.
 */
final class Owners {
  private static final long REMEMBER_MILLIS = 200;
  private static final int MAX_REMEMBERED = 1024;
  private static final String SUFFIX = ".lock";
  private static final Pattern ID = Pattern.compile("[0-9]{1,10}-[0-9a-f]{16}");

  private final DiskIo io;
  private final Path directory;
  private final LongSupplier nanoClock;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();

  private record Answer(boolean alive, long nanos) {}

  /**
   * A living owner.
   *
   * @param sinceMillis when it came, in ms since 1970
   */
  record Owner(String id, long sinceMillis) {}

  Owners(DiskIo io, Path directory, LongSupplier nanoClock) {
    this.io = io;
    this.directory = directory;
    this.nanoClock = nanoClock;
  }

  /** A name that no other process has, nor had: process ids come again, and in containers often. */
  static String newId() {
    return ProcessHandle.current().pid() + "-" + DirectoryGuard.randomHex(8);
  }

  /** The file that an owner holds. */
  static Path lockFile(Path directory, String id) {
    return directory.resolve(id + SUFFIX);
  }

  /** Whether a process lives. A name that none can have is that of a dead one. */
  boolean isAlive(String id) throws IOException {
    if (!ID.matcher(id).matches()) {
      return false;
    }
    long now = nanoClock.getAsLong();
    Answer known = answers.get(id);
    if (known != null && now - known.nanos < TimeUnit.MILLISECONDS.toNanos(REMEMBER_MILLIS)) {
      return known.alive;
    }
    boolean alive = look(id);
    if (answers.size() >= MAX_REMEMBERED) {
      answers.clear();
    }
    answers.put(id, new Answer(alive, now));
    return alive;
  }

  private boolean look(String id) throws IOException {
    Path file = lockFile(directory, id);
    if (ProcessLock.isHeldHere(file)) {
      return true;
    }
    try (ProcessLock lock = ProcessLock.tryTakeExisting(file)) {
      if (lock == null) {
        return true;
      }
      // Deleted while it is held: its owner, if it is only just coming, then finds it gone and
      // makes another.
      io.delete(file);
      return false;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** All that live now; deletes the files of those that do not. */
  List<Owner> living() throws IOException {
    List<Owner> living = new ArrayList<>();
    for (DiskIo.Entry entry : io.list(directory)) {
      String name = String.valueOf(entry.path().getFileName());
      String id = name.endsWith(SUFFIX) ? name.substring(0, name.length() - SUFFIX.length()) : "";
      if (!entry.isFile() || !ID.matcher(id).matches()) {
        continue;
      }
      if (look(id)) {
        living.add(new Owner(id, entry.writtenMillis()));
      }
    }
    return living;
  }
}
