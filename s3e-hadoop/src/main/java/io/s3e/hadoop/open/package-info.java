/**
 * What is known of a file before it is opened, so that opening it needs no HEAD: a status that the
 * same thread has just asked for, and what an announcement has brought.
 */
@NullMarked
package io.s3e.hadoop.open;

import org.jspecify.annotations.NullMarked;
