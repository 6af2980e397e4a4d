// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import io.s3e.engines.inside.CountedS3A;
import io.s3e.engines.inside.CountedS3E;
import java.util.Map;

/** Who reads what an engine asks for: the keys of core-site.xml that a user would set. */
public enum Stream {
  /** The control: S3A's classic stream, its reads counted. */
  CLASSIC(Map.of("fs.s3a.impl", CountedS3A.class.getName(), "fs.s3a.input.stream.type", "classic")),

  /** S3A's analytics stream, its reads counted. */
  ANALYTICS(
      Map.of("fs.s3a.impl", CountedS3A.class.getName(), "fs.s3a.input.stream.type", "analytics")),

  S3E(
      Map.of(
          "fs.s3a.impl",
          "io.s3e.hadoop.S3EFileSystem",
          "fs.AbstractFileSystem.s3a.impl",
          "io.s3e.hadoop.S3EAbstractFileSystem")),

  /** S3E without its prediction of columns. */
  UNPREDICTED(
      Map.of(
          "fs.s3a.impl",
          "io.s3e.hadoop.S3EFileSystem",
          "fs.AbstractFileSystem.s3a.impl",
          "io.s3e.hadoop.S3EAbstractFileSystem",
          "fs.s3a.s3e.columnar",
          "off")),

  /** S3E, its reads counted. */
  COUNTED_S3E(Map.of("fs.s3a.impl", CountedS3E.class.getName())),

  /** S3E as its Spark plugin brings it: no jar on the class path and no key. */
  PLUGIN(Map.of());

  private final Map<String, String> keys;

  Stream(Map<String, String> keys) {
    this.keys = keys;
  }

  public Map<String, String> keys() {
    return keys;
  }

  /** Whether the bundle jar has to be there. */
  boolean isByS3E() {
    return this == S3E || this == UNPREDICTED || this == COUNTED_S3E;
  }
}
