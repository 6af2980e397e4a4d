package io.s3e;

import io.s3e.disk.ShadowCache;

/**
 * The use of an engine's cache on local disk.
 *
 * @param bytes on disk, as far as known
 * @param capacityBytes the most that may be on disk, over all directories
 * @param estimate hits that caches of other sizes would have had
 */
public record DiskUse(long bytes, long capacityBytes, ShadowCache.Estimate estimate) {}
