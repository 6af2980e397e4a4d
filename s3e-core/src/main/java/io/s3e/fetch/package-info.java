/**
 * Between the readers and the client: {@link io.s3e.fetch.Fetcher} finds or fetches a block, {@link
 * io.s3e.fetch.RunFetch} is one run of blocks through all its attempts, {@link
 * io.s3e.fetch.Attempt} one GET of it, {@link io.s3e.fetch.Landing} where its bytes go, {@link
 * io.s3e.fetch.ResponseCheck} what an answer must look like before a byte of it is served.
 */
@NullMarked
package io.s3e.fetch;

import org.jspecify.annotations.NullMarked;
