// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

/** The clients whose ceilings are measured. */
public enum RawClientKind {
  /** The CRT with borrowed direct buffers, as S3E reads with it. */
  CRT("crt"),
  /** The CRT with a {@code byte[]} for each response, as older versions of it deliver. */
  CRT_BYTES("crt-bytes"),
  /** The SDK's synchronous client over Apache HttpClient. */
  SYNC("sync");

  private final String label;

  RawClientKind(String label) {
    this.label = label;
  }

  /** The name within the name of an engine. */
  public String label() {
    return label;
  }
}
