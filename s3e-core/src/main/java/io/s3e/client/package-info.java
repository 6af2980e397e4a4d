/**
 * The interface between the read path and an S3 client: one ranged GET at a time, answered through
 * {@link io.s3e.client.ResponseHandler}. Implementations live in {@code client.crt}, the only place
 * that imports the CRT, and in {@code client.given}, the only one that imports the AWS SDK. Clients
 * do not retry, validate or count: {@code io.s3e.fetch} does, the same for all of them. But for
 * {@code client.fallback}: until one of its two clients has reached the store, it sends again.
 *
 * <p>Internal to S3E but for {@link ClientLimits}, {@link ClientMemory}, {@link ClientProvider},
 * {@link CredentialsSource}, {@link ForwardingClient}, {@link ForwardingHandler}, {@link
 * GetRequest}, {@link HeadRequest}, {@link LentBuffer}, {@link ObjectClient}, {@link ObjectHead},
 * {@link Remedy}, {@link RequestFailure}, {@link ResponseHandler}, {@link ResponseHead}, {@link
 * StoreAnswer}, {@link Transport}.
 */
@NullMarked
package io.s3e.client;

import org.jspecify.annotations.NullMarked;
