// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import java.io.Serializable;

/**
 * An executor's report to the driver of what it has learnt of tables since those before, and of its
 * tasks, in place of those before.
 *
 * @param facts as the adapter's history writes them
 */
record HistoryReport(String executorId, byte[] facts) implements Serializable {
  private static final long serialVersionUID = 1;
}
