// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.fault.FaultPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Patience and sizes of one tenant's fetches.
 *
 * @param stallTimeout silence after which an attempt is given up
 * @param readTimeout time without progress after which a reader gives up
 * @param accessMaxAge how long S3's answer to a GET allows to serve bytes that are in memory or on
 *     disk; 0: each opening asks for itself
 * @param store names the store; tenants that name the same one share its gates. Null: this tenant's
 *     alone
 */
public record FetchConfig(
    int blockBytes,
    int requestBytes,
    FaultPolicy policy,
    Duration stallTimeout,
    Duration readTimeout,
    Duration accessMaxAge,
    @Nullable String store) {}
