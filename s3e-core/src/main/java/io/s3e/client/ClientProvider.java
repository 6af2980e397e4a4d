// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

/**
 * Makes the client of one engine once the engine knows how much memory there is. Not called again
 * for the same engine.
 */
@FunctionalInterface
public interface ClientProvider {
  /**
   * @param memory what the client may use
   * @return a client whose {@link ClientLimits#ownedBytes()} is at most {@code memory.ownedBytes()}
   */
  ObjectClient create(ClientMemory memory);
}
