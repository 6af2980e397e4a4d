// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.Engines;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.hadoop.RecordedParquet;
import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.HostileS3Server;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The counters of columnar files, for a reader of three row groups of a split of five. */
class ColumnarStatisticsTest {
  private static final String KEY = "columnar/lineitem";
  private static final int READ = 3;
  private static final int SPLIT = 5;
  private static final long DEADLINE_SECONDS = 60;

  private final RecordedParquet file = RecordedParquet.lineitem();
  private final List<ByteRange> chunks = file.chunks("l_quantity");
  private HostileS3Server server;

  @BeforeEach
  void startServer() throws Exception {
    server = HostileS3Server.start();
    server.put(new ObjectRef(S3AServer.BUCKET, KEY), file.content());
  }

  @AfterEach
  void stopServer() throws Exception {
    server.close();
  }

  /** The counters of the stream, after those of the file system were found to be the same. */
  private Map<String, Long> read(String mode) throws Exception {
    // The one of the test before knows the footer.
    Engines.endIdle();
    server.forgetRequests();
    Configuration conf = S3AServer.s3e(server.endpoint());
    conf.set("fs.s3a.s3e.columnar", mode);
    try (FileSystem fs = S3AReads.open(conf)) {
      FSDataInputStream in =
          fs.openFile(new Path("/" + KEY))
              .opt("fs.option.openfile.split.start", "0")
              .opt("fs.option.openfile.split.end", Long.toString(chunks.get(SPLIT).start()))
              .build()
              .get();
      file.readFooter(in);
      for (ByteRange chunk : chunks.subList(0, READ)) {
        FileRange range = FileRange.createFileRange(chunk.start(), (int) chunk.length());
        in.readVectored(List.of(range), ByteBuffer::allocate);
        range.getData().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      }
      in.close();
      Map<String, Long> counters = columnar(in);
      assertThat(columnar(fs)).isEqualTo(counters);
      return counters;
    }
  }

  private static Map<String, Long> columnar(Object source) {
    Map<String, Long> counters =
        IOStatisticsSupport.snapshotIOStatistics(IOStatisticsSupport.retrieveIOStatistics(source))
            .counters();
    counters.keySet().removeIf(name -> !name.startsWith("s3e_columnar_"));
    return counters;
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "observe"})
  void allThatIsAskedForIsUsedWastedOrWithdrawn(String mode) throws Exception {
    Map<String, Long> counters = read(mode);
    long settled = 0;
    for (Map.Entry<String, Long> each : counters.entrySet()) {
      boolean ends = each.getKey().matches(".*_(used|wasted|withdrawn)_bytes");
      settled += ends ? each.getValue() : 0;
    }
    assertThat(settled).isEqualTo(counters.get("s3e_columnar_asked_bytes"));
    assertThat(counters)
        .containsEntry("s3e_columnar_footers", 1L)
        .containsEntry("s3e_columnar_footers_refused", 0L)
        .containsEntry("s3e_columnar_group_used_bytes", blocks(1, READ))
        .containsEntry("s3e_columnar_group_wasted_bytes", blocks(READ, SPLIT));
  }

  @Test
  void nothingIsCountedWhereItIsOff() throws Exception {
    assertThat(read("off").values()).isNotEmpty().containsOnly(0L);
  }

  @Test
  void observingFetchesAsWithoutIt() throws Exception {
    read("off");
    List<String> off = ranges();
    read("observe");
    assertThat(ranges()).isEqualTo(off);
  }

  private List<String> ranges() {
    return server.gets().stream().map(get -> get.header("Range")).sorted().toList();
  }

  /** Bytes of the blocks that hold the chunks of some row groups. */
  private long blocks(int from, int to) {
    long bytes = 0;
    for (ByteRange chunk : chunks.subList(from, to)) {
      bytes += (((chunk.end() - 1) >> 16) - (chunk.start() >> 16) + 1) << 16;
    }
    return bytes;
  }
}
