// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.block.ObjectRef;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * {@code s3a://BUCKET/KEY} as a user writes it. The key is taken literally: nothing in it is
 * decoded, and an object called {@code a%20b} is written so.
 *
 * @param bucket not empty
 * @param key may be empty, or end with a slash, where a command adds a file's name
 */
record ObjectUri(String bucket, String key) {
  static final String FORM = "s3a://BUCKET/KEY or s3://BUCKET/KEY";

  /** Whether that is meant to be an object, well formed or not. */
  static boolean isOne(String text) {
    return text.startsWith("s3a://") || text.startsWith("s3://");
  }

  static ObjectUri parse(String text) {
    String rest = isOne(text) ? text.substring(text.indexOf("://") + "://".length()) : "";
    int slash = rest.indexOf('/');
    String bucket = slash < 0 ? rest : rest.substring(0, slash);
    if (bucket.isEmpty()) {
      throw new IllegalArgumentException("expected " + FORM + " instead of '" + text + "'");
    }
    return new ObjectUri(bucket, slash < 0 ? "" : rest.substring(slash + 1));
  }

  /**
   * @throws IllegalArgumentException if there is no key
   */
  ObjectRef object() {
    if (key.isEmpty()) {
      throw new IllegalArgumentException(this + " names no object: expected " + FORM);
    }
    return new ObjectRef(bucket, key);
  }

  /** Whether a file's name has to be added to make it an object. */
  boolean isFolder() {
    return key.isEmpty() || key.endsWith("/");
  }

  /** The object of that name in this folder. */
  ObjectRef child(String name) {
    return new ObjectRef(bucket, key + name);
  }

  /** The part of the key after the last slash; empty for a folder. */
  String lastName() {
    return key.substring(key.lastIndexOf('/') + 1);
  }

  @Override
  public String toString() {
    return "s3://" + bucket + "/" + key;
  }

  /** For picocli. */
  static final class Converter implements ITypeConverter<ObjectUri> {
    @Override
    public ObjectUri convert(String value) {
      try {
        return parse(value);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }
}
