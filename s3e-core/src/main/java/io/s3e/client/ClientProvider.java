// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

/**
 * Makes the client of one tenant, once its engine knows how much memory there is. Called again,
 * with less, where another client has taken some of it meanwhile: the client made before is closed
 * then.
 */
@FunctionalInterface
public interface ClientProvider {
  /**
   * @param memory what the client may use
   * @return a client whose {@link ClientLimits#ownedBytes()} is at most {@code memory.ownedBytes()}
   */
  ObjectClient create(ClientMemory memory);
}
