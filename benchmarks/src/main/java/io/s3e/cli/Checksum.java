// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;

/** The protection of an upload beside TLS. */
enum Checksum {
  /**
   * The SDK's choice for AWS; none for other stores, many of which refuse what they do not know.
   */
  AUTO(null),
  NONE(null),
  CRC32(ChecksumAlgorithm.CRC32),
  CRC32C(ChecksumAlgorithm.CRC32_C),
  SHA1(ChecksumAlgorithm.SHA1),
  SHA256(ChecksumAlgorithm.SHA256);

  private final @Nullable ChecksumAlgorithm algorithm;

  Checksum(@Nullable ChecksumAlgorithm algorithm) {
    this.algorithm = algorithm;
  }

  /** The algorithm that requests name; null if they name none. */
  @Nullable ChecksumAlgorithm algorithm() {
    return algorithm;
  }

  /** Whether the SDK adds what nobody has named. */
  boolean isLeftToSdk(boolean aws) {
    return this == AUTO && aws;
  }
}
