package io.s3e.fetch;

import io.s3e.block.ObjectVersion;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The versions that S3 has answered for to one tenant, with the tenant's own credentials. What
 * another tenant, or another process, has fetched of a version is served only to a tenant that has
 * proven so that it may read it. To forget a proof costs one GET, so the table simply forgets: what
 * is too old, and everything where that leaves it too large.
 *
 * <p>Any thread.
 */
final class Proofs {
  /** Versions that answers are remembered of; a table of so many files is a large one. */
  static final int MOST_VERSIONS = 100_000;

  /** Rights may be taken away: short beside the life of temporary credentials. */
  static final long LIFE_NANOS = TimeUnit.MINUTES.toNanos(15);

  /** When each version was proven last, by the clock. */
  private final ConcurrentHashMap<ObjectVersion, Long> provenNanos = new ConcurrentHashMap<>();

  private final LongSupplier nanoClock;

  /**
   * @param nanoClock as {@link System#nanoTime()}
   */
  Proofs(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  void add(ObjectVersion version) {
    long now = nanoClock.getAsLong();
    if (provenNanos.size() >= MOST_VERSIONS) {
      provenNanos.values().removeIf(proven -> now - proven >= LIFE_NANOS);
      if (provenNanos.size() >= MOST_VERSIONS) {
        provenNanos.clear();
      }
    }
    provenNanos.put(version, now);
  }

  boolean has(@Nullable ObjectVersion version) {
    Long proven = version == null ? null : provenNanos.get(version);
    return proven != null && nanoClock.getAsLong() - proven < LIFE_NANOS;
  }
}
