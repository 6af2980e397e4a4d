// SPDX-License-Identifier: Apache-2.0
package io.s3e.block;

import org.jspecify.annotations.Nullable;

/** Block {@code index}, from 0, of one immutable content. */
public record BlockId(ObjectVersion version, long index) {
  // Written out, as in the other records that the first read compares: linking what Java makes of a
  // record takes 3 ms and more of it.
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof BlockId that && index == that.index && version.equals(that.version);
  }

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
