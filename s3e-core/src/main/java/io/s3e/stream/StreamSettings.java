package io.s3e.stream;

import java.time.Duration;

/**
 * The settings that all streams of a tenant have in common.
 *
 * @param prefetch whether anything is fetched before it is asked for
 * @param requestBytes longest GET, in bytes
 * @param maxWindowBytes cap of the readahead window in bytes; 0 for none
 * @param coalesceGapBytes readVectored joins ranges no farther apart, in bytes
 * @param readTimeout longest time that one read waits in all
 */
public record StreamSettings(
    boolean prefetch,
    int requestBytes,
    long maxWindowBytes,
    int coalesceGapBytes,
    Duration readTimeout) {}
