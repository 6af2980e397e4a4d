package io.s3e.stream;

import java.time.Duration;

/**
 * The settings that all streams of a tenant have in common.
 *
 * @param requestBytes longest GET, in bytes
 * @param readTimeout time without progress after which a read fails
 */
public record StreamSettings(int requestBytes, Duration readTimeout) {}
