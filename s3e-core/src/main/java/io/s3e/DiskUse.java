// SPDX-License-Identifier: Apache-2.0
package io.s3e;

/**
 * The use of an engine's cache on local disk.
 *
 * @param bytes on disk, as far as known
 * @param capacityBytes the most that it ever takes there, in bytes
 */
public record DiskUse(long bytes, long capacityBytes) {}
