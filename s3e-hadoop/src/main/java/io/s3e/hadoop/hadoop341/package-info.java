/**
 * Opening files on Hadoop 3.4.1, which has no stream SPI: all that exists for that version only.
 */
@NullMarked
package io.s3e.hadoop.hadoop341;

import org.jspecify.annotations.NullMarked;
