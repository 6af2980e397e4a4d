// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.hadoop.stats.OpenerStatistics;
import java.io.FileNotFoundException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.StoreStatisticNames;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** HEADs for the account of the thread that opens, beside those that the server sees. */
class CountedHeadsTest {
  private static final int LENGTH = 1_000;

  private final AtomicLong counted = new AtomicLong();
  private RecordingProxy proxy;
  private S3EFileSystem fs;
  private Path file;

  @BeforeEach
  void start() throws Exception {
    proxy = new RecordingProxy(S3AServer.endpoint());
    fs = (S3EFileSystem) S3AReads.open(S3AReads.small(S3AServer.s3e(proxy.endpoint())));
    file = new Path("s3a://" + S3AServer.BUCKET + "/counted-heads");
    try (FSDataOutputStream out = fs.create(file, true)) {
      out.write(S3AReads.random(LENGTH));
    }
    proxy.clear();
    Thread opener = Thread.currentThread();
    OpenerStatistics.keepAccounts(
        () ->
            Thread.currentThread() != opener
                ? null
                : counts ->
                    counted.addAndGet(
                            counts
                                .counters()
                                .getOrDefault(StoreStatisticNames.ACTION_HTTP_HEAD_REQUEST, 0L))
                        >= 0);
  }

  @AfterEach
  void stop() throws Exception {
    OpenerStatistics.keepAccounts(null);
    fs.close();
    proxy.close();
  }

  private void assertHeads(int heads) {
    assertThat(proxy.heads(file.getName())).isEqualTo(heads);
    assertThat(counted).hasValue(heads);
  }

  private static void read(FSDataInputStream opened) throws Exception {
    try (opened) {
      assertThat(opened.readAllBytes()).hasSize(LENGTH);
    }
  }

  private FutureDataInputStreamBuilder openFile() throws Exception {
    return fs.openFile(file);
  }

  @Test
  void eachWayToOpenCountsWhatItSends() throws Exception {
    read(fs.open(file));
    assertHeads(1);
    FileStatus status = fs.getFileStatus(file);
    assertHeads(2);
    read(openFile().build().get());
    assertHeads(3);
    read(openFile().withFileStatus(status).build().get());
    read(openFile().opt("fs.option.openfile.length", Integer.toString(LENGTH)).build().get());
    assertHeads(3);
  }

  @Test
  void aFileThatIsNotThereCostsAHead() {
    file = new Path(file.getParent(), "counted-heads-not-there");
    assertThatThrownBy(() -> fs.open(file))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageStartingWith("No such file or directory: ");
    assertHeads(1);
    assertThatThrownBy(() -> openFile().build().get())
        .hasCauseInstanceOf(FileNotFoundException.class);
    assertHeads(2);
    assertThat(proxy.requests()).as("no LIST, as with S3A").hasSize(2);
  }
}
