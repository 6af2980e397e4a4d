/**
 * Clients over the AWS SDK for Java: {@link io.s3e.client.sdk.SyncObjectClient} with a pool of
 * threads, the fallback where no native library loads, and {@link
 * io.s3e.client.sdk.AsyncObjectClient} over any asynchronous client of the user's.
 */
@NullMarked
package io.s3e.client.sdk;

import org.jspecify.annotations.NullMarked;
