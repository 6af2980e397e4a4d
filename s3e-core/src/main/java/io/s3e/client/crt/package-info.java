/**
 * The client over the AWS CRT's native {@code S3Client}, the fastest of S3E's clients: {@link
 * io.s3e.client.crt.CrtObjectClient}. Everything that touches native code is here; {@link
 * io.s3e.client.crt.CrtLibrary} says without risk whether it can be used at all.
 */
@NullMarked
package io.s3e.client.crt;

import org.jspecify.annotations.NullMarked;
