// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

/** How the bodies of answers come from the CRT. */
public enum CrtDelivery {
  /** Through byte arrays. */
  COPIED,
  /** In buffers of direct memory, where there is enough of it; a client may lend them. */
  LENT
}
