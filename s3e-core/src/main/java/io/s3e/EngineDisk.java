package io.s3e;

import io.s3e.buffer.MemoryBudget;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.util.Objects;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The cache on local disk of an engine, if there can be one, and the memory of its buffers. */
final class EngineDisk implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EngineDisk.class);

  /** As much of the memory budget may wait to be written. */
  private static final int WAITING_SHARE = 2;

  /** With so small a budget that they take more of it, reading is worth more. */
  private static final int MOST_SHARE = 2;

  /** Opens a cache; a test's may have a disk that fails. */
  @FunctionalInterface
  interface Opener {
    @Nullable DiskCache open(DiskCacheConfig config, DiskMetrics metrics, long mostWaitingBytes)
        throws IOException;
  }

  private final MemoryBudget budget;
  private final DiskCacheConfig asked;
  private final @Nullable DiskCache cache;
  private final long reserved;
  private boolean toldOfDifference;

  private EngineDisk(
      MemoryBudget budget, DiskCacheConfig asked, @Nullable DiskCache cache, long reserved) {
    this.budget = budget;
    this.asked = asked;
    this.cache = cache;
    this.reserved = reserved;
  }

  /**
   * Opens what {@code config} asks for. Where its buffers find too little of the budget, no
   * directory works, or one must not be trusted, there is no cache on disk, and a warning says why.
   *
   * @param reserve reserves bytes of {@code budget}; false if there are too few
   */
  static EngineDisk open(
      DiskCacheConfig config,
      Opener opener,
      LongPredicate reserve,
      MemoryBudget budget,
      DiskMetrics metrics) {
    long buffers = DiskCache.bufferBytes(config);
    if (buffers > budget.limit() / MOST_SHARE || !reserve.test(buffers)) {
      LOG.warn(
          "No cache on local disk: its buffers need {} bytes of the memory budget of {}, of which"
              + " {} are left",
          buffers,
          budget.limit(),
          budget.available());
      return new EngineDisk(budget, config, null, 0);
    }
    DiskCache cache = null;
    try {
      cache = opener.open(config, metrics, budget.limit() / WAITING_SHARE);
    } catch (IOException | RuntimeException e) {
      LOG.warn("No cache on local disk, in memory only: {}", e.toString());
      LOG.debug("The cache on local disk cannot be opened", e);
    } catch (OutOfMemoryError e) {
      LOG.warn(
          "No cache on local disk: the JVM has no direct memory for its buffers; raise"
              + " -XX:MaxDirectMemorySize: {}",
          e.toString());
    } finally {
      if (cache == null) {
        budget.release(buffers);
      }
    }
    return new EngineDisk(budget, config, cache, cache == null ? 0 : buffers);
  }

  /**
   * The cache for one more tenant: places and limits are those of the tenant that came first, and a
   * warning tells one that asks for others. Files that other processes share are written with one
   * secret; a tenant with another has no cache on disk.
   */
  @Nullable DiskCache cacheFor(DiskCacheConfig config) {
    boolean fits =
        config.scope() == asked.scope()
            && config.application().equals(asked.application())
            && (config.scope() == DiskCacheConfig.Scope.PRIVATE
                || Objects.equals(config.key(), asked.key()));
    boolean same =
        fits
            && config.directories().equals(asked.directories())
            && config.capacityBytes() == asked.capacityBytes()
            && config.diskShare() == asked.diskShare();
    if (!same && cache != null && !toldOfDifference) {
      toldOfDifference = true;
      LOG.warn(
          "This JVM's S3E has its cache on local disk in {} (scope {}), which stays until its last"
              + " user has closed it. A file system that asks for {} (scope {}) {}",
          asked.directories(),
          asked.scope(),
          config.directories(),
          config.scope(),
          fits ? "uses the same" : "has none");
    }
    return fits ? cache : null;
  }

  @Override
  public void close() {
    if (cache != null) {
      cache.close();
      budget.release(reserved);
    }
  }
}
