// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

/**
 * The memory that all engines of this JVM hold, as operators see it. Attributes alone: whoever
 * reaches the MBean server, from another process too, may look and can do nothing. Engines join by
 * {@link RegisteredAccount}.
 */
public interface MemoryAccountMBean {
  /** The most that all engines may hold together, in bytes. */
  long getLimit();

  /** Bytes that the engines hold now: native memory of connections and pooled buffers. */
  long getReserved();

  /** Bytes of that which engines give back to each other: pooled buffers, and idle connections. */
  long getPooled();

  /** How many engines there are: one for each class loader that reads. */
  int getEngines();
}
