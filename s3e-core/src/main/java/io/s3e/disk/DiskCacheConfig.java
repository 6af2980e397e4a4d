// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the cache on local disk. Immutable; {@link #DEFAULTS} changed by {@link
 * #toBuilder()}.
 *
 * @param mode which bytes may go to disk
 * @param scope which processes share the cache
 * @param application names the application whose processes share a cache in scope APP; empty
 *     otherwise
 * @param directories on local disks; objects are spread over them. In scopes APP and HOST each gets
 *     a directory of S3E's own
 * @param capacityBytes the most that one directory may hold, in bytes; 0 is automatic: 10 GiB, and
 *     at most 5 % of what is free when it is opened. Less than 16 MiB is no cache
 * @param hybridBytes in mode HYBRID, how many bytes from the front of an object may go to disk
 * @param readDeadline a read of local disk is left behind, and S3 asked, if a MiB takes longer
 * @param key secret of 32 bytes that chunks are encrypted with; null writes them as they are
 */
public record DiskCacheConfig(
    Mode mode,
    Scope scope,
    String application,
    List<Path> directories,
    long capacityBytes,
    long hybridBytes,
    Duration readDeadline,
    @Nullable CacheKey key) {

  /** Which bytes may go to disk. */
  public enum Mode {
    /** None: there is no cache on disk. */
    MEMORY,
    /**
     * Bytes that came from S3 and may be wanted again: in scope PRIVATE without those of scans,
     * unless they are fetched a second time; in shared scopes all.
     */
    DISK,
    /** The same, but only the first {@link #hybridBytes()} of each object. */
    HYBRID
  }

  /** Which processes share the cache. */
  public enum Scope {
    /** This engine alone: its files have no name, and go with it. */
    PRIVATE,
    /** The processes of one application on this host. */
    APP,
    /** All processes of this user on this host, now and later. */
    HOST
  }

  /** A directory that may hold less is no cache, in bytes: 16 MiB. */
  public static final long LEAST_CAPACITY_BYTES = Region.USUAL_COUNT * Region.LEAST_BYTES;

  private static final long AUTOMATIC_MOST_BYTES = 10L << 30;
  private static final double AUTOMATIC_MOST_OF_FREE = 0.05;
  private static final int INDEX_SHARE_OF_HEAP = 16;

  /** No cache on disk; what {@link #toBuilder()} starts from. */
  public static final DiskCacheConfig DEFAULTS =
      new DiskCacheConfig(
          Mode.MEMORY, Scope.PRIVATE, "", List.of(), 0, 64L << 20, Duration.ofMillis(200), null);

  public DiskCacheConfig {
    directories = List.copyOf(directories);
    require(mode == Mode.MEMORY || !directories.isEmpty(), "cache directories []", "at least one");
    require(scope != Scope.APP || !application.isEmpty(), "application ''", "a name in scope APP");
    require(capacityBytes >= 0, "cache capacity " + capacityBytes, "0 (automatic) or more");
    require(hybridBytes >= 0, "bytes of an object on disk " + hybridBytes, "0 or more");
    boolean isPositive = readDeadline.compareTo(Duration.ZERO) > 0;
    require(isPositive, "read deadline " + readDeadline, "more than 0");
  }

  private static void require(boolean holds, String found, String accepted) {
    if (!holds) {
      throw new IllegalArgumentException(found + ": expected " + accepted);
    }
  }

  /**
   * The most that a directory may hold, in bytes: as set, or the automatic choice.
   *
   * @param usableBytes of its file system, now
   */
  public long capacityBytes(long usableBytes) {
    long automatic = Math.min(AUTOMATIC_MOST_BYTES, (long) (AUTOMATIC_MOST_OF_FREE * usableBytes));
    return capacityBytes == 0 ? automatic : capacityBytes;
  }

  /** Bytes of a directory whose index a sixteenth of the heap can hold, beside the others. */
  long indexedBytes() {
    long entries = Runtime.getRuntime().maxMemory() / INDEX_SHARE_OF_HEAP / ChunkIndex.ENTRY_BYTES;
    return entries * StoredObject.CHUNK_BYTES / Math.max(1, directories.size());
  }

  /** Regions of a directory at most: open files, of which all directories have a quarter. */
  int mostRegions(DiskIo io) {
    long most = io.mostOpenFiles() / 4 / Math.max(1, directories.size());
    return (int) Math.max(1, Math.min(Region.MOST_COUNT, most));
  }

  /** A builder that starts from this configuration. */
  public Builder toBuilder() {
    return new Builder();
  }

  /** Collects changes; {@link #build()} checks them together. */
  public final class Builder {
    private Mode mode = DiskCacheConfig.this.mode;
    private Scope scope = DiskCacheConfig.this.scope;
    private String application = DiskCacheConfig.this.application;
    private List<Path> directories = DiskCacheConfig.this.directories;
    private long capacityBytes = DiskCacheConfig.this.capacityBytes;
    private long hybridBytes = DiskCacheConfig.this.hybridBytes;
    private Duration readDeadline = DiskCacheConfig.this.readDeadline;
    private @Nullable CacheKey key = DiskCacheConfig.this.key;

    public Builder mode(Mode value) {
      mode = value;
      return this;
    }

    public Builder scope(Scope value) {
      scope = value;
      return this;
    }

    public Builder application(String value) {
      application = value;
      return this;
    }

    public Builder directories(List<Path> value) {
      directories = value;
      return this;
    }

    public Builder capacityBytes(long value) {
      capacityBytes = value;
      return this;
    }

    public Builder hybridBytes(long value) {
      hybridBytes = value;
      return this;
    }

    public Builder readDeadline(Duration value) {
      readDeadline = value;
      return this;
    }

    public Builder key(@Nullable CacheKey value) {
      key = value;
      return this;
    }

    /**
     * @throws IllegalArgumentException naming the value that is out of range and what is accepted
     */
    public DiskCacheConfig build() {
      return new DiskCacheConfig(
          mode, scope, application, directories, capacityBytes, hybridBytes, readDeadline, key);
    }
  }
}
