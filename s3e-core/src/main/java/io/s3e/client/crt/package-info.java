/**
 * The client over the AWS CRT's native {@code S3Client}, the one that S3E makes itself: {@code
 * CrtObjectClient}. Everything that touches native code is here, and nothing outside links against
 * it: {@link io.s3e.client.library.CrtLibrary} creates {@link io.s3e.client.crt.CrtEntry} by name,
 * maybe in a class loader that holds another copy of these classes than the application's loader.
 *
 * <p>Internal to S3E.
 */
@NullMarked
package io.s3e.client.crt;

import org.jspecify.annotations.NullMarked;
