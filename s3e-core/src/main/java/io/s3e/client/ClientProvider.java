// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

/**
 * Makes the client of one tenant, once its engine knows how much memory there is; once more, with
 * less, where another client has taken some meanwhile: the one before is closed then.
 */
@FunctionalInterface
public interface ClientProvider {
  /**
   * @param memory what the client may use
   * @return a client whose {@link ClientLimits#ownedBytes()} is at most {@code memory.ownedBytes()}
   */
  ObjectClient create(ClientMemory memory);
}
