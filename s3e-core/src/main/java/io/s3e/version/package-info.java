/** S3E's own version; a leaf that every package may know. */
@NullMarked
package io.s3e.version;

import org.jspecify.annotations.NullMarked;
