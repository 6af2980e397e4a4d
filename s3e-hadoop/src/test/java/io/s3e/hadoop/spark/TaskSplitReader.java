// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.hadoop.RecordedParquet;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.Eventually;
import io.s3e.testing.HostileS3Server;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;

/**
 * A task of Spark's whose split is the row groups 2 to 5 of 9, of which it reads one column. Prints
 * the row groups that were asked for with the first one, while the task is told of another file,
 * and then with the first two, while it is told of this one; and the labels of all GETs.
 */
final class TaskSplitReader {
  /** Of two tables: what is read of the one says nothing of the other. */
  private static final List<String> KEYS = List.of("other/a", "table/b");

  private static final int FIRST = 2;
  private static final int END = 6;
  private static final long DEADLINE_SECONDS = 60;

  private final HostileS3Server server;
  private final FileSystem fs;
  private final RecordedParquet file;

  /** Each lies in the first half of its row group: a split that begins there has the row group. */
  private final List<ByteRange> chunks;

  private TaskSplitReader(HostileS3Server server, FileSystem fs, RecordedParquet file) {
    this.server = server;
    this.fs = fs;
    this.file = file;
    this.chunks = file.chunks("l_quantity");
  }

  public static void main(String[] arguments) throws Exception {
    RecordedParquet file = RecordedParquet.lineitem();
    try (HostileS3Server server = HostileS3Server.start()) {
      KEYS.forEach(key -> server.put(new ObjectRef(S3AServer.BUCKET, key), file.content()));
      try (FileSystem fs =
          FileSystem.newInstance(
              URI.create("s3a://" + S3AServer.BUCKET), S3AServer.s3e(server.endpoint()))) {
        TaskSplitReader reader = new TaskSplitReader(server, fs, file);
        System.out.println("OTHER FILE" + reader.read(KEYS.get(0), KEYS.get(1), 1, 2));
        System.out.println("THIS FILE" + reader.read(KEYS.get(1), KEYS.get(1), 2, 4));
        System.out.println("GETS BY" + labels());
      }
    }
  }

  /**
   * @param least row groups that are waited for, since GETs are counted when they are sent
   */
  private String read(String key, String told, int groups, int least) throws Exception {
    server.forgetRequests();
    try (FSDataInputStream in = fs.open(new Path("/" + key))) {
      // DSv2 of Spark 3.5 tells after the file was opened.
      System.setProperty("test.split.path", fs.makeQualified(new Path("/" + told)).toString());
      long start = chunks.get(FIRST).start();
      System.setProperty("test.split.start", Long.toString(start));
      System.setProperty("test.split.length", Long.toString(chunks.get(END).start() - start));
      file.readFooter(in);
      for (ByteRange chunk : chunks.subList(FIRST, FIRST + groups)) {
        FileRange range = FileRange.createFileRange(chunk.start(), (int) chunk.length());
        in.readVectored(List.of(range), ByteBuffer::allocate);
        range.getData().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      }
      Eventually.awaitTrue("row groups are asked for", () -> asked().size() >= least);
      Eventually.awaitTrue("all GETs have come", () -> server.gets().size() == sent(in));
    }
    StringBuilder text = new StringBuilder();
    asked().forEach(group -> text.append(' ').append(group));
    return text.toString();
  }

  /** For which tasks all GETs were sent, by their records. */
  private static TreeSet<String> labels() throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    TreeSet<String> labels = new TreeSet<>();
    for (ObjectName engine : server.queryNames(new ObjectName("io.s3e:type=Gets,*"), null)) {
      for (String get : (String[]) server.getAttribute(engine, "LatestJson")) {
        labels.add(new ObjectMapper().readTree(get).path("label").asText());
      }
    }
    return labels;
  }

  private static long sent(FSDataInputStream in) {
    return IOStatisticsSupport.retrieveIOStatistics(in).counters().get("s3e_gets");
  }

  /** The row groups of which the server was asked for the column. */
  private TreeSet<Integer> asked() {
    TreeSet<Integer> groups = new TreeSet<>();
    for (HostileS3Server.Request get : server.gets()) {
      String[] range = get.header("range").substring("bytes=".length()).split("-");
      for (int group = 0; group < chunks.size(); group++) {
        ByteRange chunk = chunks.get(group);
        if (Long.parseLong(range[0]) < chunk.end() && Long.parseLong(range[1]) >= chunk.start()) {
          groups.add(group);
        }
      }
    }
    return groups;
  }
}
