/**
 * Each GET of an engine as a line of a file, where {@code fs.s3a.s3e.explain} asks for all: {@link
 * io.s3e.hadoop.explain.GetFiles}.
 */
@NullMarked
package io.s3e.hadoop.explain;

import org.jspecify.annotations.NullMarked;
