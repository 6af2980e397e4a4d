package io.s3e;

import io.s3e.buffer.MemoryBudget;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.jvm.OwnLoader;
import io.s3e.metrics.DiskMetrics;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The cache on local disk of an engine: opened for the first tenant that asks for one, on a thread
 * of its own, and closed with the engine. Any thread.
 */
final class DiskOpening implements AutoCloseable {
  private final LongPredicate reserve;
  private final MemoryBudget budget;
  private final DiskMetrics metrics;

  /** Null until a tenant asks for one. Guarded by this. */
  private @Nullable CompletableFuture<EngineDisk> disk;

  /**
   * @param reserve reserves bytes of {@code budget}; false if there are too few
   */
  DiskOpening(LongPredicate reserve, MemoryBudget budget, DiskMetrics metrics) {
    this.reserve = reserve;
    this.budget = budget;
    this.metrics = metrics;
  }

  /**
   * The cache for one more tenant.
   *
   * @return never fails; null if there is none
   */
  CompletableFuture<@Nullable DiskCache> open(DiskCacheConfig config, EngineDisk.Opener disks) {
    if (config.mode() == DiskCacheConfig.Mode.MEMORY) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<EngineDisk> opening;
    synchronized (this) {
      opening = disk;
      if (opening == null) {
        CompletableFuture<EngineDisk> begun = new CompletableFuture<>();
        Thread opener =
            OwnLoader.thread(
                () -> begun.complete(EngineDisk.open(config, disks, reserve, budget, metrics)),
                "s3e-disk-open");
        opener.start();
        disk = begun;
        opening = begun;
      }
    }
    return opening.thenApply(open -> open.cacheFor(config));
  }

  /** Whether a tenant with that configuration finds what it would have in an engine of its own. */
  synchronized boolean isWhatIsAsked(DiskCacheConfig config) {
    if (disk == null || config.mode() == DiskCacheConfig.Mode.MEMORY) {
      return true;
    }
    EngineDisk open = disk.getNow(null);
    return open != null && open.isWhatIsAsked(config);
  }

  @Override
  public synchronized void close() {
    if (disk != null) {
      // Perhaps it is still being opened: then it is closed by who opens it.
      CompletableFuture<Void> unused = disk.thenAccept(EngineDisk::close);
    }
  }
}
