package io.s3e.disk;

import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the janitor does in a shared instance: takes away what dead processes left, keeps what the
 * files hold within the capacity, and tells all processes what they may write. Done by one process
 * at a time, the one that holds {@code janitor.lock}. One thread.
 */
final class Housekeeping {
  /** Above this part of the capacity files are deleted ... */
  private static final double HIGH_WATERMARK = 0.95;

  /** ... down to this one. */
  private static final double LOW_WATERMARK = 0.90;

  /** What is kept free for each process, whatever the capacity; it may write half of it. */
  private static final long BYTES_PER_PROCESS = 4L * DiskBlockId.BLOCK_BYTES;

  /** A temporary file takes as long as one write; one of this age is of a write that hangs. */
  private static final long TEMPORARY_MILLIS = 60_000;

  /** So many deletions that fail one after another are the disk's fault, not the files'. */
  private static final int MAX_FAILURES = 16;

  private static final Logger LOG = LoggerFactory.getLogger(Housekeeping.class);

  private final DiskIo io;
  private final CacheRoot root;
  private final CacheSpace space;
  private final DiskMetrics metrics;
  private final Owners owners;
  private final Claims claims;
  private final LongSupplier nanoClock;
  private final LongSupplier millisClock;

  Housekeeping(DiskIo io, CacheRoot root, CacheSpace space, DiskMetrics metrics) {
    this(io, root, space, metrics, System::nanoTime, System::currentTimeMillis);
  }

  Housekeeping(
      DiskIo io,
      CacheRoot root,
      CacheSpace space,
      DiskMetrics metrics,
      LongSupplier nanoClock,
      LongSupplier millisClock) {
    this.io = io;
    this.root = root;
    this.space = space;
    this.metrics = metrics;
    this.owners = new Owners(io, root.owners(), nanoClock);
    this.claims = new Claims(io, root, nanoClock, millisClock);
    this.nanoClock = nanoClock;
    this.millisClock = millisClock;
  }

  /**
   * Takes away the temporaries, claims and locks of dead processes.
   *
   * @return the processes that live
   */
  List<String> sweep() throws IOException {
    for (DiskIo.Entry entry : io.list(root.tmp())) {
      String owner = BlockFiles.ownerOfTemporary(nameOf(entry));
      boolean old = millisClock.getAsLong() - entry.writtenMillis() > TEMPORARY_MILLIS;
      if (old || !owners.isAlive(owner)) {
        try {
          io.delete(entry.path());
        } catch (IOException e) {
          // A directory with something in it, perhaps; no reason to leave the rest.
          metrics.count(Counter.WRITE_ERRORS);
          LOG.debug("cannot delete {}", entry.path(), e);
        }
      }
    }
    claims.removeStale();
    return owners.living().stream().map(Owners.Owner::id).toList();
  }

  /**
   * Sweeps, counts what is there, deletes what is too much, and publishes.
   *
   * @throws IOException if it could not be seen through; nothing new was granted then, or nobody
   *     knows of it
   */
  Publication pass(Grants grants) throws IOException {
    io.delete(wanted(root));
    long scannedMillis = millisClock.getAsLong();
    List<String> living = sweep();
    Victims.Census census = census();
    long capacity = space.refresh(census.bytes());
    long excess = excess(census.bytes(), capacity, living.size());
    long bytes = census.bytes() - (excess > 0 ? evict(census.victims(excess, capacity)) : 0);
    Map<String, Long> granted = grants.next(living, capacity - bytes, nanoClock.getAsLong());
    Publication publication = new Publication(scannedMillis, capacity, bytes, granted);
    publish(publication);
    grants.wasPublished(nanoClock.getAsLong());
    return publication;
  }

  /**
   * What must go, in bytes; 0 if nothing. Many processes in a small cache need more room than the
   * watermarks leave, or none of them could write a single file.
   */
  static long excess(long bytes, long capacity, int processes) {
    long room = Math.min(capacity / 2, BYTES_PER_PROCESS * (processes + 1));
    long high = Math.min((long) (HIGH_WATERMARK * capacity), capacity - room);
    long low =
        Math.min((long) (LOW_WATERMARK * capacity), capacity - Math.min(capacity / 2, 2 * room));
    return bytes > high ? bytes - low : 0;
  }

  private Victims.Census census() throws IOException {
    Victims.Census census = new Victims.Census();
    forEachFile(root.blocks(), census::count);
    for (DiskIo.Entry entry : io.list(root.tmp())) {
      census.countUnfinished(entry);
    }
    return census;
  }

  private void forEachFile(Path blocks, Consumer<DiskIo.Entry> action) throws IOException {
    for (DiskIo.Entry directory : io.list(blocks)) {
      if (!directory.isDirectory()) {
        continue;
      }
      for (DiskIo.Entry entry : io.list(directory.path())) {
        if (entry.isFile()) {
          action.accept(entry);
        }
      }
    }
  }

  private long evict(Victims victims) throws IOException {
    forEachFile(root.blocks(), victims::offer);
    long evicted = 0;
    int failures = 0;
    for (Victims.Victim victim : victims.chosen()) {
      try {
        io.delete(victim.path());
        evicted += victim.bytes();
        failures = 0;
        metrics.count(Counter.EVICTIONS);
        metrics.add(Counter.EVICTED_BYTES, victim.bytes());
      } catch (IOException e) {
        metrics.count(Counter.WRITE_ERRORS);
        LOG.debug("cannot delete {}", victim.path(), e);
        failures++;
        if (failures == MAX_FAILURES) {
          throw e;
        }
      }
    }
    return evicted;
  }

  private void publish(Publication publication) throws IOException {
    // Its name is that of a temporary of this owner: it goes with it if this process dies now.
    Path unfinished = root.tmp().resolve(root.ownerId() + ".usage");
    io.delete(unfinished);
    try (DiskIo.OpenFile file = io.create(unfinished)) {
      file.write(ByteBuffer.wrap(publication.toBytes()), 0);
    }
    io.rename(unfinished, usage(root));
  }

  /** What was published last; null if nothing is there, or nothing whole. */
  static @Nullable Publication read(DiskIo io, CacheRoot root) throws IOException {
    try (DiskIo.OpenFile file = io.open(usage(root))) {
      ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(file.size(), Publication.MAX_BYTES));
      while (bytes.hasRemaining() && file.read(bytes, bytes.position()) >= 0) {
        // Until the end of the file or of the buffer.
      }
      byte[] content = new byte[bytes.flip().remaining()];
      bytes.get(content);
      return Publication.parse(content);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /** Asks whoever is the janitor for a pass. */
  static void want(DiskIo io, CacheRoot root) throws IOException {
    try {
      io.create(wanted(root)).close();
    } catch (FileAlreadyExistsException e) {
      LOG.trace("a pass over {} is wanted already", root);
    }
  }

  /** Whether somebody asks for a pass. */
  static boolean isWanted(DiskIo io, CacheRoot root) throws IOException {
    for (DiskIo.Entry entry : io.list(root.instance())) {
      if (entry.path().equals(wanted(root))) {
        return true;
      }
    }
    return false;
  }

  private static Path usage(CacheRoot root) {
    return root.instance().resolve("usage");
  }

  private static Path wanted(CacheRoot root) {
    return root.instance().resolve("wanted");
  }

  private static String nameOf(DiskIo.Entry entry) {
    return String.valueOf(entry.path().getFileName());
  }
}
