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
 * <p>A {@link io.s3e.disk.RegionStore} is one directory. Its {@link io.s3e.disk.ChunkIndex} knows
 * which chunks are where, and asks no disk. Its {@link io.s3e.disk.Regions} know which files there
 * are, and which one goes next; they know nothing of chunks. Its {@link io.s3e.disk.Appender} is
 * the one thread that writes, and that makes, gives up and looks at regions. Its {@link
 * io.s3e.disk.Readers}, with a {@link io.s3e.disk.ChunkReader} each and {@link
 * io.s3e.disk.RecentChunks} for short reads, touch a disk for whoever reads. A {@link
 * io.s3e.disk.Breaker} for each direction says whether the directory is to be used.
 *
 * <p>{@link io.s3e.disk.PrivateRegions} are files without names. Those of a {@link
 * io.s3e.disk.SharedInstance} have names and begin with a {@link io.s3e.disk.RegionTable} that
 * other processes read, below a directory that {@link io.s3e.disk.DirectoryGuard} trusts. {@link
 * io.s3e.disk.RegionSeal} verifies or decrypts a chunk. All that touches the file system goes by
 * {@link io.s3e.disk.DiskIo}.
 *
 * <p>Internal to S3E but for {@link CacheKey}, {@link DiskCacheConfig}.
 */
@NullMarked
package io.s3e.disk;

import org.jspecify.annotations.NullMarked;
