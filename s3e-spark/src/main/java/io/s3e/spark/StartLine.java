// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import io.s3e.S3EConfig;
import io.s3e.client.library.CrtLibrary;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.hadoop.cache.EngineFactory;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.ClientChoice;
import io.s3e.hadoop.conf.ConfigValues;
import io.s3e.version.Version;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.VersionInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one line of a driver or an executor that says what reads {@code s3a://} there. It tells what
 * the settings and the machine allow, before the first read; a bucket may have settings of its own,
 * and its file system says a line of its own when it first reads. The logger is the plugin's, of
 * whose name Spark's pattern shows the last word.
 */
final class StartLine {
  private static final Logger LOG = LoggerFactory.getLogger("io.s3e.spark.S3EPlugin");

  private static final long MIB = 1L << 20;

  private StartLine() {}

  /**
   * Logs the line, on a thread of its own, since it loads the native library and looks at disks.
   *
   * @param conf of the process
   */
  static void tell(AdapterConfig config, Configuration conf) {
    Thread thread = new Thread(() -> log(config, conf), "s3e-start-line");
    thread.setDaemon(true);
    thread.start();
  }

  private static void log(AdapterConfig config, Configuration conf) {
    try {
      LOG.info("{}", text(config, conf));
    } catch (RuntimeException | LinkageError e) {
      // Spark ends a process of which a thread fails.
      LOG.debug("No line at the start", e);
    }
  }

  static String text(AdapterConfig config, Configuration conf) {
    String start = "S3E " + Version.text() + " on Hadoop " + VersionInfo.getVersion();
    if (!config.enabled()) {
      return start + ": not used, since fs.s3a.s3e.enabled is false";
    }
    return String.format(
        Locale.ROOT,
        "%s, client %s, budget %d MiB, cache %s",
        start,
        client(config),
        config.engine().effectiveMemoryBytes() / MIB,
        cache(config, conf));
  }

  private static String client(AdapterConfig config) {
    if (config.client() == ClientChoice.S3A) {
      return ClientChoice.S3A.text();
    }
    String unusable = CrtLibrary.unusableBecause();
    return unusable == null ? ClientChoice.CRT.text() : "s3a (not crt: " + unusable + ")";
  }

  private static String cache(AdapterConfig config, Configuration conf) {
    if (!config.cache().usesDisk()) {
      return "in memory only";
    }
    try {
      S3EConfig engine = new EngineFactory(config, conf, null).engine("this process", "", null);
      DiskCacheConfig disk = engine.diskCache();
      List<String> places = new ArrayList<>();
      for (Path each : disk.directories()) {
        places.add(
            ConfigValues.roundedSize(disk.capacityBytes(Files.getFileStore(each).getUsableSpace()))
                + " in "
                + each);
      }
      return places.isEmpty() ? "in memory only" : String.join(", ", places);
    } catch (IOException | IllegalArgumentException e) {
      return "in memory only (" + e.getMessage() + ")";
    }
  }
}
