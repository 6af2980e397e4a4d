// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.fetch.Fetcher;
import io.s3e.fetch.HeadFetch;
import java.util.concurrent.Executor;

/**
 * The engine as the streams of one tenant need it.
 *
 * @param copying runs the copying of vectored reads, which never waits but for the application
 * @param waiting runs what vectored reads have to wait for: room in memory, and a HEAD; and ends
 *     late ones
 */
public record StreamSource(Fetcher fetcher, HeadFetch heads, Executor copying, Executor waiting) {}
