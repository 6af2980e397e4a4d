// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.hadoop.setup.OldJava;

/** The main class of the bundle jar: runs {@code DoctorProgram}, or says that Java is too old. */
public final class Doctor {
  private Doctor() {}

  /** Exits with the code that {@code --help} tells. */
  public static void main(String[] args) throws Throwable {
    OldJava.run("io.s3e.hadoop.doctor.DoctorProgram", args);
  }
}
