// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

/** A repair that comes before the same request is sent again. */
public enum Remedy {
  /** None: the request goes as it was. */
  NONE,
  /** The provider is asked for credentials anew, and its answer is waited for. */
  CREDENTIALS,
  /** The offset of this machine's clock is learnt from the store's {@code Date}. */
  CLOCK
}
