package io.s3e.fetch;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.s3e.block.ObjectVersion;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The versions that S3 has answered for to one tenant, with the tenant's own credentials. What
 * another tenant, or another process, has fetched of a version is served only to a tenant that has
 * proven so that it may read it. Any thread.
 */
final class Proofs {
  /** Versions that answers are remembered of; a table of so many files is a large one. */
  private static final int VERSIONS = 100_000;

  /** Rights may be taken away: short beside the life of temporary credentials. */
  private static final Duration LIFE = Duration.ofMinutes(15);

  private final Cache<ObjectVersion, Boolean> proven =
      Caffeine.newBuilder()
          .maximumSize(VERSIONS)
          .expireAfterWrite(LIFE)
          .executor(Runnable::run)
          .build();

  void add(@Nullable ObjectVersion version) {
    if (version != null) {
      proven.put(version, Boolean.TRUE);
    }
  }

  boolean has(@Nullable ObjectVersion version) {
    return version != null && proven.getIfPresent(version) != null;
  }
}
