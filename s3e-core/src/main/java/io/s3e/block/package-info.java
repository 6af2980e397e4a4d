/**
 * The ground floor: value types for objects, byte ranges and the grid of fixed-size blocks that an
 * object is cut into. Nothing here does I/O, and nobody outside divides by the block size.
 */
@NullMarked
package io.s3e.block;

import org.jspecify.annotations.NullMarked;
