/**
 * Blocks in memory: {@link io.s3e.cache.Block} is one block and the counting of its readers, {@link
 * io.s3e.cache.Slab} the memory that one or more blocks live in, {@link io.s3e.cache.BlockIndex}
 * finds blocks by name, {@link io.s3e.cache.Residency} decides which slabs stay. The local disk
 * will stand behind {@link io.s3e.cache.Residency}'s evictions.
 */
@NullMarked
package io.s3e.cache;

import org.jspecify.annotations.NullMarked;
