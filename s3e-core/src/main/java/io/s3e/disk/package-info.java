/**
 * The cache on local disk: bytes that came from S3 and may be wanted again. It can only help: every
 * doubt is a miss, every fault is counted and bypassed, no reader waits beyond a deadline.
 *
 * <h2>Words</h2>
 *
 * <p>A <b>chunk</b> is 64 KiB of one version of one object ({@link io.s3e.disk.StoredObject}), the
 * unit of presence and of checksums: fixed, so that JVMs with different block sizes in memory share
 * a cache. Chunks are appended to a <b>region</b>, a file that is filled once. A full cache gives
 * up whole regions, oldest first. A <b>place</b> is where a chunk stands in a region, and its seal.
 *
 * <h2>The boundary</h2>
 *
 * <p>{@link io.s3e.disk.DiskCache}: {@code look} says what is there, as far as memory knows; {@code
 * read} has it copied into a reader's memory ({@link io.s3e.disk.DiskRead}); {@code offer} takes
 * what may be written ({@link io.s3e.disk.WriteBack}); {@code close}. {@link
 * io.s3e.disk.CacheInspector} lists and clears what is on disk.
 *
 * <h2>Behind it</h2>
 *
 * <p>A {@link io.s3e.disk.RegionStore} is one directory: {@link io.s3e.disk.ChunkIndex}, {@link
 * io.s3e.disk.Regions}, {@link io.s3e.disk.Appender}, {@link io.s3e.disk.Readers} and two {@link
 * io.s3e.disk.Breaker}s. Its files are {@link io.s3e.disk.PrivateRegions} or those of a {@link
 * io.s3e.disk.SharedInstance}. All that touches the file system goes by {@link io.s3e.disk.DiskIo}.
 *
 * <p>Internal to S3E but for {@link CacheKey}, {@link DiskCacheConfig}.
 */
@NullMarked
package io.s3e.disk;

import org.jspecify.annotations.NullMarked;
