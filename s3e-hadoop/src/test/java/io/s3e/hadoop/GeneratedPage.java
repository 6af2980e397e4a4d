// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A page of docs/ that is made of a table in the code. */
public final class GeneratedPage {
  private GeneratedPage() {}

  /**
   * Fails where the page differs from {@code text}; with {@code -Ds3e.docs.write=true} the page is
   * written first.
   *
   * @param table what the page is made of, for the message
   */
  public static void isUpToDate(String page, String table, String text) throws IOException {
    Path document = Path.of("..", "docs", page);
    if (Boolean.getBoolean("s3e.docs.write")) {
      Files.writeString(document, text);
    }
    assertThat(Files.readString(document))
        .as("docs/%s is generated from %s; CONTRIBUTING.md says how", page, table)
        .isEqualTo(text);
  }
}
