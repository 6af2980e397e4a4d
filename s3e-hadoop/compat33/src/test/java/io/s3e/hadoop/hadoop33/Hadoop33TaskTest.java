// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import java.io.InterruptedIOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is known of the task that opens a file on Hadoop 3.3: its split, and that it is killed. */
@Timeout(120)
class Hadoop33TaskTest {
  private static final Path FILE = new Path("s3a://data/file");
  private static final int SIZE = 48 << 20;
  private static final int SPLIT_END = 4 << 20;

  /** Of a block that the split ends in. */
  private static final int SLACK = 1 << 20;

  private HostileS3Server server;
  private FileSystem files;

  @BeforeEach
  void start() throws Exception {
    server = HostileS3Server.start();
    server.put(new ObjectRef("data", "file"), new byte[SIZE]);
    Configuration conf = new Configuration();
    conf.set("hadoop.tmp.dir", System.getProperty("java.io.tmpdir"));
    conf.set("fs.s3a.endpoint", server.endpoint().toString());
    conf.set("fs.s3a.path.style.access", "true");
    conf.set("fs.s3a.access.key", "access");
    conf.set("fs.s3a.secret.key", "secret");
    conf.set("fs.s3a.s3e.cache.mode", "memory");
    files =
        (FileSystem)
            Class.forName("io.s3e.hadoop.S3EFileSystem").getDeclaredConstructor().newInstance();
    files.initialize(URI.create("s3a://data/"), conf);
  }

  @AfterEach
  void stop() throws Exception {
    TaskContext.end();
    files.close();
    server.close();
  }

  private FSDataInputStream open(String... options) throws Exception {
    FutureDataInputStreamBuilder builder = files.openFile(FILE);
    for (String option : options) {
      builder.opt(option.split("=", 2)[0], option.split("=", 2)[1]);
    }
    return builder.build().get();
  }

  /** Reads the split in order and returns the last byte that anybody has asked for. */
  private long lastAsked(FSDataInputStream in) throws Exception {
    try (in) {
      assertThat(in.readNBytes(SPLIT_END - 1)).hasSize(SPLIT_END - 1);
    }
    return server.gets().stream()
        .mapToLong(get -> Long.parseLong(get.header("Range").replaceAll(".*-", "")))
        .max()
        .orElseThrow();
  }

  @Test
  void whatIsFetchedAheadEndsWithTheSplitOfTheOpener() throws Exception {
    String end = "fs.option.openfile.split.end=" + SPLIT_END;
    assertThat(lastAsked(open("fs.option.openfile.split.start=0", end)))
        .isLessThan(SPLIT_END + SLACK);
  }

  @Test
  void whatIsFetchedAheadEndsWithTheSplitOfSparksTask() throws Exception {
    TaskContext.begin(FILE.toString(), SPLIT_END);
    assertThat(lastAsked(files.open(FILE))).isLessThan(SPLIT_END + SLACK);
  }

  @Test
  void withoutASplitMoreIsFetchedAhead() throws Exception {
    assertThat(lastAsked(open())).isGreaterThan(SPLIT_END + SLACK);
  }

  @Test
  void theReadOfAKilledTaskEnds() throws Exception {
    TaskContext task = TaskContext.begin(FILE.toString(), SIZE);
    try (FSDataInputStream in = files.open(FILE)) {
      server.decide(request -> Fault.stallAtOnce());
      Thread killer =
          new Thread(
              () -> {
                try {
                  awaitTrue("a GET has no answer", () -> !server.gets().isEmpty());
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
                task.kill();
              });
      killer.start();
      assertThatThrownBy(in::read)
          .isInstanceOf(InterruptedIOException.class)
          .hasMessageContaining("Spark has killed task 42 of stage 7");
      killer.join();
    }
  }
}
