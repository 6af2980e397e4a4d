/**
 * Where the AWS CRT comes from and whether it can be used. {@link io.s3e.client.library.CrtLibrary}
 * is the only way to the clients of {@code io.s3e.client.crt}: nothing outside that package links
 * against it or against the CRT's own types, so that both can live in a class loader of S3E's own.
 * The types that cross the boundary are those of this package, of {@code io.s3e.client}, {@code
 * io.s3e.block} and {@code io.s3e.jvm}, which the parent loader defines for both.
 *
 * <p>Internal to S3E.
 */
@NullMarked
package io.s3e.client.library;

import org.jspecify.annotations.NullMarked;
