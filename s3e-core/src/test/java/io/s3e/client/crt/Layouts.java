// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;

/** The CRT client's division of memory, for tests of other packages. */
public final class Layouts {
  private Layouts() {}

  /** Slots and requests of a client that owns so much, with the default request and block. */
  public static ClientLimits lending(long ownedBytes, int connections) {
    return CrtLayout.lending(new ClientMemory(ownedBytes, 8 << 20, 64 << 10), connections);
  }
}
