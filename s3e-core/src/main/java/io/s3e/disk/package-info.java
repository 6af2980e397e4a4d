/**
 * The cache on local disk: bytes that came from S3 and may be wanted again. It can only help: every
 * doubt is a miss, every fault is counted and bypassed, no reader waits beyond a deadline.
 *
 * <p>A <b>chunk</b> is 64 KiB of one version of one object, the unit of presence and of checksums:
 * fixed, so that JVMs with different block sizes in memory share a cache. Chunks are appended to a
 * <b>region</b>, a file of fixed size; one filling of it is a <b>generation</b>. A full cache
 * recycles whole regions.
 *
 * <p>Internal to S3E but for {@link CacheKey}, {@link DiskCacheConfig}.
 */
@NullMarked
package io.s3e.disk;

import org.jspecify.annotations.NullMarked;
