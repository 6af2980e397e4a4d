package io.s3e.fetch;

import java.time.Duration;

/**
 * Patience and sizes of one tenant's fetches.
 *
 * @param blockBytes block size in bytes
 * @param requestBytes longest GET in bytes
 * @param maxAttempts attempts without a new block, in a row, after which a run has failed
 * @param retryBase pause before the second attempt
 * @param retryCap longest pause
 * @param stallTimeout silence after which an attempt is given up
 */
public record FetchConfig(
    int blockBytes,
    int requestBytes,
    int maxAttempts,
    Duration retryBase,
    Duration retryCap,
    Duration stallTimeout) {}
