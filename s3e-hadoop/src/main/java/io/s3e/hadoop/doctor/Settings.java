// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.hadoop.doctor.Report.Section;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringReader;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/**
 * The configuration as a file system of this JVM gets it: Hadoop's files on the class path, the
 * files that the user names, and Spark's {@code spark.hadoop.*}, which {@code spark-submit} hands
 * on as system properties.
 */
final class Settings {
  static final String PLUGINS = "spark.plugins";
  static final String PLUGIN = "io.s3e.spark.S3EPlugin";

  private static final String CORE_SITE = "core-site.xml";

  /** Bytes before the first mark of an XML file at most. */
  private static final int MOST_BLANK = 1024;

  private static final String SPARK = "spark.";
  private static final String SPARK_HADOOP = "spark.hadoop.";

  private final Configuration conf = new Configuration();
  private final Map<String, String> spark = new TreeMap<>();
  private final Report.Part report;

  Settings(List<Path> files, Report report) {
    this.report = report.in(Section.CONFIGURATION);
    // Those of MapReduce, which its own programs add; one that is not there is left out.
    conf.addResource("mapred-default.xml");
    conf.addResource("mapred-site.xml");
    tellCoreSite();
    for (Path file : files) {
      add(file);
    }
    addSpark(System.getProperties(), "system properties");
  }

  /** Hadoop's; the caller copies it before it changes anything. */
  Configuration hadoop() {
    return conf;
  }

  /** A setting of Spark's; empty if it is not set. */
  String spark(String key) {
    return spark.getOrDefault(key, "").trim();
  }

  /** Whether Spark is told to start S3E's plugin. */
  boolean namesPlugin() {
    return Arrays.stream(spark(PLUGINS).split(",", -1)).map(String::trim).anyMatch(PLUGIN::equals);
  }

  private void tellCoreSite() {
    try {
      List<URL> found = Collections.list(conf.getClassLoader().getResources(CORE_SITE));
      if (found.isEmpty()) {
        report.note(
            CORE_SITE,
            "none on the class path (HADOOP_CONF_DIR is "
                + System.getenv().getOrDefault("HADOOP_CONF_DIR", "not set")
                + ")");
        return;
      }
      report.ok(CORE_SITE, found.get(0).getPath());
      for (URL other : found.subList(1, found.size())) {
        report.note(CORE_SITE, "again, not read: " + other.getPath());
      }
    } catch (IOException e) {
      report.note(CORE_SITE, "cannot be looked for: " + e.getMessage());
    }
  }

  private void add(Path file) {
    String name = file.toString();
    byte[] text;
    try {
      text = Files.readAllBytes(file);
    } catch (IOException e) {
      tellBroken(name, e);
      return;
    }
    String begin = new String(text, 0, Math.min(text.length, MOST_BLANK), StandardCharsets.UTF_8);
    // By any name: read as Spark's it would tell nothing, and nobody would know.
    if (name.endsWith(".xml") || begin.replace("\uFEFF", "").trim().startsWith("<")) {
      addXml(name, text);
      return;
    }
    Properties properties = new Properties();
    try {
      properties.load(new StringReader(new String(text, StandardCharsets.UTF_8)));
      report.ok("named", name);
    } catch (IOException | IllegalArgumentException e) {
      tellBroken(name, e);
    }
    addSpark(properties, name);
  }

  private void tellBroken(String name, Exception e) {
    report.todo(
        "named", name + ": " + e.getMessage(), "Correct " + name + ", or name another file");
  }

  /** Hadoop reads it when somebody asks for the first key, and throws then. */
  private void addXml(String name, byte[] text) {
    try {
      Configuration alone = new Configuration(false);
      alone.addResource(new ByteArrayInputStream(text), name);
      int unused = alone.size();
    } catch (RuntimeException e) {
      report.todo("named", name + ": " + e.getMessage(), "Correct " + name);
      return;
    }
    conf.addResource(new ByteArrayInputStream(text), name);
    report.ok("named", name);
  }

  private void addSpark(Properties properties, String source) {
    for (String key : properties.stringPropertyNames()) {
      String value = properties.getProperty(key);
      if (key.startsWith(SPARK_HADOOP)) {
        conf.set(key.substring(SPARK_HADOOP.length()), value, source);
      }
      if (key.startsWith(SPARK)) {
        spark.put(key, value);
      }
    }
  }
}
