package io.s3e.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who among the processes, and the engines in them, fetches a disk block just now: a file in {@code
 * claims/} named like the disk block's, made by the one and found by the others. It says who made
 * it and when, from its first moment on, for it is written under a temporary name and then linked:
 *
 * <pre>
 * &lt;owner&gt; &lt;number of the claim in its process&gt; &lt;ms since 1970&gt;\n
 * </pre>
 *
 * <p>Who waits for a block leaves an empty file beside its claim, named {@code <name>.awaited}; the
 * owner finds it when it gives the claim back, and removes it.
 *
 * <p>A claim ends when it is released, when its owner's process ends, or after {@link #EXPIRY}. The
 * last two need somebody who deletes the file of another. Only the holder of {@code claims.lock}
 * does that, and looks again first: otherwise one could delete what a third has just made.
 *
 * <p>Claims only save requests. One that is lost, or held twice after it expired, costs a second
 * fetch of the same bytes and nothing else. Any thread; every call but the constructor does I/O.
 */
final class Claims {
  /** A fetch that takes longer has gone wrong. */
  static final Duration EXPIRY = Duration.ofSeconds(30);

  private static final Logger LOG = LoggerFactory.getLogger(Claims.class);

  /** Nobody else takes a claim of a living process before its expiry; half of it is a margin. */
  private static final long SAFE_NANOS = EXPIRY.toNanos() / 2;

  private static final int MAX_CONTENT = 128;

  /** Who waited a moment ago reads the same object, a little behind. */
  private static final long AWAITED_NANOS = Duration.ofSeconds(5).toNanos();

  private final DiskIo io;
  private final CacheRoot root;
  private final Owners owners;
  private final Path lockFile;
  private final LongSupplier nanoClock;
  private final LongSupplier millisClock;

  /** When a waiter's word was found last; 0 if none was. */
  private volatile long awaitedNanos;

  Claims(DiskIo io, CacheRoot root) {
    this(io, root, System::nanoTime, System::currentTimeMillis);
  }

  Claims(DiskIo io, CacheRoot root, LongSupplier nanoClock, LongSupplier millisClock) {
    this.io = io;
    this.root = root;
    this.owners = new Owners(io, root.owners(), nanoClock);
    this.lockFile = root.instance().resolve("claims.lock");
    this.nanoClock = nanoClock;
    this.millisClock = millisClock;
  }

  /**
   * Claims a disk block. Cheap enough to be asked every few milliseconds: while it is taken, a look
   * into a short file, and once in a while at whether its owner lives.
   *
   * @return null if somebody else has it: another process, or another claimant in this one
   * @throws IOException if the disk fails; there is no claim then
   */
  @Nullable Claim tryClaim(DiskBlockId id) throws IOException {
    Path file = root.claims().resolve(BlockFiles.nameOf(id));
    String present = read(file);
    // One that says nothing is not a claim of ours; the janitor looks after those.
    if (present != null && (ownerOf(present) == null || !isStale(present))) {
      return null;
    }
    long number = root.membership().nextClaim();
    String content = root.ownerId() + " " + number + " " + millisClock.getAsLong() + "\n";
    Path unfinished = root.tmp().resolve(root.ownerId() + ".claim-" + number);
    boolean taken =
        present == null ? create(unfinished, file, content) : supersede(unfinished, file, content);
    return taken ? new Claim(file, content, nanoClock.getAsLong()) : null;
  }

  /** Leaves word for the owner of a block's claim that somebody waits for it. */
  void markAwaited(DiskBlockId id) {
    Path mark = markOf(root.claims().resolve(BlockFiles.nameOf(id)));
    try {
      io.create(mark).close();
    } catch (FileAlreadyExistsException e) {
      LOG.trace("others wait as well: {}", mark);
    } catch (IOException e) {
      // Then the owner does not hurry; that is all.
      LOG.debug("cannot make {}: {}", mark, e.toString());
    }
  }

  /** Whether others have lately waited for a claim of this engine. Does no I/O. */
  boolean isAwaited() {
    long last = awaitedNanos;
    return last != 0 && nanoClock.getAsLong() - last < AWAITED_NANOS;
  }

  private void readMark(Path claim) throws IOException {
    Path mark = markOf(claim);
    try {
      io.open(mark).close();
    } catch (NoSuchFileException e) {
      return;
    }
    awaitedNanos = nanoClock.getAsLong();
    io.delete(mark);
  }

  private static Path markOf(Path claim) {
    return claim.resolveSibling(claim.getFileName() + ".awaited");
  }

  /** Gives a claim back. Again: nothing. What the disk does not allow is left to expire. */
  void release(Claim claim) {
    if (!claim.endsNow()) {
      return;
    }
    try {
      readMark(claim.file());
      if (nanoClock.getAsLong() - claim.nanos() < SAFE_NANOS) {
        io.delete(claim.file());
      } else {
        deleteIfStill(claim.file(), claim.content());
      }
    } catch (IOException e) {
      LOG.debug("cannot release {}, which expires: {}", claim, e.toString());
    }
  }

  /**
   * Deletes the claims of dead processes and those that have expired, and what is no claim if it is
   * as old.
   */
  void removeStale() throws IOException {
    for (DiskIo.Entry entry : io.list(root.claims())) {
      String content = entry.isFile() ? read(entry.path()) : null;
      if (content == null) {
        continue;
      }
      boolean stale =
          ownerOf(content) == null
              ? isExpired(entry.writtenMillis()) || isOlderThanOwners(entry.writtenMillis())
              : isStale(content);
      if (stale) {
        deleteIfStill(entry.path(), content);
      }
    }
  }

  private boolean create(Path unfinished, Path file, String content) throws IOException {
    try {
      link(unfinished, file, content);
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    } catch (NoSuchFileException e) {
      // Somebody deleted the directories under our feet.
      io.makeDirectory(root.tmp());
      io.makeDirectory(root.claims());
    }
    try {
      link(unfinished, file, content);
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }

  private void link(Path unfinished, Path file, String content) throws IOException {
    try {
      try (DiskIo.OpenFile created = io.create(unfinished)) {
        created.write(ByteBuffer.wrap(content.getBytes(StandardCharsets.US_ASCII)), 0);
      }
      io.link(unfinished, file);
    } finally {
      io.delete(unfinished);
    }
  }

  private boolean supersede(Path unfinished, Path file, String content) throws IOException {
    try (ProcessLock lock = ProcessLock.tryTake(lockFile)) {
      if (lock == null) {
        return false;
      }
      String present = read(file);
      if (present != null) {
        if (ownerOf(present) == null || !isStale(present)) {
          return false;
        }
        io.delete(file);
      }
      return create(unfinished, file, content);
    }
  }

  private void deleteIfStill(Path file, String content) throws IOException {
    try (ProcessLock lock = ProcessLock.tryTake(lockFile)) {
      if (lock != null && content.equals(read(file))) {
        io.delete(file);
      }
    }
  }

  private boolean isStale(String content) throws IOException {
    String[] parts = content.trim().split(" ", -1);
    return isExpired(Long.parseLong(parts[2])) || !owners.isAlive(parts[0]);
  }

  /** Expired, or from the future: the clock was set back since. */
  private boolean isExpired(long takenMillis) {
    return Math.abs(millisClock.getAsLong() - takenMillis) > EXPIRY.toMillis();
  }

  private boolean isOlderThanOwners(long writtenMillis) throws IOException {
    for (Owners.Owner owner : owners.living()) {
      if (owner.sinceMillis() <= writtenMillis) {
        return false;
      }
    }
    return true;
  }

  /** Who made a claim; null if it is not whole, or never was one. */
  private static @Nullable String ownerOf(String content) {
    return content.matches("[0-9a-f-]+ [0-9]{1,18} [0-9]{1,18}\n")
        ? content.substring(0, content.indexOf(' '))
        : null;
  }

  /** What a claim says; null if it is gone. */
  private @Nullable String read(Path file) throws IOException {
    try (DiskIo.OpenFile open = io.open(file)) {
      ByteBuffer bytes = ByteBuffer.allocate(MAX_CONTENT);
      long at = 0;
      for (int n = 0; n >= 0 && bytes.hasRemaining(); at += n) {
        n = open.read(bytes, at);
      }
      return StandardCharsets.US_ASCII.decode(bytes.flip()).toString();
    } catch (NoSuchFileException e) {
      return null;
    }
  }
}
