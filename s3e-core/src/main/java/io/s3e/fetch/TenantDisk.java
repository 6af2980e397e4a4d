// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import java.util.function.BooleanSupplier;

/**
 * One tenant's use of the engine's cache on local disk.
 *
 * @param cache the engine's
 * @param config the tenant's: which of its blocks may go there
 * @param store the name of the store that the tenant reads
 * @param isAlone whether nobody else writes to the cache, so that all that is in it was fetched by
 *     this tenant
 */
public record TenantDisk(
    DiskCache cache, DiskCacheConfig config, String store, BooleanSupplier isAlone) {}
