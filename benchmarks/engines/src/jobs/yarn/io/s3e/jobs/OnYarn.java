// SPDX-License-Identifier: Apache-2.0
package io.s3e.jobs;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/** Starts YARN in this JVM, runs a job on it in containers, and stops it. */
final class OnYarn {

  /** The job that is run. */
  @FunctionalInterface
  interface Maker {
    Job make(Configuration conf) throws Exception;
  }

  private OnYarn() {}

  /**
   * Runs a job, prints its counters as the examples do, and ends this JVM with 0 if all went well.
   *
   * @param directory YARN's working directory
   */
  static void run(String directory, Maker maker) throws Exception {
    YarnConfiguration conf = new YarnConfiguration(new Configuration());
    // Containers start elsewhere: each entry is absolute.
    conf.set(YarnConfiguration.YARN_APPLICATION_CLASSPATH, absoluteClassPath());
    conf.set(MRJobConfig.MAPREDUCE_APPLICATION_CLASSPATH, absoluteClassPath());
    conf.set(MRConfig.FRAMEWORK_NAME, MRConfig.YARN_FRAMEWORK_NAME);
    conf.set(YarnConfiguration.NM_AUX_SERVICES, ShuffleHandler.MAPREDUCE_SHUFFLE_SERVICEID);
    conf.setClass(
        YarnConfiguration.NM_AUX_SERVICES
            + "."
            + ShuffleHandler.MAPREDUCE_SHUFFLE_SERVICEID
            + ".class",
        ShuffleHandler.class,
        org.apache.hadoop.service.Service.class);
    conf.setInt(ShuffleHandler.SHUFFLE_PORT_CONFIG_KEY, 0);
    conf.setBoolean(YarnConfiguration.NM_DISK_HEALTH_CHECK_ENABLE, false);
    conf.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 256);
    conf.set(MRJobConfig.MR_AM_STAGING_DIR, directory + "/staging");
    System.setProperty("test.build.data", directory);
    boolean done;
    try (MiniYARNCluster cluster = new MiniYARNCluster("yarn", 1, 1, 1)) {
      cluster.init(conf);
      cluster.start();
      done = maker.make(new Configuration(cluster.getConfig())).waitForCompletion(true);
    }
    System.exit(done ? 0 : 1);
  }

  private static String absoluteClassPath() {
    StringBuilder entries = new StringBuilder();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      entries.append(entries.length() == 0 ? "" : ",").append(new File(entry).getAbsolutePath());
    }
    return entries.toString();
  }
}
