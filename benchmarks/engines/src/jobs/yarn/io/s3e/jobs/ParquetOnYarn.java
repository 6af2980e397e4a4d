// SPDX-License-Identifier: Apache-2.0
package io.s3e.jobs;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.hadoop.api.ReadSupport;
import org.apache.parquet.hadoop.example.ExampleInputFormat;

/**
 * Sums two columns of Parquet files in YARN's containers, a file and a JVM each, and counts how
 * long their reads waited.
 */
public final class ParquetOnYarn {
  private static final String COLUMNS = "message made { required int64 a; required int64 b; }";

  private static final String GROUP = "Reads";

  /** The name of S3E's counter in Hadoop's statistics, and of the job's. */
  private static final String WAITED = "s3e_read_wait_nanos";

  private ParquetOnYarn() {}

  /** Adds up what it reads. */
  public static final class Sum extends Mapper<Void, Group, Void, Void> {
    private long sum;
    private long rows;

    @Override
    protected void map(Void key, Group row, Context context) {
      sum += Math.floorMod(row.getLong("a", 0) + row.getLong("b", 0), 1_000);
      rows++;
    }

    @Override
    protected void cleanup(Context context) throws IOException {
      context.getCounter(GROUP, "sum").increment(sum);
      context.getCounter(GROUP, "rows").increment(rows);
      Path root = new Path(context.getConfiguration().get(FileInputFormat.INPUT_DIR));
      IOStatistics counts =
          IOStatisticsSupport.retrieveIOStatistics(
              FileSystem.get(root.toUri(), context.getConfiguration()));
      long waited = counts.counters().getOrDefault(WAITED, 0L);
      context.getCounter(GROUP, WAITED).increment(waited);
    }
  }

  /**
   * @param args input and the working directory of YARN
   */
  public static void main(String[] args) throws Exception {
    OnYarn.run(args[1], conf -> sum(conf, args[0]));
  }

  private static Job sum(Configuration conf, String input) throws Exception {
    conf.set(ReadSupport.PARQUET_READ_SCHEMA, COLUMNS);
    Job job = Job.getInstance(conf, "sum of columns");
    job.setJarByClass(ParquetOnYarn.class);
    job.setInputFormatClass(ExampleInputFormat.class);
    job.setMapperClass(Sum.class);
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(NullOutputFormat.class);
    FileInputFormat.addInputPath(job, new Path(input));
    return job;
  }
}
