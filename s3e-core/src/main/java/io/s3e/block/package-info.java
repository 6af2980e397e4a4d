/**
 * The ground floor: value types for objects, byte ranges and the grid of fixed-size blocks that an
 * object is cut into. Nothing here does I/O. {@link io.s3e.block.BlockLayout} says which block
 * holds an offset; planners that count in blocks of their own length divide by it themselves.
 *
 * <p>Internal to S3E but for {@link ByteRange}, {@link ObjectRef}.
 */
@NullMarked
package io.s3e.block;

import org.jspecify.annotations.NullMarked;
