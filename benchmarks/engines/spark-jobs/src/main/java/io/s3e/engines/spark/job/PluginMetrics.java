// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.spark.job;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** The metrics of S3E's plugin in this JVM, as Spark's JMX sink shows them. */
final class PluginMetrics {
  private static final String OF_PLUGIN = "plugin.io.s3e.spark.S3EPlugin.";
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private PluginMetrics() {}

  /**
   * The whole numbers among them, by name, once each byte that came is used, wasted or held: GETs
   * that were given up end a moment later.
   *
   * @throws IOException if they do not add up within a minute
   */
  static Map<String, Long> settled() throws IOException {
    long begun = System.nanoTime();
    Map<String, Long> now = now();
    while (!isSettled(now)) {
      if (System.nanoTime() - begun > PATIENCE_NANOS) {
        throw new IOException("Bytes do not add up: " + now);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
      now = now();
    }
    return now;
  }

  private static boolean isSettled(Map<String, Long> now) {
    long settled = 0;
    for (String part : List.of("usedBytes", "wastedBytes", "heldBytes")) {
      settled += now.getOrDefault(part, 0L);
    }
    return now.getOrDefault("bytesFromS3", 0L) == settled;
  }

  private static Map<String, Long> now() throws IOException {
    Map<String, Long> metrics = new TreeMap<>();
    try {
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
      for (ObjectName name : server.queryNames(new ObjectName("metrics:*"), null)) {
        String metric = name.getKeyProperty("name").replace("\"", "");
        int at = metric.indexOf(OF_PLUGIN);
        if (at >= 0) {
          boolean isCounter = "counters".equals(name.getKeyProperty("type"));
          Object value = server.getAttribute(name, isCounter ? "Count" : "Value");
          if (value instanceof Long number) {
            metrics.put(metric.substring(at + OF_PLUGIN.length()), number);
          }
        }
      }
    } catch (InstanceNotFoundException e) {
      throw new IOException("A metric has gone meanwhile", e);
    } catch (JMException e) {
      throw new IOException("Spark's JMX sink does not tell", e);
    }
    if (metrics.isEmpty()) {
      throw new IOException("There is no plugin of S3E, or Spark has no JMX sink");
    }
    return metrics;
  }
}
