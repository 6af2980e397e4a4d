// SPDX-License-Identifier: Apache-2.0
package io.s3e;

/** Hears how far a transfer has come. Called on the transferring thread, after each chunk. */
@FunctionalInterface
public interface ProgressListener {
  /** Hears nothing. */
  ProgressListener NONE = (done, total) -> {};

  /**
   * @param done bytes that have arrived at their destination, growing
   * @param total bytes in all
   */
  void onProgress(long done, long total);
}
