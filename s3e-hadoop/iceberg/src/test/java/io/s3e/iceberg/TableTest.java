// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.Table;
import org.apache.iceberg.aws.s3.S3FileIO;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.parquet.GenericParquetReaders;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileInfo;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.SeekableInputStream;
import org.apache.iceberg.parquet.Parquet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A table with positional deletes, planned and read by S3E as by Iceberg's own. */
@Slow
class TableTest {
  private static final String LOCATION = HostileStore.location("table");
  private static HostileStore store;
  private static Tables.Pointer pointer;

  /** Written to a store that takes uploads, and copied to one that knows what was asked. */
  @BeforeAll
  static void write() throws Exception {
    store = new HostileStore();
    pointer = new Tables.Pointer();
    // By S3E's file IO: what it writes, Iceberg's own reads.
    try (Store written = new Store();
        S3EFileIO io = written.open(new S3EFileIO())) {
      Tables.fill(Tables.open(io, LOCATION, pointer), Seed.draw());
      for (FileInfo file : io.listPrefix(LOCATION)) {
        try (SeekableInputStream in = io.newInputFile(file.location(), file.size()).newStream()) {
          store.put(
              file.location().substring(HostileStore.location("").length()), in.readAllBytes());
        }
      }
    }
  }

  @BeforeEach
  void forget() {
    store.server.forgetRequests();
  }

  @AfterAll
  static void stop() throws Exception {
    store.close();
  }

  private static Tables.Digest digest(S3FileIO io, String... columns) throws Exception {
    return Tables.digest(Tables.open(io, LOCATION, pointer), columns);
  }

  @Test
  void scansFindTheSameByAnyClient() throws Exception {
    String[] some = {"c0", "c3", "c7", "c12"};
    String[] all = new String[Tables.COLUMNS];
    for (int i = 0; i < all.length; i++) {
      all[i] = "c" + i;
    }
    try (S3FileIO control = store.open(new S3FileIO());
        S3EFileIO io = store.open(new S3EFileIO());
        S3EFileIO byIcebergs = store.open(new S3EFileIO(), "s3e.client", "s3fileio")) {
      Tables.Digest expected = digest(control, some);
      int deleted = (Tables.ROWS + 96) / 97;
      assertThat(expected.rows()).isEqualTo(Tables.FILES * (Tables.ROWS - deleted));
      assertThat(digest(io, some)).isEqualTo(expected);
      assertThat(digest(byIcebergs, some)).isEqualTo(expected);
      assertThat(digest(io, all)).isEqualTo(digest(control, all));
      // And warm.
      assertThat(digest(io, some)).isEqualTo(expected);
    }
  }

  /** Readers of 1.9 have no ranges: Iceberg's own stream reads through what lies between chunks. */
  @Test
  @Tag("iceberg-1.11")
  void lessIsAskedThanByIcebergsOwn() throws Exception {
    try (S3FileIO control = store.open(new S3FileIO());
        S3EFileIO io = store.open(new S3EFileIO())) {
      long[] own = asked(() -> digest(control, "c0", "c5", "c10", "c15"));
      long[] s3e = asked(() -> digest(io, "c0", "c5", "c10", "c15"));
      assertThat(s3e[0]).as("GETs, of " + own[0]).isLessThan(own[0]);
      // Iceberg's generic reader opens delete files without their length, by whatever file IO.
      assertThat(store.server.requests())
          .filteredOn(request -> request.method().equals("HEAD"))
          .noneMatch(request -> request.target().contains("/data/"));
    }
  }

  @Test
  void planningAsksNoMoreThanIcebergsOwn() throws Exception {
    try (S3FileIO control = store.open(new S3FileIO());
        S3EFileIO io = store.open(new S3EFileIO())) {
      List<String> expected = new ArrayList<>();
      List<String> found = new ArrayList<>();
      long[] own = asked(() -> expected.addAll(plan(control)));
      long[] s3e = asked(() -> found.addAll(plan(io)));
      assertThat(found).containsExactlyInAnyOrderElementsOf(expected).hasSize(Tables.FILES);
      assertThat(s3e[0]).as("GETs, of " + own[0]).isLessThanOrEqualTo(own[0]);
      assertThat(s3e[1]).as("HEADs, of " + own[1]).isLessThanOrEqualTo(own[1]);
    }
  }

  private static List<String> plan(S3FileIO io) throws Exception {
    Table table = Tables.open(io, LOCATION, pointer);
    List<String> found = new ArrayList<>();
    try (CloseableIterable<FileScanTask> tasks = table.newScan().planFiles()) {
      for (FileScanTask task : tasks) {
        found.add(task.file().location() + " with " + task.deletes().size());
      }
    }
    return found;
  }

  /** Manifests, data files and delete files say how long they are. */
  @Test
  void noFileWhoseLengthIsKnownIsAskedForIt() throws Exception {
    try (S3EFileIO io = store.open(new S3EFileIO())) {
      Table table = Tables.open(io, LOCATION, pointer);
      List<ManifestFile> manifests = table.currentSnapshot().allManifests(io);
      try (CloseableIterable<FileScanTask> planned = table.newScan().planFiles()) {
        for (FileScanTask task : planned) {
          long heads = count("HEAD");
          for (InputFile file :
              List.of(
                  io.newInputFile(manifests.get(0)),
                  io.newInputFile(task.file()),
                  io.newInputFile(task.deletes().get(0)))) {
            assertThat(file).isInstanceOf(S3EInputFile.class);
            assertThat(file.getLength()).isPositive();
            try (SeekableInputStream in = file.newStream()) {
              assertThat(in).isInstanceOf(S3ESeekableInputStream.class);
              assertThat(in.readNBytes(4)).hasSize(4);
            }
          }
          assertThat(count("HEAD")).isEqualTo(heads);
        }
      }
    }
  }

  /** As readers of Flink, of Arrow and of deletes open them, and every reader a manifest list. */
  @Test
  void filesOpenedWithoutALengthAreReadByS3eAndAskedForItOnce() throws Exception {
    try (S3EFileIO io = store.open(new S3EFileIO())) {
      Table table = Tables.open(io, LOCATION, pointer);
      String metadata = pointer.metadata;
      assertThat(asked(metadata, "HEAD")).as("of table metadata").isEmpty();
      assertThat(asked(metadata, "GET")).hasSize(1).noneMatch(TableTest::isByS3e);

      String list = table.currentSnapshot().manifestListLocation();
      assertThat(table.currentSnapshot().allManifests(io)).hasSize(2 * Tables.FILES);
      assertThat(asked(list, "HEAD")).as("of the manifest list").hasSize(1);
      assertThat(asked(list, "GET")).isNotEmpty().allMatch(TableTest::isByS3e);

      String data;
      try (CloseableIterable<FileScanTask> tasks = table.newScan().planFiles()) {
        data = tasks.iterator().next().file().location();
      }
      try (CloseableIterable<Record> rows =
          Parquet.read(io.newInputFile(data))
              .project(Tables.SCHEMA.select("c0", "c5"))
              .createReaderFunc(
                  type -> GenericParquetReaders.buildReader(Tables.SCHEMA.select("c0", "c5"), type))
              .build()) {
        assertThat(rows).hasSize(Tables.ROWS);
      }
      assertThat(asked(data, "HEAD")).as("of the data file").hasSize(1);
      assertThat(asked(data, "GET")).isNotEmpty().allMatch(TableTest::isByS3e);
    }
  }

  /** Whatever becomes of the question: the reader gets what Iceberg's stream says of the file. */
  @Test
  void whereTheLengthIsNotToldIcebergsStreamReads() throws Exception {
    String name = HostileStore.location("refused/a.PARQUET");
    store.put("refused/a.PARQUET", new byte[] {1, 2, 3});
    try (S3EFileIO io = store.open(new S3EFileIO());
        S3EFileIO off = store.open(new S3EFileIO(), "s3e.enabled", "false")) {
      try (SeekableInputStream in = off.newInputFile(name).newStream()) {
        assertThat(in.readAllBytes()).containsExactly(1, 2, 3);
      }
      assertThat(asked(name, "HEAD")).as("where S3E is off").isEmpty();
      store.server.decideAll(
          request ->
              request.method().equals("HEAD") ? Fault.status(403, "AccessDenied") : Fault.none());
      try (SeekableInputStream in = io.newInputFile(name).newStream()) {
        assertThat(in).isNotInstanceOf(S3ESeekableInputStream.class);
        assertThat(in.readAllBytes()).containsExactly(1, 2, 3);
      }
      assertThat(asked(name, "HEAD")).hasSize(1);
    } finally {
      store.server.decideAll(request -> Fault.none());
    }
  }

  private static boolean isByS3e(HostileS3Server.Request request) {
    return String.valueOf(request.header("User-Agent")).contains("S3E/");
  }

  /** What has been asked of a file since the requests were forgotten. */
  private static List<HostileS3Server.Request> asked(String location, String method) {
    String target = location.substring("s3:/".length());
    return store.server.requests().stream()
        .filter(each -> each.method().equals(method) && each.target().equals(target))
        .toList();
  }

  @Test
  @SuppressWarnings("deprecation") // Iceberg counts there.
  void bytesAreCountedWhereS3FileIoCountsThem() throws Exception {
    try (S3EFileIO io = store.open(new S3EFileIO())) {
      FileScanTask task;
      try (CloseableIterable<FileScanTask> planned =
          Tables.open(io, LOCATION, pointer).newScan().planFiles()) {
        // All of them, so that nobody reads manifests any more.
        List<FileScanTask> tasks = new ArrayList<>();
        planned.forEach(tasks::add);
        task = tasks.get(0);
      }
      long before = read();
      try (SeekableInputStream in = io.newInputFile(task.file()).newStream()) {
        assertThat(in.readNBytes(100_000)).hasSize(100_000);
        assertThat(in.read()).isNotNegative();
      }
      assertThat(read() - before).isEqualTo(100_001);
    }
  }

  @SuppressWarnings("deprecation")
  private static long read() {
    return FileSystem.getStatistics("s3", null).getBytesRead();
  }

  private static long count(String method) {
    return store.server.requests().stream().filter(each -> each.method().equals(method)).count();
  }

  private interface Work {
    void run() throws Exception;
  }

  /** How many GETs and HEADs something takes. */
  private static long[] asked(Work work) throws Exception {
    long gets = count("GET");
    long heads = count("HEAD");
    work.run();
    return new long[] {count("GET") - gets, count("HEAD") - heads};
  }
}
