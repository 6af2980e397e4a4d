/**
 * Between the readers and the client. Calls go downward: a fetcher starts runs of a {@link
 * io.s3e.fetch.Tenant}, a run has one attempt at a time, and what comes up again are outcomes and
 * the end of a run, through interfaces of the one that reports.
 *
 * <p>{@link io.s3e.fetch.Fetcher} finds or fetches a block, for readers whose waits are those of
 * {@link io.s3e.fetch.ReaderWaits}. {@link io.s3e.fetch.Resolver} says what can be fetched as one
 * run; {@link io.s3e.fetch.RunFetch} fetches it through all its attempts, {@link
 * io.s3e.fetch.Attempt} is one GET of it, {@link io.s3e.fetch.LateGet} what is done where that is
 * late, {@link io.s3e.fetch.Landing} where its bytes go, {@link io.s3e.fetch.ResponseCheck} what an
 * answer must look like before a byte of it is taken, {@link io.s3e.fetch.Body} from when on its
 * bytes may be served. {@link io.s3e.fetch.Origin} is the run as its blocks know it. Runs go to S3
 * alone: what is on disk a reader takes by {@link io.s3e.fetch.DiskBytes}, and {@link
 * io.s3e.fetch.DiskTier} is where everybody asks what that is.
 *
 * <p>Internal to S3E but for {@link ExplainConfig}, {@link GetLedger}, {@link GetRecord}, {@link
 * GetSink}, {@link ObjectChangedException}.
 */
@NullMarked
package io.s3e.fetch;

import org.jspecify.annotations.NullMarked;
