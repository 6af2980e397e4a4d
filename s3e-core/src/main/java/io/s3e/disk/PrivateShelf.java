package io.s3e.disk;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The shelf of a directory that nobody else writes to: a table in memory, so a miss costs no look
 * at the disk. Who goes when room is needed is Caffeine's choice (W-TinyLFU, weighed in bytes on
 * disk), which a scan does not flush.
 *
 * <p>Only {@link #used} counts as an access: asking what is there says nothing about its worth.
 * Victims leave the table first and their files afterwards, outside of all locks, on the thread of
 * the call that made them victims: one that has written or read a file, never a reader's. A file
 * that is written again before it is deleted may be deleted all the same; the next look finds it
 * absent, which is a miss.
 */
final class PrivateShelf implements Shelf {
  /** What the table knows of a file. */
  private record File(int mask, long bytes) {}

  private final Cache<DiskBlockId, File> files;
  private final Policy.Eviction<DiskBlockId, File> eviction;
  private final Queue<DiskBlockId> victims = new ConcurrentLinkedQueue<>();
  private final Consumer<DiskBlockId> evict;

  /**
   * @param capacityBytes the most that the files may take on disk
   * @param metrics told of victims
   * @param evict deletes the file of a victim; called once for each, may do I/O
   */
  PrivateShelf(long capacityBytes, DiskMetrics metrics, Consumer<DiskBlockId> evict) {
    this.evict = evict;
    this.files =
        Caffeine.newBuilder()
            .maximumWeight(capacityBytes)
            .weigher((DiskBlockId id, File file) -> (int) Math.min(Integer.MAX_VALUE, file.bytes()))
            .executor(Runnable::run)
            .evictionListener(
                (@Nullable DiskBlockId id, @Nullable File file, RemovalCause cause) -> {
                  if (id != null && file != null) {
                    metrics.count(Counter.EVICTIONS);
                    metrics.add(Counter.EVICTED_BYTES, file.bytes());
                    victims.add(id);
                  }
                })
            .build();
    this.eviction = files.policy().eviction().orElseThrow();
  }

  @Override
  public int believed(DiskBlockId id) {
    File file = files.policy().getIfPresentQuietly(id);
    return file == null ? 0 : file.mask();
  }

  /** Room is made when the file is there; only what no room can be made for is refused. */
  @Override
  public boolean hasRoomFor(long bytes) {
    return bytes <= eviction.getMaximum();
  }

  @Override
  public boolean isOpen() {
    return hasRoomFor(DiskBlockId.BLOCK_BYTES);
  }

  @Override
  public void written(DiskBlockId id, int mask, long bytesOnDisk) {
    files.put(id, new File(mask, bytesOnDisk));
    deleteVictims();
  }

  @Override
  public void used(DiskBlockId id) {
    // Asked for the asking's sake: it is what Caffeine counts.
    File unused = files.getIfPresent(id);
    deleteVictims();
  }

  @Override
  public void gone(DiskBlockId id) {
    files.invalidate(id);
  }

  @Override
  public long bytes() {
    return eviction.weightedSize().orElse(0);
  }

  /** Changes how much the files may take, and deletes what is too much. */
  void setCapacity(long bytes) {
    eviction.setMaximum(bytes);
    deleteVictims();
  }

  /** Forgets everything; whoever owns the directory deletes it as a whole. */
  @Override
  public void close() {
    files.invalidateAll();
  }

  private void deleteVictims() {
    files.cleanUp();
    for (DiskBlockId id = victims.poll(); id != null; id = victims.poll()) {
      evict.accept(id);
    }
  }
}
