// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.fetch.Fetcher;
import io.s3e.fetch.HeadFetch;
import java.util.concurrent.Executor;

/**
 * The engine as the streams of one tenant need it. {@code copying} runs what never waits but for
 * the application; {@code waiting} runs what waits for room in memory and for HEADs, and ends late
 * reads. {@code prefetch} is whether anything is fetched ahead of readers, who share what may be
 * with {@code askers}.
 */
public record StreamSource(
    Fetcher fetcher,
    HeadFetch heads,
    Executor copying,
    Executor waiting,
    boolean prefetch,
    Askers askers) {}
