/** The end of the JVM, as one value: a leaf that everything may ask and that imports nothing. */
@NullMarked
package io.s3e.jvm;

import org.jspecify.annotations.NullMarked;
