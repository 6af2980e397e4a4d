// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.conf;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * What the plugin itself has written into Spark's settings as {@code spark.hadoop.*}. A SparkConf
 * may outlive its context and begin the next one, as in a notebook: what stands there of the plugin
 * is then no setting of the user's.
 */
final class WrittenValues {
  /** Names without {@code spark.hadoop.}, and hashes of values, which may be secrets. */
  private static final String RECORD = "spark.plugins.internal.conf.io.s3e.spark.S3EPlugin.written";

  private static final String OF_HADOOP = "spark.hadoop.";

  private final SparkConf spark;

  WrittenValues(SparkConf spark) {
    this.spark = spark;
  }

  void write(String key, String value) {
    Map<String, String> record = record();
    record.put(key, hash(value));
    spark.set(OF_HADOOP + key, value);
    spark.set(
        RECORD,
        record.entrySet().stream()
            .map(each -> each.getKey() + "=" + each.getValue())
            .collect(Collectors.joining(",")));
  }

  /**
   * Takes back what stands here as it was written, also from the configuration that a new context
   * has made of these settings. What somebody has changed meanwhile stays; the same value, set once
   * more, is taken back too, since nothing tells the two apart.
   */
  void takeBack(Configuration hadoop) {
    Map<String, String> record = record();
    if (record.isEmpty()) {
      return;
    }
    spark.remove(RECORD);
    record.keySet().removeIf(key -> !isAsWritten(key, record));
    record.keySet().forEach(key -> spark.remove(OF_HADOOP + key));
    // As it would be without: files of the user's may set the same keys.
    Configuration without = SparkHadoopUtil.get().newConfiguration(spark);
    for (var each : record.entrySet()) {
      String now = hadoop.getRaw(each.getKey());
      if (now != null && hash(now).equals(each.getValue())) {
        replace(hadoop, each.getKey(), without);
      }
    }
  }

  private boolean isAsWritten(String key, Map<String, String> record) {
    String now = spark.get(OF_HADOOP + key, null);
    return now != null && hash(now).equals(record.get(key));
  }

  private static void replace(Configuration hadoop, String key, Configuration from) {
    String value = from.getRaw(key);
    String[] sources = from.getPropertySources(key);
    if (value == null) {
      hadoop.unset(key);
    } else {
      // The source tells Hadoop's defaults from the user's values.
      hadoop.set(key, value, sources == null ? null : sources[sources.length - 1]);
    }
  }

  private Map<String, String> record() {
    Map<String, String> record = new TreeMap<>();
    for (String each : spark.get(RECORD, "").split(",", -1)) {
      int end = each.indexOf('=');
      if (end > 0) {
        record.put(each.substring(0, end), each.substring(end + 1));
      }
    }
    return record;
  }

  private static String hash(String value) {
    return Integer.toHexString(value.hashCode());
  }
}
