/**
 * The way back from S3E's own client: {@link io.s3e.client.fallback.FallbackClient} reads by a
 * second client where the first one cannot reach the store.
 *
 * <p>Internal to S3E.
 */
@NullMarked
package io.s3e.client.fallback;

import org.jspecify.annotations.NullMarked;
