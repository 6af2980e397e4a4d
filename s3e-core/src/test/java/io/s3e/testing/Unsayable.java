// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

/** An exception that a log cannot print: who logs it is met by another one. */
public final class Unsayable extends RuntimeException {
  private static final long serialVersionUID = 1;

  @Override
  public String toString() {
    throw new IllegalStateException("as users' exceptions may");
  }
}
