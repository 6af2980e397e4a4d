// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one scenario gave for one stream.
 *
 * @param group the table it belongs to
 * @param scenario the line
 * @param subject who read
 * @param values by column, in the order of the columns
 */
record Figures(String group, String scenario, Subject subject, Map<String, Object> values) {
  Figures(String group, String scenario, Subject subject) {
    this(group, scenario, subject, new LinkedHashMap<>());
  }

  /** Adds a number, rounded to what can be read. */
  Figures add(String column, double value) {
    double scale = Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 10 : 1_000;
    values.put(column, Math.round(value * scale) / scale);
    return this;
  }

  Figures add(String column, long value) {
    values.put(column, value);
    return this;
  }

  Figures add(String column, String value) {
    values.put(column, value);
    return this;
  }
}
