// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The meaning that keys of S3A have for the reads of S3E.
 *
 * @param names full names; one that ends with {@code .*} stands for all keys that begin so
 * @param meaning in one word
 * @param ofS3E the keys of S3E that a value becomes the default of, or that do the same there
 * @param text what the keys do, or why they do nothing; in Markdown
 */
record S3AKey(List<String> names, Meaning meaning, List<ConfigKey<?>> ofS3E, String text) {

  /** The fate of a value under S3E. */
  enum Meaning {
    /** It does what it does in S3A. */
    SAME("same", "does what it does in S3A: S3A itself acts on it, or S3E does as S3A"),
    /** It becomes the default of a key of S3E's. */
    MAPPED("mapped", "where a user has set it, it is the default of a key of S3E's"),
    /** S3E reads, by the client that S3A made. */
    S3A_CLIENT("S3A's client", "S3E reads, but by the client that S3A made; one INFO line says so"),
    /** S3E does not read. */
    S3A_STREAM("S3A's stream", "S3A's own stream reads and S3E does not; one INFO line says so"),
    /** S3E sets another value. */
    OVERRIDDEN("overridden", "S3E sets it; one INFO line says so if a user has set it otherwise"),
    /** S3E does not look at it. */
    NO_EFFECT("no effect", "reads of S3E do not depend on it, for the reason given"),
    /** S3A does not look at it either. */
    UNUSED("unused", "has no effect in S3A of Hadoop 3.4.1 and later either");

    final String word;
    final String explanation;

    Meaning(String word, String explanation) {
      this.word = word;
      this.explanation = explanation;
    }
  }

  /**
   * Keys that belong together.
   *
   * @param title the heading
   */
  record Subject(String title, List<S3AKey> keys) {
    Subject(String title, S3AKey... keys) {
      this(title, List.of(keys));
    }
  }

  static S3AKey same(String text, String... names) {
    return new S3AKey(List.of(names), Meaning.SAME, List.of(), text);
  }

  static S3AKey byS3AsClient(String text, String... names) {
    return new S3AKey(List.of(names), Meaning.S3A_CLIENT, List.of(), text);
  }

  static S3AKey byS3AsStream(String text, String... names) {
    return new S3AKey(List.of(names), Meaning.S3A_STREAM, List.of(), text);
  }

  static S3AKey overridden(String text, String... names) {
    return new S3AKey(List.of(names), Meaning.OVERRIDDEN, List.of(), text);
  }

  static S3AKey noEffect(String text, String... names) {
    return new S3AKey(List.of(names), Meaning.NO_EFFECT, List.of(), text);
  }

  static S3AKey unused(String text, String... names) {
    return new S3AKey(List.of(names), Meaning.UNUSED, List.of(), text);
  }

  /** Names the keys of S3E's that the table shows beside these. */
  S3AKey see(ConfigKey<?>... keys) {
    return new S3AKey(names, meaning, List.of(keys), text);
  }

  /** Keys whose values become defaults of the keys of S3E's that say so themselves. */
  static S3AKey mapped(String text, String... names) {
    List<ConfigKey<?>> to = new ArrayList<>();
    for (ConfigKey<?> key : S3EKeys.ALL) {
      S3ADefault<?> from = key.fromS3A();
      if (from != null && !Collections.disjoint(from.keys(), List.of(names))) {
        to.add(key);
      }
    }
    return new S3AKey(List.of(names), Meaning.MAPPED, List.copyOf(to), text);
  }
}
