// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

/** A read gave bytes that are not the object's, or ended too early. */
final class WrongBytesException extends Exception {
  private static final long serialVersionUID = 1;

  WrongBytesException(String message) {
    super(message);
  }
}
