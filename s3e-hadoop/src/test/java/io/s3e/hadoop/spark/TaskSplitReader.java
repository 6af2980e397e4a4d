package io.s3e.hadoop.spark;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.Eventually;
import io.s3e.testing.HostileS3Server;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;

/**
 * A task of Spark's whose split is the row groups 2 to 5 of 9, of which it reads one column. Prints
 * the row groups that were asked for with the first one, while the task is told of another file,
 * and then of this one.
 */
final class TaskSplitReader {
  private static final String FILE = "/columnar/files/lineitem";
  private static final String COLUMN = "l_quantity";
  private static final List<String> KEYS = List.of("table/a", "table/b");
  private static final int FIRST = 2;
  private static final int END = 6;
  private static final long DEADLINE_SECONDS = 60;

  private final HostileS3Server server;
  private final FileSystem fs;
  private final int size;
  private final byte[] footer;

  /** The column's chunk of each row group, in its first half: a split that begins there has it. */
  private final List<ByteRange> chunks;

  private TaskSplitReader(
      HostileS3Server server, FileSystem fs, int size, byte[] footer, List<ByteRange> chunks) {
    this.server = server;
    this.fs = fs;
    this.size = size;
    this.footer = footer;
    this.chunks = chunks;
  }

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = TaskSplitReader.class.getResourceAsStream(name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    }
  }

  public static void main(String[] arguments) throws Exception {
    byte[] footer = resource(FILE + ".footer");
    List<String> layout =
        new String(resource(FILE + ".layout.tsv"), StandardCharsets.UTF_8).lines().toList();
    int size = Integer.parseInt(layout.get(0).split(" ")[4]);
    List<ByteRange> chunks = new ArrayList<>();
    for (String line : layout) {
      String[] words = line.split("\t");
      if (words.length > 1 && words[1].equals(COLUMN)) {
        chunks.add(ByteRange.ofLength(Long.parseLong(words[5]), Long.parseLong(words[6])));
      }
    }
    byte[] file = new byte[size];
    System.arraycopy(footer, 0, file, size - footer.length, footer.length);
    try (HostileS3Server server = HostileS3Server.start()) {
      KEYS.forEach(key -> server.put(new ObjectRef(S3AServer.BUCKET, key), file));
      Configuration conf = S3AServer.s3e(server.endpoint());
      try (FileSystem fs = FileSystem.newInstance(URI.create("s3a://" + S3AServer.BUCKET), conf)) {
        TaskSplitReader reader = new TaskSplitReader(server, fs, size, footer, chunks);
        System.out.println("OTHER FILE" + reader.read(KEYS.get(0), KEYS.get(1)));
        System.out.println("THIS FILE" + reader.read(KEYS.get(1), KEYS.get(1)));
      }
    }
  }

  private String read(String key, String told) throws Exception {
    server.forgetRequests();
    try (FSDataInputStream in = fs.open(new Path("/" + key))) {
      // DSv2 of Spark 3.5 tells after the file was opened.
      System.setProperty("test.split.path", fs.makeQualified(new Path("/" + told)).toString());
      long start = chunks.get(FIRST).start();
      System.setProperty("test.split.start", Long.toString(start));
      System.setProperty("test.split.length", Long.toString(chunks.get(END).start() - start));
      in.seek(size - 8);
      in.readFully(new byte[8]);
      in.seek(size - footer.length);
      in.readFully(new byte[footer.length - 8]);
      ByteRange chunk = chunks.get(FIRST);
      FileRange range = FileRange.createFileRange(chunk.start(), (int) chunk.length());
      in.readVectored(List.of(range), ByteBuffer::allocate);
      range.getData().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      Eventually.awaitTrue("all GETs have come", () -> server.gets().size() == sent(in));
    }
    StringBuilder text = new StringBuilder();
    asked().forEach(group -> text.append(' ').append(group));
    return text.toString();
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
