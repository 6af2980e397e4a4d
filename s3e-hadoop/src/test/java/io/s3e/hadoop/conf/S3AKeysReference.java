// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import io.s3e.hadoop.conf.S3AKey.Meaning;
import io.s3e.hadoop.conf.S3AKey.Subject;
import java.util.stream.Collectors;

/** The text of docs/S3A-KEYS.md from {@link S3AKeys}. A test fails when the file is out of date. */
final class S3AKeysReference {
  private S3AKeysReference() {}

  /** The whole document. */
  static String markdown() {
    StringBuilder text = new StringBuilder(INTRODUCTION);
    text.append("| meaning | under S3E the key |\n|---|---|\n");
    for (Meaning meaning : Meaning.values()) {
      text.append("| ").append(meaning.word).append(" | ");
      text.append(meaning.explanation).append(" |\n");
    }
    text.append(NOTES);
    for (Subject subject : S3AKeys.ALL) {
      text.append("\n## ").append(subject.title()).append("\n\n");
      text.append("| keys | meaning | |\n|---|---|---|\n");
      for (S3AKey key : subject.keys()) {
        text.append("| ").append(names(key)).append(" | ").append(meaning(key));
        text.append(" | ").append(key.text()).append(" |\n");
      }
    }
    return text.toString();
  }

  private static String names(S3AKey key) {
    return key.names().stream().map(name -> "`" + name + "`").collect(Collectors.joining("<br>"));
  }

  private static String meaning(S3AKey key) {
    if (key.ofS3E().isEmpty()) {
      return key.meaning().word;
    }
    return key.ofS3E().stream()
        .map(ConfigKey::name)
        .map(name -> "[`" + name + "`](CONFIGURATION.md#" + name.replace(".", "") + ")")
        .collect(
            Collectors.joining(
                ", ",
                key.meaning().word + (key.meaning() == Meaning.MAPPED ? " to " : "; see "),
                ""));
  }

  private static final String INTRODUCTION =
      """
      <!-- Generated from io.s3e.hadoop.conf.S3AKeys by io.s3e.hadoop.conf.S3AKeysReference. Do not edit. -->
      # S3A's keys under S3E

      Every key of hadoop-aws 3.4.1 to 3.5.0 that begins with `fs.s3a.`, and what becomes of it when
      S3E reads. Each key but `fs.s3a.impl` and `fs.s3a.impl.disable.cache`, which Hadoop itself
      reads, can be given for one bucket, as `fs.s3a.bucket.NAME.…`; for one bucket
      `fs.s3a.bucket.NAME.s3e.enabled` switches S3E on and off.

      """;

  private static final String NOTES =
      """

      "No effect" is said of reads by S3E's own client (`crt`). S3A's own calls (HEAD, listing,
      writing) follow the key in any case, and so do reads where S3A's client reads, by
      `fs.s3a.s3e.client` or because S3E's own cannot.

      A user has set a key, in the sense of "mapped", if its value is not the default of S3A's. S3A
      raises time-outs below 15 s to that, and so does S3E when it takes one over. A key of S3E's own
      that is set wins over what S3A's keys say. [CONFIGURATION](CONFIGURATION.md) has the keys that
      begin with `fs.s3a.s3e.`; names that begin with `fs.s3a.capability.` are path capabilities and
      no settings.
      """;
}
