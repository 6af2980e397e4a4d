// SPDX-License-Identifier: Apache-2.0
package io.s3e.jobs;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;

/** Reads text files by FileSource; prints the number of lines and the sum of their checksums. */
public final class LineDigest {
  private LineDigest() {}

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    // As in config.yaml: Flink has no plugin for s3a here, and leaves it to Hadoop.
    conf.set(CoreOptions.ALLOWED_FALLBACK_FILESYSTEMS, "s3a");
    FileSystem.initialize(conf, null);
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.createLocalEnvironment(2, conf);
    environment.setRuntimeMode(RuntimeExecutionMode.BATCH);
    FileSource<String> source =
        FileSource.forRecordStreamFormat(new TextLineInputFormat(), new Path(args[0])).build();
    long lines = 0;
    long sum = 0;
    try (CloseableIterator<Long> checksums =
        environment
            .fromSource(source, WatermarkStrategy.noWatermarks(), "lines")
            .map(LineDigest::checksum)
            .returns(Types.LONG)
            .executeAndCollect()) {
      while (checksums.hasNext()) {
        sum += checksums.next();
        lines++;
      }
    }
    System.out.println(lines + " lines, checksums " + sum);
  }

  private static long checksum(String line) {
    CRC32 checksum = new CRC32();
    checksum.update(line.getBytes(StandardCharsets.UTF_8));
    return checksum.getValue();
  }
}
