package io.s3e;

import io.s3e.buffer.MemoryBudget;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.jvm.OwnLoader;
import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cache on local disk of an engine, and the memory of its buffers. Nothing until a tenant asks
 * for one; then it is opened, on a thread of its own, as that tenant wants it, or cannot be; it is
 * closed with the engine. Any thread.
 */
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

  /**
   * What the first tenant asked for, and what came of it.
   *
   * @param cache null if there can be none; never fails
   */
  private record Opening(DiskCacheConfig asked, CompletableFuture<@Nullable DiskCache> cache) {}

  private final LongPredicate reserve;
  private final MemoryBudget budget;
  private final DiskMetrics metrics;

  // Guarded by this.
  private @Nullable Opening first;
  private boolean toldOfDifference;

  /**
   * @param reserve reserves bytes of {@code budget}; false if there are too few
   */
  EngineDisk(LongPredicate reserve, MemoryBudget budget, DiskMetrics metrics) {
    this.reserve = reserve;
    this.budget = budget;
    this.metrics = metrics;
  }

  /**
   * The cache for one more tenant.
   *
   * @return never fails; null if there is none
   */
  CompletableFuture<@Nullable DiskCache> open(DiskCacheConfig config, Opener opener) {
    if (config.mode() == DiskCacheConfig.Mode.MEMORY) {
      return CompletableFuture.completedFuture(null);
    }
    Opening opening;
    synchronized (this) {
      opening = first;
      if (opening == null) {
        CompletableFuture<@Nullable DiskCache> cache = new CompletableFuture<>();
        OwnLoader.thread(() -> cache.complete(tryOpen(config, opener)), "s3e-disk-open").start();
        opening = new Opening(config, cache);
        first = opening;
      }
    }
    DiskCacheConfig asked = opening.asked();
    return opening
        .cache()
        .thenApply(cache -> cache == null ? null : cacheFor(config, asked, cache));
  }

  /**
   * Opens what {@code config} asks for. Where its buffers find too little of the budget, or no
   * directory can be used, there is no cache on disk, and a warning says why.
   */
  private @Nullable DiskCache tryOpen(DiskCacheConfig config, Opener opener) {
    long buffers = DiskCache.bufferBytes(config);
    if (buffers > budget.limit() / MOST_SHARE || !reserve.test(buffers)) {
      return without(
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
      return cache;
    } catch (IOException e) {
      return without(String.valueOf(e.getMessage()));
    } catch (OutOfMemoryError e) {
      return without(
          "the JVM has no direct memory for its buffers; raise -XX:MaxDirectMemorySize: " + e);
    } catch (RuntimeException | Error e) {
      // Tenants wait for an answer, whatever it is.
      LOG.debug("The cache on local disk cannot be opened", e);
      return without(e.toString());
    } finally {
      if (cache == null) {
        budget.release(buffers);
      }
    }
  }

  private static @Nullable DiskCache without(String absence) {
    LOG.warn("No cache on local disk, in memory only: {}", absence);
    return null;
  }

  /**
   * Places and limits are those of the tenant that came first, and a warning tells one that asks
   * for others. Files that other processes share are written with one secret; a tenant with another
   * has no cache on disk.
   */
  private @Nullable DiskCache cacheFor(
      DiskCacheConfig config, DiskCacheConfig asked, DiskCache cache) {
    boolean fits =
        config.scope() == asked.scope()
            && config.application().equals(asked.application())
            && (config.scope() == DiskCacheConfig.Scope.PRIVATE
                || Objects.equals(config.key(), asked.key()));
    boolean same =
        fits
            && config.directories().equals(asked.directories())
            && config.capacityBytes() == asked.capacityBytes();
    if (!same && isFirstDifference()) {
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

  private synchronized boolean isFirstDifference() {
    boolean told = toldOfDifference;
    toldOfDifference = true;
    return !told;
  }

  /**
   * Whether a tenant with that configuration finds what it would have in an engine of its own; not
   * if there is no cache although one was asked for, since it may be opened now.
   */
  synchronized boolean isWhatIsAsked(DiskCacheConfig config) {
    Opening opening = first;
    if (opening == null || config.mode() == DiskCacheConfig.Mode.MEMORY) {
      return true;
    }
    DiskCacheConfig asked = opening.asked();
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
    return opening.cache().getNow(null) != null && hasTheKey && ofEngine.equals(asked);
  }

  /** Where it is still being opened it is closed by who opens it. */
  @Override
  public synchronized void close() {
    if (first != null) {
      DiskCacheConfig asked = first.asked();
      CompletableFuture<Void> unused = first.cache().thenAccept(cache -> close(asked, cache));
    }
  }

  private void close(DiskCacheConfig asked, @Nullable DiskCache cache) {
    if (cache != null) {
      cache.close();
      budget.release(DiskCache.bufferBytes(asked));
    }
  }
}
