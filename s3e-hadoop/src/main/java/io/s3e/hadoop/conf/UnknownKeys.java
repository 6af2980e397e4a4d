// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the keys in S3E's name space that S3E does not have: typing errors, and keys of another
 * version. They are told, with what to do in place of one that has gone, and never refused. No
 * value is shown.
 */
public final class UnknownKeys {
  private static final Logger LOG = LoggerFactory.getLogger(UnknownKeys.class);

  /** The names of all keys, without what they begin with. */
  public static final List<String> KNOWN =
      Stream.concat(S3EKeys.ALL.stream().map(ConfigKey::name), Stream.of(DiskCacheKeys.SECRET))
          .map(name -> name.substring(S3EKeys.PREFIX.length()))
          .toList();

  /** What to do in place of a key that has gone, in words that end a sentence. */
  static final Map<String, String> GONE =
      Map.ofEntries(
          Map.entry("connect.timeout", "set fs.s3a.connection.establish.timeout, at least 15 s"),
          Map.entry(
              "max.connections",
              "fs.s3a.connection.maximum below 64 lowers the limit of connections, and "
                  + S3EKeys.THROUGHPUT_TARGET.name()
                  + " raises it"),
          Map.entry("stall.timeout", "set fs.s3a.connection.timeout, at least 15 s"),
          Map.entry("retry.interval", "it is 100 ms"),
          Map.entry("retry.interval.max", "it is 10 s"),
          Map.entry("vectored.gap.max", "it is 256 KiB"),
          Map.entry("client.threads", "it is " + AdapterConfig.CLIENT_THREADS),
          Map.entry("cache.breaker.pause", "it is 5 s"),
          Map.entry("cache.read.timeout", "it is 200 ms"),
          Map.entry("cache.write.rate", "there is no limit"),
          Map.entry("cache.required", "a WARN tells where there is no cache on disk"));

  private UnknownKeys() {}

  /**
   * Tells all unknown keys in one WARN line, if there are any that no file system has had alike.
   *
   * @param owner what to call the file system
   * @param original as for {@link #in}
   * @param bucket as for {@link #in}
   */
  public static void tell(String owner, Configuration original, @Nullable String bucket) {
    List<String> unknown = in(original, bucket);
    String all = String.join("; ", unknown);
    String format = "S3E of {} does not know, and ignores: {}";
    if (!unknown.isEmpty() && ToldOnce.isNew(all)) {
      LOG.warn(format, owner, all);
    } else if (!unknown.isEmpty()) {
      LOG.debug(format, owner, all);
    }
  }

  /**
   * One text for each unknown key, general or of the bucket, in the order of the keys: its name as
   * it was written, where it was set, and the nearest known key, or what to do if it has gone.
   *
   * @param original as the user wrote it, without per-bucket overrides applied
   * @param bucket whose own keys are looked at too; null if not known
   */
  public static List<String> in(Configuration original, @Nullable String bucket) {
    String ofBucket = "fs.s3a.bucket." + bucket + ".s3e.";
    List<String> unknown = new ArrayList<>();
    for (Map.Entry<String, String> entry : original) {
      String key = entry.getKey();
      if (key.startsWith(S3EKeys.PREFIX)) {
        check(original, key, S3EKeys.PREFIX, unknown);
      } else if (bucket != null && key.startsWith(ofBucket)) {
        check(original, key, ofBucket, unknown);
      }
    }
    unknown.sort(null);
    return unknown;
  }

  private static void check(Configuration conf, String key, String prefix, List<String> unknown) {
    String name = key.substring(prefix.length());
    if (!KNOWN.contains(name)) {
      String[] sources = conf.getPropertySources(key);
      unknown.add(
          key
              + (sources == null || sources.length == 0
                  ? ""
                  : " (from " + sources[sources.length - 1] + ")")
              + (GONE.containsKey(name)
                  ? ": it has gone; " + GONE.get(name)
                  : ": did you mean " + prefix + nearest(name.toLowerCase(Locale.ROOT)) + "?"));
    }
  }

  /** The known name at the least distance; one that goes on where this ends comes first. */
  static String nearest(String name) {
    return Collections.min(
        KNOWN,
        Comparator.comparingInt(known -> known.startsWith(name + ".") ? 1 : distance(name, known)));
  }

  /**
   * Levenshtein's distance, by two rows of Wagner's and Fischer's table. Hadoop's client jars
   * relocate commons-text, which has it.
   */
  static int distance(String one, String other) {
    int[] above = new int[other.length() + 1];
    int[] row = new int[other.length() + 1];
    for (int j = 0; j <= other.length(); j++) {
      above[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      row[0] = i;
      for (int j = 1; j <= other.length(); j++) {
        int replaced = above[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, Math.min(above[j], row[j - 1]) + 1);
      }
      int[] spare = above;
      above = row;
      row = spare;
    }
    return above[other.length()];
  }
}
