// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import io.s3e.hadoop.conf.HistorySetting.Mode;
import java.util.List;

/** The settings of what is kept from run to run; part of {@link S3EKeys}. */
final class HistoryKeys {
  static final ConfigKey<Mode> HISTORY =
      ConfigKey.choice(
          "history",
          Mode.OFF,
          Mode.class,
          "What is made of what a job has learnt of the Parquet and ORC files of its tables: how"
              + " long footers are, where the data of small files lies, which columns are read"
              + " together. `observe` writes it to `fs.s3a.s3e.history.dir` when the job ends;"
              + " requests are those of `off`. `on` also has the next run guess by it, where a JVM"
              + " has learnt nothing itself: it only ever changes what is prefetched. One task in"
              + " sixteen runs without, and where these are not blocked longer the history goes off"
              + " by itself: docs/TUNING.md. Not on Hadoop 3.3.");

  static final ConfigKey<String> DIRECTORY =
      ConfigKey.text(
          "history.dir",
          "path",
          "a path of any file system of Hadoop's",
          "The directory of histories; without one none is kept, and a WARN says so. It is read and"
              + " written with the credentials of the job. Spark's plugin takes the directory"
              + " `s3e-history-USER` in that of event logs, where those are on.");

  static final ConfigKey<String> JOB =
      ConfigKey.text(
          "history.job",
          "text",
          "a name",
          "What the job is called from run to run. By default `spark.app.name` (by the plugin),"
              + " `mapreduce.job.name` or `hive.query.name`. Digits and dates in it are no"
              + " difference.");

  static final List<ConfigKey<?>> ALL = List.of(HISTORY, DIRECTORY, JOB);

  private HistoryKeys() {}
}
