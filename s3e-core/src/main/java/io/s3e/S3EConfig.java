// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.block.BlockLayout;
import io.s3e.columnar.ColumnarMode;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.fetch.ExplainConfig;
import io.s3e.jvm.HostSizing;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The means of one tenant, and its patience. Immutable; {@link #DEFAULTS} changed by {@link
 * #toBuilder()}. Credentials, endpoint and transport belong to the client, not here. No time is
 * longer than a year.
 *
 * @param blockBytes unit of memory, cache and hand-over, in bytes; a power of two from 64 KiB to 64
 *     MiB (docs/adr has the sweep behind the default)
 * @param requestBytes the longest GET, in bytes; at least a block, at most 1 GiB
 * @param memoryBytes hard limit of direct and native memory for object data, in bytes, over the
 *     whole JVM; at least two blocks. {@link #AUTOMATIC} chooses by the host: {@link
 *     HostSizing#memoryBytes}. Never more than half of the JVM's direct memory applies: {@link
 *     #effectiveMemoryBytes()}
 * @param maxWindowBytes the farthest that prefetch runs ahead of one reader, in bytes; {@link
 *     #AUTOMATIC} leaves it to the budget
 * @param prefetch false never fetches what nobody asked for
 * @param columnar what is made of Parquet and ORC files; they are files like others where {@code
 *     prefetch} is false
 * @param retryBase pause before the second retry, the first goes at once; doubles with each further
 *     one up to a hundred times that, with jitter
 * @param stallTimeout a GET that brings no byte for so long is cancelled and sent again
 * @param readTimeout a read fails when no byte of it has come for so long
 * @param accessMaxAge how long S3's answer to a GET allows to serve bytes of that version that are
 *     in memory or on disk; then S3 is asked again. 0: each opening asks for itself
 * @param store names the store that is read, for example by its endpoint: part of every block's
 *     identity. Fetched bytes serve other tenants and processes only under the same name; with null
 *     this tenant alone
 * @param diskCache what the cache on local disk may use
 * @param explain what is kept of GETs
 */
public record S3EConfig(
    int blockBytes,
    int requestBytes,
    long memoryBytes,
    long maxWindowBytes,
    boolean prefetch,
    ColumnarMode columnar,
    Duration retryBase,
    Duration stallTimeout,
    Duration readTimeout,
    Duration accessMaxAge,
    @Nullable String store,
    DiskCacheConfig diskCache,
    ExplainConfig explain) {

  /** A number of bytes that S3E chooses. */
  public static final long AUTOMATIC = 0;

  private static final Duration SHORTEST = Duration.ofNanos(1);

  /** Times of centuries overflow in nanoseconds, and some are multiplied. */
  private static final Duration LONGEST = Duration.ofDays(365);

  /** The defaults, as documented in docs/CONFIGURATION.md. */
  public static final S3EConfig DEFAULTS =
      new S3EConfig(
          64 << 10,
          8 << 20,
          AUTOMATIC,
          AUTOMATIC,
          true,
          ColumnarMode.AUTO,
          Duration.ofMillis(100),
          Duration.ofSeconds(10),
          Duration.ofMinutes(8),
          Duration.ofMinutes(15),
          null,
          DiskCacheConfig.DEFAULTS,
          ExplainConfig.DEFAULTS);

  private static final int MIN_BLOCK = 64 << 10;
  private static final int MAX_REQUEST = 1 << 30;

  public S3EConfig {
    Objects.requireNonNull(columnar, "columnar");
    boolean isInRange = blockBytes >= MIN_BLOCK && blockBytes <= BlockLayout.MAX_BLOCK_BYTES;
    boolean isBlock = isInRange && Integer.bitCount(blockBytes) == 1;
    require(isBlock, "block size", blockBytes, "a power of two from 64 KiB to 64 MiB");
    boolean isRequest = requestBytes >= blockBytes && requestBytes <= MAX_REQUEST;
    String requests = "from the block size (" + blockBytes + ") to 1 GiB";
    require(isRequest, "request size", requestBytes, requests);
    boolean isBudget = memoryBytes == AUTOMATIC || memoryBytes >= 2L * blockBytes;
    String budgets = "0 (automatic) or at least two blocks (" + 2L * blockBytes + ")";
    require(isBudget, "memory budget", memoryBytes, budgets);
    boolean isWindow = maxWindowBytes == AUTOMATIC || maxWindowBytes >= blockBytes;
    String windows = "0 (automatic) or at least a block (" + blockBytes + ")";
    require(isWindow, "maximum window", maxWindowBytes, windows);
    requireTime("first retry pause", retryBase, Duration.ZERO);
    requireTime("stall timeout", stallTimeout, SHORTEST);
    requireTime("read timeout", readTimeout, SHORTEST);
    requireTime("age of a proof of access", accessMaxAge, Duration.ZERO);
  }

  private static void requireTime(String what, Duration value, Duration least) {
    String accepted = (least.isZero() ? "0" : "more than 0") + " to " + LONGEST;
    require(value.compareTo(least) >= 0 && value.compareTo(LONGEST) <= 0, what, value, accepted);
  }

  private static void require(boolean holds, String what, Object value, String accepted) {
    if (!holds) {
      throw new IllegalArgumentException(what + " " + value + ": expected " + accepted);
    }
  }

  /**
   * The memory budget in bytes as it applies in this JVM: the automatic choice made from the host,
   * and never more than half of the JVM's direct memory, of which the application needs its part.
   */
  public long effectiveMemoryBytes() {
    HostSizing host = HostSizing.ofThisJvm();
    long wanted = memoryBytes != AUTOMATIC ? memoryBytes : host.memoryBytes(host.targetGbps());
    return host.appliedBytes(wanted, 2L * blockBytes);
  }

  /** A builder that starts from this configuration. */
  public Builder toBuilder() {
    return new Builder();
  }

  /** Collects changes; {@link #build()} checks them together. */
  public final class Builder {
    private int blockBytes = S3EConfig.this.blockBytes;
    private int requestBytes = S3EConfig.this.requestBytes;
    private long memoryBytes = S3EConfig.this.memoryBytes;
    private long maxWindowBytes = S3EConfig.this.maxWindowBytes;
    private boolean prefetch = S3EConfig.this.prefetch;
    private ColumnarMode columnar = S3EConfig.this.columnar;
    private Duration retryBase = S3EConfig.this.retryBase;
    private Duration stallTimeout = S3EConfig.this.stallTimeout;
    private Duration readTimeout = S3EConfig.this.readTimeout;
    private Duration accessMaxAge = S3EConfig.this.accessMaxAge;
    private @Nullable String store = S3EConfig.this.store;
    private DiskCacheConfig diskCache = S3EConfig.this.diskCache;
    private ExplainConfig explain = S3EConfig.this.explain;

    public Builder blockBytes(int value) {
      blockBytes = value;
      return this;
    }

    public Builder requestBytes(int value) {
      requestBytes = value;
      return this;
    }

    public Builder memoryBytes(long value) {
      memoryBytes = value;
      return this;
    }

    public Builder maxWindowBytes(long value) {
      maxWindowBytes = value;
      return this;
    }

    public Builder prefetch(boolean value) {
      prefetch = value;
      return this;
    }

    public Builder columnar(ColumnarMode value) {
      columnar = value;
      return this;
    }

    public Builder retryBase(Duration value) {
      retryBase = value;
      return this;
    }

    public Builder stallTimeout(Duration value) {
      stallTimeout = value;
      return this;
    }

    public Builder readTimeout(Duration value) {
      readTimeout = value;
      return this;
    }

    public Builder accessMaxAge(Duration value) {
      accessMaxAge = value;
      return this;
    }

    public Builder store(@Nullable String value) {
      store = value;
      return this;
    }

    public Builder diskCache(DiskCacheConfig value) {
      diskCache = value;
      return this;
    }

    public Builder explain(ExplainConfig value) {
      explain = value;
      return this;
    }

    /**
     * @throws IllegalArgumentException naming the value that is out of range and what is accepted
     */
    public S3EConfig build() {
      return new S3EConfig(
          blockBytes,
          requestBytes,
          memoryBytes,
          maxWindowBytes,
          prefetch,
          columnar,
          retryBase,
          stallTimeout,
          readTimeout,
          accessMaxAge,
          store,
          diskCache,
          explain);
    }
  }
}
