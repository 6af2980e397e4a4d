/**
 * The ground floor: value types for objects, byte ranges and the grid of fixed-size blocks that an
 * object is cut into. Nothing here does I/O, and nobody outside divides by the block size.
 *
 * <p>Internal to S3E but for {@link ByteRange}, {@link ObjectRef}.
 */
@NullMarked
package io.s3e.block;

import org.jspecify.annotations.NullMarked;
