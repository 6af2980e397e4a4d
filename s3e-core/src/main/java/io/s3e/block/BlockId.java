// SPDX-License-Identifier: Apache-2.0
package io.s3e.block;

/** Block {@code index}, from 0, of one immutable content. */
public record BlockId(ObjectVersion version, long index) {
  @Override
  public int hashCode() {
    // Spread the index: adjacent blocks of one object are the common case.
    return version.hashCode() * 31 + (int) (index * 0x9E3779B1L);
  }

  @Override
  public String toString() {
    return "block " + index + " of " + version;
  }
}
