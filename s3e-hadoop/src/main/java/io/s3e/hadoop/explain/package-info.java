/**
 * Each GET of an engine as a line of a file or as a span, as {@code fs.s3a.s3e.explain} asks:
 * {@link io.s3e.hadoop.explain.GetFiles}, {@link io.s3e.hadoop.explain.GetSpans}.
 */
@NullMarked
package io.s3e.hadoop.explain;

import org.jspecify.annotations.NullMarked;
