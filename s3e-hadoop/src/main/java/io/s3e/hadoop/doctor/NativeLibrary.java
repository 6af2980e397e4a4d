// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.client.library.CrtLibrary;
import io.s3e.hadoop.doctor.Report.Section;
import org.jspecify.annotations.Nullable;

/** The AWS CRT that S3E reads by: whether its native library loads on this machine. */
final class NativeLibrary {
  private NativeLibrary() {}

  static void check(Report report) {
    Report.Part part = report.in(Section.CLASS_PATH);
    @Nullable String problem = CrtLibrary.unusableBecause();
    if (problem == null) {
      part.ok("AWS CRT of S3E", CrtLibrary.description() + "; its native library loads");
    } else {
      part.todo(
          "AWS CRT of S3E",
          problem,
          "Reads go by S3A's client, which is slower, until the AWS CRT can be used:"
              + " docs/TROUBLESHOOTING.md, \"Which client reads\"");
    }
  }
}
