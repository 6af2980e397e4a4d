/**
 * Blocks on local disk: what leaves memory and may be wanted again. The promise is that it can only
 * help: every doubt is a miss, every fault is counted and bypassed, no reader waits beyond a
 * deadline.
 *
 * <p>A <b>disk block</b> is a piece of 1 MiB of one version of one object, in one file; a
 * <b>chunk</b> is 64 KiB of it, the unit of presence and of checksums. Both are fixed, so that JVMs
 * with different block sizes in memory share files.
 *
 * <p>Internal to S3E but for {@link CacheKey}, {@link DiskCacheConfig}, {@link
 * ShadowCache.Estimate}.
 */
@NullMarked
package io.s3e.disk;

import org.jspecify.annotations.NullMarked;
