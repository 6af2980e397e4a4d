/** Tests of the bundle jar itself; they run after it has been packaged (tag {@code bundle}). */
package io.s3e.hadoop.bundle;
