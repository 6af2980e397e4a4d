// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.hadoop.setup.OldJava;

/** The main class of the jar: runs {@code S3eCommand}, or says that Java is too old. */
public final class S3e {
  private S3e() {}

  public static void main(String[] args) throws Throwable {
    OldJava.run("io.s3e.cli.S3eCommand", args);
  }
}
