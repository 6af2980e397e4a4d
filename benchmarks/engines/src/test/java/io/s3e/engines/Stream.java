// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import io.s3e.engines.inside.CountedS3A;
import io.s3e.engines.inside.CountedS3E;
import java.util.HashMap;
import java.util.Map;

/** Who reads what an engine asks for: the keys of core-site.xml that a user would set. */
public enum Stream {
  /** The control: S3A's classic stream, its reads counted. */
  CLASSIC(Map.of("fs.s3a.impl", CountedS3A.class.getName(), "fs.s3a.input.stream.type", "classic")),

  /** S3A's analytics stream, its reads counted. */
  ANALYTICS(
      Map.of("fs.s3a.impl", CountedS3A.class.getName(), "fs.s3a.input.stream.type", "analytics")),

  S3E(s3eWith(Map.of())),

  /** S3E without its prediction of columns. */
  UNPREDICTED(s3eWith(Map.of("fs.s3a.s3e.columnar", "off"))),

  /** S3E, its reads counted. */
  COUNTED_S3E(Map.of("fs.s3a.impl", CountedS3E.class.getName())),

  /** S3E as its Spark plugin brings it: no jar on the class path and no key. */
  PLUGIN(Map.of());

  private final Map<String, String> keys;

  Stream(Map<String, String> keys) {
    this.keys = keys;
  }

  /** S3E as a user sets it, and more keys. */
  private static Map<String, String> s3eWith(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(more);
    all.put("fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem");
    all.put("fs.AbstractFileSystem.s3a.impl", "io.s3e.hadoop.S3EAbstractFileSystem");
    return Map.copyOf(all);
  }

  public Map<String, String> keys() {
    return keys;
  }

  /** Whether the bundle jar has to be there. */
  boolean isByS3E() {
    return this == S3E || this == UNPREDICTED || this == COUNTED_S3E;
  }
}
