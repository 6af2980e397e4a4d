/**
 * The things of which a JVM has one: its end, its direct memory, the account of S3E's memory over
 * all class loaders; and what the class loader of S3E's classes must leave nowhere. A leaf that
 * everything may ask and that imports nothing of S3E's.
 *
 * <p>Internal to S3E.
 */
@NullMarked
package io.s3e.jvm;

import org.jspecify.annotations.NullMarked;
