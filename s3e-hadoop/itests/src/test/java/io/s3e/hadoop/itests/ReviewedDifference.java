// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.itests;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A test that may end differently with S3A and with S3E, and why: a line of {@code
 * reviewed-differences.tsv}. A result that is not the same in every run is written as its
 * alternatives, {@code passed or skipped}.
 */
record ReviewedDifference(List<String> control, List<String> subject, String reason) {
  private static final String FILE = "reviewed-differences.tsv";

  boolean covers(Outcome withS3A, Outcome withS3E) {
    return control.contains(withS3A.result()) && subject.contains(withS3E.result());
  }

  /** By the name of the test, in the order of the file. */
  static Map<String, ReviewedDifference> load() throws IOException {
    Map<String, ReviewedDifference> differences = new LinkedHashMap<>();
    for (String line : Lines.of(FILE)) {
      String[] fields = line.split("\t");
      if (fields.length != 4) {
        throw new IOException(FILE + ": not <test, S3A, S3E, reason>: " + line);
      }
      ReviewedDifference difference =
          new ReviewedDifference(results(fields[1]), results(fields[2]), fields[3]);
      if (differences.put(fields[0], difference) != null) {
        throw new IOException(FILE + ": a second line for " + fields[0]);
      }
    }
    return differences;
  }

  private static List<String> results(String field) {
    return List.of(field.split(" or "));
  }
}
