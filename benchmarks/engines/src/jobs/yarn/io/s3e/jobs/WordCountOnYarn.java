// SPDX-License-Identifier: Apache-2.0
package io.s3e.jobs;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.WordCount;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * Starts YARN in this JVM, runs a word count on it in containers, prints the counters as the
 * examples do, and stops it.
 */
public final class WordCountOnYarn {
  private WordCountOnYarn() {}

  /**
   * @param args input, output and the working directory of YARN
   */
  public static void main(String[] args) throws Exception {
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
    conf.set(MRJobConfig.MR_AM_STAGING_DIR, args[2] + "/staging");
    System.setProperty("test.build.data", args[2]);
    boolean done;
    try (MiniYARNCluster cluster = new MiniYARNCluster("yarn", 1, 1, 1)) {
      cluster.init(conf);
      cluster.start();
      done = count(new Configuration(cluster.getConfig()), args);
    }
    System.exit(done ? 0 : 1);
  }

  private static boolean count(Configuration conf, String[] args) throws Exception {
    Job job = Job.getInstance(conf, "word count");
    job.setJarByClass(WordCount.class);
    job.setMapperClass(WordCount.TokenizerMapper.class);
    job.setCombinerClass(WordCount.IntSumReducer.class);
    job.setReducerClass(WordCount.IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new Path(args[0]));
    FileOutputFormat.setOutputPath(job, new Path(args[1]));
    return job.waitForCompletion(true);
  }

  private static String absoluteClassPath() {
    StringBuilder entries = new StringBuilder();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      entries.append(entries.length() == 0 ? "" : ",").append(new File(entry).getAbsolutePath());
    }
    return entries.toString();
  }
}
