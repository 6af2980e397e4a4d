package io.s3e.disk;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shelf of a directory that several processes write to. It knows nothing of what is there: only
 * the disk does. What may be written is what the {@link Janitor} grants this process; engines of
 * one JVM share that. Room is made by the janitor alone, which goes by the times of files; so a use
 * is noted in the file, once in {@link #MARK_AGAIN} at most, for a note costs a change of the
 * inode.
 *
 * <p>Any thread; {@link #used} does I/O.
 */
final class SharedShelf implements Shelf {
  /** How exact the times are that eviction goes by. */
  private static final Duration MARK_AGAIN = Duration.ofMinutes(1);

  private static final long GRANT_LOOK_NANOS = Duration.ofMillis(2).toNanos();

  /** A disk block and its header. */
  private static final long ROOM_BYTES = DiskBlockId.BLOCK_BYTES + 4096L;

  private static final int MAX_MARKED = 100_000;

  private static final Logger LOG = LoggerFactory.getLogger(SharedShelf.class);

  private final DiskIo io;
  private final BlockFiles files;
  private final Membership membership;
  private final Allowance allowance;
  private final Janitor.Tools tools;
  private final Janitor janitor;
  private final Cache<DiskBlockId, Boolean> marked =
      Caffeine.newBuilder()
          .maximumSize(MAX_MARKED)
          .expireAfterWrite(MARK_AGAIN)
          .executor(Runnable::run)
          .build();

  /** Starts the janitor of this JVM in the instance, if none of its engines has. */
  SharedShelf(DiskIo io, CacheRoot root, DiskCacheConfig config, DiskMetrics metrics) {
    this(io, root, config, metrics, new CacheSpace(io, root.instance(), config));
  }

  SharedShelf(
      DiskIo io, CacheRoot root, DiskCacheConfig config, DiskMetrics metrics, CacheSpace space) {
    this.io = io;
    this.files = new BlockFiles(io, root.instance(), root.ownerId(), config.key());
    this.membership = root.membership();
    this.allowance = membership.allowance();
    this.tools = new Janitor.Tools(io, root, space, metrics);
    this.janitor = membership.employ(tools);
  }

  /**
   * Waits until this process may write, or has been told that there is no room. What is fetched
   * before cannot be written, and other processes would fetch it again.
   */
  void awaitGrant(Duration limit) {
    long deadline = System.nanoTime() + limit.toNanos();
    while (!isGranted() && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(GRANT_LOOK_NANOS);
    }
  }

  private boolean isGranted() {
    Publication latest = allowance.publication();
    return latest != null
        && latest.grants().containsKey(membership.ownerId())
        && tools.space().capacity() > 0;
  }

  @Override
  public int believed(DiskBlockId id) {
    return UNKNOWN;
  }

  @Override
  public boolean hasRoomFor(long bytes) {
    if (!tools.space().mayWrite()) {
      return false;
    }
    boolean room = allowance.trySetAside(Thread.currentThread(), bytes, System.nanoTime());
    if (!room) {
      janitor.ask();
    }
    return room;
  }

  @Override
  public boolean isOpen() {
    return tools.space().mayWrite() && allowance.left(System.nanoTime()) >= ROOM_BYTES;
  }

  @Override
  public void written(DiskBlockId id, int mask, long bytesOnDisk) {
    allowance.written(Thread.currentThread(), bytesOnDisk, System.currentTimeMillis());
  }

  @Override
  public void used(DiskBlockId id) {
    if (marked.asMap().putIfAbsent(id, Boolean.TRUE) != null) {
      return;
    }
    try {
      io.markUsed(files.pathOf(id));
    } catch (NoSuchFileException e) {
      marked.invalidate(id);
    } catch (IOException e) {
      // The file then goes earlier than it should; that is all.
      LOG.debug("cannot mark {} as used: {}", id, e.toString());
    }
  }

  @Override
  public void gone(DiskBlockId id) {
    marked.invalidate(id);
  }

  @Override
  public long bytes() {
    return allowance.bytes();
  }

  /** The thread that looks after the instance for this JVM. */
  Janitor janitor() {
    return janitor;
  }

  @Override
  public void close() {
    membership.dismiss(tools);
  }
}
