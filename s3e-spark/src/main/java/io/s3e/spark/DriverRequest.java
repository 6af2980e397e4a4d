// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

/** What an executor asks the driver's part for. */
enum DriverRequest {
  /** The secret that the cache on disk of scope {@code app} is encrypted with; 32 bytes. */
  CACHE_SECRET,

  /** What past runs have learnt of tables, as the adapter's history writes it. */
  HISTORY
}
