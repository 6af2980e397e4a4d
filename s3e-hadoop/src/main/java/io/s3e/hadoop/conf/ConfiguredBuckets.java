// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import io.s3e.hadoop.conf.S3AKey.Subject;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;

/** The buckets that a configuration has settings of their own for. */
public final class ConfiguredBuckets {
  private static final String OF_BUCKET = "fs.s3a.bucket.";
  private static final String OF_ALL = "fs.s3a.";
  private static final String OF_S3E = S3EKeys.PREFIX.substring(OF_ALL.length());

  private static final Set<String> KEYS_OF_S3A =
      S3AKeys.ALL.stream()
          .map(Subject::keys)
          .flatMap(keys -> keys.stream().flatMap(key -> key.names().stream()))
          .collect(Collectors.toUnmodifiableSet());

  private ConfiguredBuckets() {}

  /**
   * Their names, in order. A bucket's name may have dots in it, so that the first split whose rest
   * is a key of S3A's or of S3E's decides; a key of neither names no bucket.
   */
  public static Set<String> in(Configuration conf) {
    Set<String> buckets = new TreeSet<>();
    for (Map.Entry<String, String> entry : conf) {
      if (entry.getKey().startsWith(OF_BUCKET)) {
        String rest = entry.getKey().substring(OF_BUCKET.length());
        for (int dot = rest.indexOf('.'); dot > 0; dot = rest.indexOf('.', dot + 1)) {
          String option = rest.substring(dot + 1);
          if (option.startsWith(OF_S3E) || KEYS_OF_S3A.contains(OF_ALL + option)) {
            buckets.add(rest.substring(0, dot));
            break;
          }
        }
      }
    }
    return buckets;
  }
}
