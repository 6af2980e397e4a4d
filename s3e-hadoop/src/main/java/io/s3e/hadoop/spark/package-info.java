/**
 * What the adapter asks of Spark where Spark is there: by method handles, since the jar is used
 * without Spark as well, and with many versions of it.
 */
@NullMarked
package io.s3e.hadoop.spark;

import org.jspecify.annotations.NullMarked;
