// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.buffer.MemoryBudget;
import io.s3e.disk.CacheKey;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cache on local disk of an engine, if there can be one, and the memory of its buffers. It is
 * opened for the first tenant that asks for one, on a thread of its own, and closed with the
 * engine. Any thread.
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

  private final LongPredicate reserve;
  private final MemoryBudget budget;
  private final DiskMetrics metrics;
  private final Executor thread;

  // Guarded by this.
  /** Null until a tenant asks for one; the cache is null if there can be none. */
  private @Nullable CompletableFuture<@Nullable DiskCache> opening;

  /** What the tenant that came first asked for. */
  private DiskCacheConfig asked = DiskCacheConfig.DEFAULTS;

  private boolean toldOfDifference;
  private boolean toldOfNoThread;

  /**
   * @param reserve reserves bytes of {@code budget}; false if there are too few
   * @param thread runs what opens the cache, beside its caller
   */
  EngineDisk(LongPredicate reserve, MemoryBudget budget, DiskMetrics metrics, Executor thread) {
    this.reserve = reserve;
    this.budget = budget;
    this.metrics = metrics;
    this.thread = thread;
  }

  /**
   * The cache for one more tenant, null if it has none; never fails. Places and limits are those of
   * the tenant that came first, and a warning tells one that asks for others. Files that other
   * processes share are written with one secret; a tenant with another has no cache on disk, and
   * neither has one that asks for encryption where nothing is encrypted. Where the system has no
   * thread to open it, the next tenant tries again.
   */
  synchronized CompletableFuture<@Nullable DiskCache> open(DiskCacheConfig config, Opener disks) {
    if (config.mode() == Mode.MEMORY) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<@Nullable DiskCache> begun = opening;
    if (begun == null) {
      CompletableFuture<@Nullable DiskCache> opened = new CompletableFuture<>();
      try {
        thread.execute(() -> opened.complete(opened(config, disks)));
      } catch (OutOfMemoryError e) {
        boolean isTold = toldOfNoThread;
        toldOfNoThread = true;
        return CompletableFuture.completedFuture(
            isTold ? null : without("no thread to open it: " + e));
      }
      asked = config;
      opening = opened;
      begun = opened;
    }
    return begun.thenApply(cache -> cache != null && serves(config) ? cache : null);
  }

  /**
   * Opens what {@code config} asks for. Where its buffers find too little of the budget, or no
   * directory can be used, there is no cache on disk, and a warning says why.
   */
  private @Nullable DiskCache opened(DiskCacheConfig config, Opener opener) {
    long buffers = DiskCache.bufferBytes(config);
    if (buffers > budget.limit() / MOST_SHARE || !reserve.test(buffers)) {
      String left = budget.limit() + ", of which " + budget.available() + " are left";
      return without("its buffers need " + buffers + " bytes of the memory budget of " + left);
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

  /** Whether a tenant with that configuration may use the cache; tells one that finds another. */
  private synchronized boolean serves(DiskCacheConfig config) {
    boolean fits = fits(config);
    if (!toldOfDifference && !(fits && isAtSamePlace(config))) {
      toldOfDifference = true;
      LOG.warn(
          "This JVM's S3E has its cache on local disk in {}, which stays until its last user has"
              + " closed it. A file system that asks for {} {}",
          place(asked),
          place(config),
          fits ? "uses the same" : "has none");
    }
    return fits;
  }

  private static String place(DiskCacheConfig config) {
    String encrypted = config.key() == null ? "" : ", encrypted";
    return config.directories() + " (scope " + config.scope() + encrypted + ")";
  }

  private boolean fits(DiskCacheConfig config) {
    return config.scope() == asked.scope()
        && config.application().equals(asked.application())
        && fitsKey(config.key());
  }

  /** The key of a private cache is drawn for each tenant: one is as good as another, or as none. */
  private boolean fitsKey(@Nullable CacheKey key) {
    return asked.scope() == Scope.PRIVATE
        ? key == null || asked.key() != null
        : Objects.equals(key, asked.key());
  }

  private boolean isAtSamePlace(DiskCacheConfig config) {
    return config.directories().equals(asked.directories())
        && config.capacityBytes() == asked.capacityBytes();
  }

  /**
   * Whether a tenant with that configuration would be served as by a cache of its own; not if there
   * is none, since it may be opened now.
   */
  synchronized boolean isWhatIsAsked(DiskCacheConfig config) {
    return opening == null
        || config.mode() == Mode.MEMORY
        || ((!opening.isDone() || opening.getNow(null) != null)
            && fits(config)
            && isAtSamePlace(config)
            && config.readDeadline().equals(asked.readDeadline())
            && (config.key() == null) == (asked.key() == null));
  }

  @Override
  public synchronized void close() {
    if (opening != null) {
      // Perhaps it is still being opened: then it is closed by who opens it.
      CompletableFuture<Void> unused =
          opening.thenAccept(
              cache -> {
                if (cache != null) {
                  try {
                    cache.close();
                  } finally {
                    budget.release(DiskCache.bufferBytes(asked));
                  }
                }
              });
    }
  }
}
