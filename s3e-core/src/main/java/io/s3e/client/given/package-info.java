/**
 * The client over a blocking client of the AWS SDK that the host hands over: {@link
 * io.s3e.client.given.SyncObjectClient}, with a pool of threads, over an SDK client as such or over
 * a {@link io.s3e.client.given.BlockingStore}, as S3A's own client is. It works where the CRT does
 * not, and reads by whatever signer, proxy or interceptor the given client has. {@link
 * io.s3e.client.given.SdkCredentials} gives a provider of the SDK to clients that know nothing of
 * it. Programs without the SDK load no class of this package.
 */
@NullMarked
package io.s3e.client.given;

import org.jspecify.annotations.NullMarked;
