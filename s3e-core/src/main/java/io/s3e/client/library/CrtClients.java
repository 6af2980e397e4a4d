// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

import io.s3e.client.ClientMemory;
import io.s3e.client.ObjectClient;

/** Makes clients over the CRT: a class of {@code io.s3e.client.crt}, in the CRT's class loader. */
public interface CrtClients {
  /**
   * Opens a client.
   *
   * @throws CrtMemoryException if there is no transport to share, and no memory for two blocks
   * @throws IllegalArgumentException if the CRT can use none of the trusted authorities
   */
  ObjectClient open(CrtSettings settings, ClientMemory memory);
}
