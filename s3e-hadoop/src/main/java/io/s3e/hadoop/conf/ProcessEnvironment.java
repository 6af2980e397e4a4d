// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import java.util.HashMap;
import java.util.Map;

/**
 * The surroundings that the process was started in, beside Hadoop's configuration.
 *
 * @param variables environment variables
 * @param properties system properties
 */
public record ProcessEnvironment(Map<String, String> variables, Map<String, String> properties) {
  private static final String[] PROPERTIES = {
    "spark.local.dir", "spark.app.id", "java.io.tmpdir", "user.home", "user.name"
  };

  /** An environment variable, trimmed; empty if it is not set. */
  public String variable(String name) {
    return variables.getOrDefault(name, "").trim();
  }

  /** A system property, trimmed; empty if it is not set. */
  public String property(String name) {
    return properties.getOrDefault(name, "").trim();
  }

  /** This process's own. */
  public static ProcessEnvironment own() {
    Map<String, String> properties = new HashMap<>();
    for (String name : PROPERTIES) {
      properties.put(name, System.getProperty(name, ""));
    }
    return new ProcessEnvironment(System.getenv(), properties);
  }
}
