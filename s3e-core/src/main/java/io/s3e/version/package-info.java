/**
 * S3E's own version; a leaf that every package may know.
 *
 * <p>Internal to S3E.
 */
@NullMarked
package io.s3e.version;

import org.jspecify.annotations.NullMarked;
