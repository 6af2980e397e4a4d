/**
 * Memory outside the heap: {@link io.s3e.buffer.MemoryBudget} says how much there may be in this
 * JVM, {@link io.s3e.buffer.BlockPool} hands it out as buffers of one size, and a {@link
 * io.s3e.buffer.BlockLease} is the right to use one of them. Nothing here blocks: what cannot be
 * had now is refused, and the caller decides who waits for whom.
 *
 * <p>Internal to S3E but for {@link MemoryBudget}.
 */
@NullMarked
package io.s3e.buffer;

import org.jspecify.annotations.NullMarked;
