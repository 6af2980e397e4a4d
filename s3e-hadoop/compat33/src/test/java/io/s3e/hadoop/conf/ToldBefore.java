// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

/** The lines that this JVM has told once. */
public final class ToldBefore {
  private ToldBefore() {}

  /** Has them told again: a test that is repeated has the same JVM. */
  public static void forget() {
    ToldOnce.forget();
  }
}
