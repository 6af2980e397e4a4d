// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.explain;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.fetch.ExplainConfig;
import io.s3e.fetch.GetRecord;
import io.s3e.fetch.GetSink;
import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each GET is a line of a file or counted as dropped; and no read waits for that, or fails by it.
 */
@Tag("any-hadoop")
@Timeout(120)
class GetFilesTest {
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "a \"key\"");
  private static final int BLOCK = 64 << 10;
  private static final long MIB = 1 << 20;

  @TempDir Path temp;

  /** Reads so many blocks, each by a GET of its own; what is read is right. */
  private static List<GetRecord> read(int blocks, ExplainConfig explain) throws IOException {
    MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(BLOCK, 4, 0));
    byte[] content = MemoryObjectClient.bytes(blocks * BLOCK, 1);
    client.put(OBJECT, content, "\"v1\"");
    S3EConfig config = S3EConfig.DEFAULTS.toBuilder().requestBytes(BLOCK).explain(explain).build();
    byte[] some = new byte[100];
    List<GetRecord> gets;
    try (S3E engine = S3E.create(config, new MemoryBudget(16L * BLOCK), granted -> client)) {
      try (S3EInputStream in =
          engine.open(OBJECT, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
        for (int at = 0; at < content.length; at += BLOCK) {
          in.readFullyAt(at, some, 0, some.length);
          assertArrayEquals(Arrays.copyOfRange(content, at, at + some.length), some);
        }
      }
      gets = engine.gets().latest(null, blocks);
    }
    assertThat(gets).hasSize(blocks);
    return gets;
  }

  private static List<GetRecord> gets(int count) throws IOException {
    return read(count, ExplainConfig.DEFAULTS);
  }

  private static ExplainConfig to(GetFiles files) {
    return new ExplainConfig(
        true,
        () -> {
          files.begin();
          return files;
        });
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.list(temp)) {
      return all.sorted().toList();
    }
  }

  private List<JsonNode> lines() throws IOException {
    List<JsonNode> lines = new ArrayList<>();
    for (Path file : files()) {
      for (String line : Files.readAllLines(file)) {
        lines.add(new ObjectMapper().readTree(line));
      }
    }
    return lines;
  }

  private static void requireThatAllAreAccountedFor(GetFiles files, int offered) {
    assertThat(files.getOffered()).isEqualTo(offered);
    assertThat(files.getWritten() + files.getDropped()).isEqualTo(offered);
  }

  @Test
  void eachGetOfAnEngineIsALineInAFileOfItsOwnersAlone() throws Exception {
    GetFiles files = new GetFiles(temp.resolve("made/for it"), GetFiles::open, MIB, 1000);
    List<GetRecord> gets = read(50, to(files));

    requireThatAllAreAccountedFor(files, 50);
    assertThat(files.getDropped()).isZero();
    Path file;
    try (Stream<Path> all = Files.list(temp.resolve("made/for it"))) {
      file = all.toList().get(0);
    }
    assertThat(files.getFiles()).isEqualTo(file.toString().replace("-0.jsonl", "-*.jsonl"));
    assertThat(Files.readAllLines(file))
        .containsExactlyInAnyOrderElementsOf(gets.stream().map(GetRecord::json).toList());
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
  }

  /** As a stranger lays one there, in a directory that is open to all. */
  @Test
  void aFileOrLinkThatIsThereIsNeverWrittenTo() throws Exception {
    Path others = Files.writeString(temp.resolve("others"), "as it was");
    Path link = Files.createSymbolicLink(temp.resolve("link"), others);
    Path dangling = Files.createSymbolicLink(temp.resolve("dangling"), temp.resolve("nothing"));
    for (Path each : List.of(others, link, dangling)) {
      assertThatThrownBy(() -> GetFiles.open(each)).isInstanceOf(FileAlreadyExistsException.class);
    }
    assertThat(others).hasContent("as it was");
    assertThat(temp.resolve("nothing")).doesNotExist();
  }

  @Test
  void filesFollowEachOtherAndTheOldestGo() throws Exception {
    GetFiles files = new GetFiles(temp, GetFiles::open, 1, 1000);
    files.begin();
    int all = GetFiles.MOST_FILES + 4;
    List<GetRecord> gets = gets(all);
    for (int number = 0; number < all; number++) {
      files.take(gets.get(number));
      int written = number + 1;
      awaitTrue("it is written", () -> files.getWritten() == written);
    }
    files.close();

    requireThatAllAreAccountedFor(files, all);
    assertThat(lines())
        .extracting(line -> line.get("id").asLong())
        .as("the latest")
        .containsExactlyInAnyOrder(7L, 6L, 5L, 4L, 3L, 2L, 1L, 0L);
    assertThat(files()).hasSize(GetFiles.MOST_FILES);
  }

  @Test
  void whatTheQueueHasNoPlaceForIsDroppedAndSoIsWhatComesAfterTheEnd() throws Exception {
    GetFiles files = new GetFiles(temp, GetFiles::open, MIB, 3);
    List<GetRecord> gets = gets(10);
    gets.forEach(files::take);
    assertThat(files.getDropped()).isEqualTo(7);
    files.begin();
    files.close();
    assertThat(files.getWritten()).isEqualTo(3);
    assertThat(lines()).hasSize(3);

    files.take(gets.get(0));
    requireThatAllAreAccountedFor(files, 11);
    assertThat(files.getDropped()).isEqualTo(8);
  }

  @Test
  void aFullDiskIsOneWarningAndNoReadsError() throws Exception {
    GetFiles.Opener full =
        path ->
            new FilterOutputStream(GetFiles.open(path)) {
              private int room = 10_000;

              @Override
              public void write(byte[] bytes, int offset, int count) throws IOException {
                room -= count;
                if (room < 0) {
                  throw new IOException("No space left on device");
                }
                out.write(bytes, offset, count);
              }
            };
    GetFiles files = new GetFiles(temp, full, MIB, 1000);
    try (CapturedLog log = new CapturedLog()) {
      read(300, to(files));
      assertThat(log.lines("WARN"))
          .hasSize(1)
          .first()
          .asString()
          .contains("No space left on device", files.getFiles(), "fs.s3a.s3e.explain");
    }
    requireThatAllAreAccountedFor(files, 300);
    assertThat(files.getDropped()).isPositive();
    assertThat(lines()).hasSize(Math.toIntExact(files.getWritten()));
  }

  /** The thread that writes goes on, so that what comes is dropped and not kept. */
  @Test
  void anErrorInsteadOfAWriteIsOneWarningAndNoReadsError() throws Exception {
    GetFiles.Opener failing =
        path ->
            new FilterOutputStream(GetFiles.open(path)) {
              @Override
              public void write(byte[] bytes, int offset, int count) {
                throw new OutOfMemoryError("no direct memory");
              }
            };
    GetFiles files = new GetFiles(temp, failing, MIB, 1000);
    try (CapturedLog log = new CapturedLog()) {
      read(300, to(files));
      assertThat(log.lines("WARN"))
          .hasSize(1)
          .first()
          .asString()
          .contains("no direct memory", files.getFiles());
    }
    requireThatAllAreAccountedFor(files, 300);
    assertThat(files.getWritten()).isZero();
  }

  @Test
  void aDirectoryThatCannotBeIsOneWarningAndNoReadsError() throws Exception {
    Path file = Files.writeString(temp.resolve("file"), "in its place");
    GetFiles files = new GetFiles(file, GetFiles::open, MIB, 1000);
    try (CapturedLog log = new CapturedLog()) {
      read(20, to(files));
      assertThat(log.lines("WARN")).hasSize(1).first().asString().contains(file.toString());
    }
    requireThatAllAreAccountedFor(files, 20);
    assertThat(files.getWritten()).isZero();
  }

  @Test
  void noReadWaitsForADiskThatHangs() throws Exception {
    CountDownLatch goesOn = new CountDownLatch(1);
    GetFiles.Opener hanging =
        path ->
            new FilterOutputStream(GetFiles.open(path)) {
              @Override
              public void write(byte[] bytes, int offset, int count) throws IOException {
                try {
                  assertThat(goesOn.await(60, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException e) {
                  throw new IOException(e);
                }
                out.write(bytes, offset, count);
              }
            };
    GetFiles files = new GetFiles(temp, hanging, MIB, 4);
    ExplainConfig explain =
        new ExplainConfig(
            true,
            () -> {
              files.begin();
              return new GetSink() {
                @Override
                public void take(GetRecord get) {
                  files.take(get);
                }

                /** The reads are over. */
                @Override
                public void close() {
                  assertThat(files.getWritten()).isZero();
                  goesOn.countDown();
                  files.close();
                }
              };
            });
    read(600, explain);

    requireThatAllAreAccountedFor(files, 600);
    assertThat(files.getWritten()).isPositive();
    assertThat(files.getDropped()).isPositive();
    assertThat(lines()).hasSize(Math.toIntExact(files.getWritten()));
  }

  @Test
  void jmxShowsHowManyAsLongAsTheyAreWritten() throws Exception {
    var server = ManagementFactory.getPlatformMBeanServer();
    GetFiles files = new GetFiles(temp, GetFiles::open, MIB, 1000);
    files.begin();
    String file = Path.of(files.getFiles()).getFileName().toString();
    ObjectName name =
        new ObjectName("io.s3e:type=GetFiles,name=" + file.substring(0, file.indexOf("-*")));
    files.take(gets(1).get(0));
    awaitTrue("it is written", () -> files.getWritten() == 1);
    assertThat(server.getAttribute(name, "Offered")).isEqualTo(1L);
    assertThat(server.getAttribute(name, "Written")).isEqualTo(1L);
    assertThat(server.getAttribute(name, "Dropped")).isEqualTo(0L);
    assertThat(server.getAttribute(name, "Files")).isEqualTo(files.getFiles());
    files.close();
    assertThat(server.isRegistered(name)).isFalse();
  }

  /** Reads a file by two file systems of one engine, which the key alone has write its GETs. */
  static final class TwoFileSystems {
    private TwoFileSystems() {}

    public static void main(String[] args) throws Exception {
      Configuration conf = S3AReads.small(S3AServer.s3e(URI.create(args[0])));
      conf.set("fs.s3a.s3e.explain", args[1]);
      try (FileSystem one = S3AReads.open(conf);
          FileSystem other = S3AReads.open(conf)) {
        for (FileSystem each : List.of(one, other)) {
          try (FSDataInputStream in = each.open(new org.apache.hadoop.fs.Path("/lines"))) {
            assertThat(in.readAllBytes()).isEqualTo(MemoryObjectClient.bytes(3 << 20, 5));
          }
        }
      }
    }
  }

  /** In a JVM of its own: the engine belongs to all of a JVM, and other tests may have left one. */
  @Slow
  @Test
  void theLinesOfFileSystemsAreTheServersLog() throws Exception {
    byte[] content = MemoryObjectClient.bytes(3 << 20, 5);
    try (HostileS3Server server = HostileS3Server.start()) {
      server.put(new ObjectRef(S3AServer.BUCKET, "lines"), content);
      try (ForkedJvm jvm =
          ForkedJvm.of(TwoFileSystems.class.getName())
              .unverified()
              .in(temp)
              .start(server.endpoint().toString(), temp.toString())) {
        jvm.awaitEnd();
        assertThat(jvm.exitCode()).as("%s", jvm.rest()).isZero();
      }
      assertThat(lines().stream().mapToLong(line -> line.get("sent").asLong()).sum())
          .isEqualTo(server.gets().size())
          .isPositive();
    }
    assertThat(lines())
        .allSatisfy(line -> assertThat(line.get("key").asText()).isEqualTo("lines"))
        .allSatisfy(line -> assertThat(line.get("held").asLong()).isZero())
        .extracting(line -> line.get("state").asText())
        .contains("DONE");
    assertThat(lines().stream().mapToLong(line -> line.get("used").asLong()).sum())
        .isGreaterThanOrEqualTo(content.length);
  }
}
