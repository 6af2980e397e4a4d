// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.library;

/** The AWS CRT can be used, but not with so little memory. */
public final class CrtMemoryException extends CrtUnusableException {
  private static final long serialVersionUID = 1L;

  public CrtMemoryException(long bytes) {
    super(
        "it may have "
            + bytes
            + " bytes of the memory budget (fs.s3a.s3e.memory.budget under Hadoop), fewer than two"
            + " blocks",
        null);
  }
}
