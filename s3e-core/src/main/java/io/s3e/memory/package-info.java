/**
 * Blocks in memory, and who gets memory. {@link io.s3e.memory.Block} is one block and the counting
 * of its readers, {@link io.s3e.memory.Slab} the memory that one or more blocks live in, {@link
 * io.s3e.memory.BlockIndex} finds blocks by name, {@link io.s3e.memory.Residency} decides which
 * slabs stay, {@link io.s3e.memory.Admission} grants memory and concurrency before a GET is sent.
 *
 * <p>Internal to S3E.
 */
@NullMarked
package io.s3e.memory;

import org.jspecify.annotations.NullMarked;
