// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.Row;

/** SHA-256 of rows as text, sorted, so that it does not depend on the order in which they come. */
final class RowDigest {
  private RowDigest() {}

  static String of(List<Row> rows) {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JVM has SHA-256", e);
    }
    rows.stream()
        .map(Row::toString)
        .sorted()
        .forEach(row -> digest.update((row + '\n').getBytes(StandardCharsets.UTF_8)));
    return HexFormat.of().formatHex(digest.digest());
  }
}
