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

  /** With so small a budget that the buffers take more of it, reading is worth more. */
  private static final int MOST_SHARE = 2;

  /** Opens a cache; a test's may have a disk that fails. */
  @FunctionalInterface
  interface Opener {
    DiskCache open(DiskCacheConfig config, DiskMetrics metrics, long mostWaitingBytes)
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
   * Opens what {@code config} asks for. Where its buffers find too little of the budget, or no
   * directory can be used, there is no cache on disk, and a warning says why.
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
      return without(
          budget,
          config,
          "its buffers need "
              + buffers
              + " bytes of the memory budget of "
              + budget.limit()
              + ", of which "
              + budget.available()
              + " are left");
    }
    DiskCache cache = null;
    try {
      cache = opener.open(config, metrics, budget.limit() / WAITING_SHARE);
      return new EngineDisk(budget, config, cache, buffers);
    } catch (IOException e) {
      return without(budget, config, String.valueOf(e.getMessage()));
    } catch (OutOfMemoryError e) {
      return without(
          budget,
          config,
          "the JVM has no direct memory for its buffers; raise -XX:MaxDirectMemorySize: " + e);
    } catch (RuntimeException | Error e) {
      // Tenants wait for an answer, whatever it is.
      LOG.debug("The cache on local disk cannot be opened", e);
      return without(budget, config, e.toString());
    } finally {
      if (cache == null) {
        budget.release(buffers);
      }
    }
  }

  private static EngineDisk without(MemoryBudget budget, DiskCacheConfig config, String absence) {
    LOG.warn("No cache on local disk, in memory only: {}", absence);
    return new EngineDisk(budget, config, null, 0);
  }

  /**
   * The cache for one more tenant: places and limits are those of the tenant that came first, and a
   * warning tells one that asks for others. Files that other processes share are written with one
   * secret; a tenant with another has no cache on disk.
   *
   * @return null if it has none
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
            && config.capacityBytes() == asked.capacityBytes();
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

  /**
   * Whether a tenant with that configuration would be served as by a cache of its own; not if there
   * is none, since it may be opened now.
   */
  boolean isWhatIsAsked(DiskCacheConfig config) {
    DiskCacheConfig ofEngine =
        config.toBuilder()
            .mode(asked.mode())
            .hybridBytes(asked.hybridBytes())
            .key(asked.key())
            .build();
    // The key of a private cache is drawn for each tenant; one is as good as another.
    boolean hasTheKey =
        asked.scope() == DiskCacheConfig.Scope.PRIVATE
            ? (config.key() == null) == (asked.key() == null)
            : Objects.equals(config.key(), asked.key());
    return cache != null && hasTheKey && ofEngine.equals(asked);
  }

  @Override
  public void close() {
    if (cache != null) {
      cache.close();
      budget.release(reserved);
    }
  }
}
