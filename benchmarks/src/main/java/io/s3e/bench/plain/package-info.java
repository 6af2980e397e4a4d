/**
 * Plain reads of local files, which are the ceiling of a cache on disk: copies of the objects, file
 * systems that read them where {@code s3a://} is asked for, and the page cache below them.
 */
@NullMarked
package io.s3e.bench.plain;

import org.jspecify.annotations.NullMarked;
