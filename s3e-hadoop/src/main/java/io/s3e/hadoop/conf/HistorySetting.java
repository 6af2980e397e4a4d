// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * What is made of what jobs have learnt of their tables.
 *
 * @param directory where it is kept; empty if that is not said
 * @param job the name of the job; empty where the engine's is taken
 * @param run what names the run for all its JVMs; empty if nothing does
 */
public record HistorySetting(Mode mode, String directory, String job, String run) {
  /** What is made of it. */
  public enum Mode {
    /** Nothing. */
    OFF,
    /** It is written. */
    OBSERVE,
    /** It is written, and used. */
    ON
  }

  static HistorySetting read(Configuration conf, @Nullable String bucket) {
    String application = conf.getTrimmed(DiskCacheKeys.APP_ID.name(), "");
    return new HistorySetting(
        HistoryKeys.HISTORY.get(conf, bucket),
        HistoryKeys.DIRECTORY.get(conf, bucket),
        HistoryKeys.JOB.get(conf, bucket),
        application.isEmpty() ? conf.getTrimmed("mapreduce.job.id", "") : application);
  }

  /**
   * Has S3A alone read and write.
   *
   * @param bucket whose own settings are to agree; null if there is none
   */
  public static void withoutS3E(Configuration conf, @Nullable String bucket) {
    conf.setBoolean(S3EKeys.ENABLED.name(), false);
    if (bucket != null) {
      conf.setBoolean("fs.s3a.bucket." + bucket + ".s3e.enabled", false);
    }
  }
}
