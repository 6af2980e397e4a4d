package io.s3e.hadoop;

import java.util.HashMap;
import java.util.Map;

/**
 * What the process was started with, beside Hadoop's configuration.
 *
 * @param variables environment variables
 * @param properties system properties
 */
record ProcessEnvironment(Map<String, String> variables, Map<String, String> properties) {
  private static final String[] PROPERTIES = {"spark.local.dir", "spark.app.id", "java.io.tmpdir"};

  /** An environment variable, trimmed; empty if it is not set. */
  String variable(String name) {
    return variables.getOrDefault(name, "").trim();
  }

  /** A system property, trimmed; empty if it is not set. */
  String property(String name) {
    return properties.getOrDefault(name, "").trim();
  }

  /** This process's own. */
  static ProcessEnvironment own() {
    Map<String, String> properties = new HashMap<>();
    for (String name : PROPERTIES) {
      properties.put(name, System.getProperty(name, ""));
    }
    return new ProcessEnvironment(System.getenv(), properties);
  }
}
