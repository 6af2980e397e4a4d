// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.itests;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** The lines of a resource, without the empty ones and those that begin with {@code #}. */
final class Lines {
  private Lines() {}

  static List<String> of(String resource) throws IOException {
    try (InputStream in = Lines.class.getResourceAsStream("/" + resource)) {
      if (in == null) {
        throw new IOException("No resource " + resource);
      }
      return new String(in.readAllBytes(), UTF_8)
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .toList();
    }
  }
}
