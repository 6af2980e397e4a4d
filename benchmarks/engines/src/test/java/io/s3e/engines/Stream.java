package io.s3e.engines;

import io.s3e.engines.inside.CountedS3A;
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
          "io.s3e.hadoop.S3EAbstractFileSystem"));

  private final Map<String, String> keys;

  Stream(Map<String, String> keys) {
    this.keys = keys;
  }

  public Map<String, String> keys() {
    return keys;
  }
}
