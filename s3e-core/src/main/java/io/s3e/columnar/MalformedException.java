// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

/**
 * Bytes are not what their format allows, more than S3E is willing to read, or of a codec that is
 * not to be had. Without a stack: whoever wrote the bytes decides how often it is thrown.
 */
final class MalformedException extends Exception {
  private static final long serialVersionUID = 1L;

  MalformedException(String what) {
    super(what, null, false, false);
  }
}
