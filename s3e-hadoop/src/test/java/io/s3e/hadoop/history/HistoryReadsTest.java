// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.block.ByteRange;
import io.s3e.hadoop.RecordingProxy;
import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.HistorySetting;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.Field;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Types;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A table of small Parquet files, read in runs that have a fresh engine each, as fresh JVMs have:
 * an idle engine ends when somebody asks for another budget.
 */
@Timeout(300)
@Slow
class HistoryReadsTest {
  private static final int COLUMNS = 6;
  private static final int ROWS = 8_000;
  private static final int VALUE_BYTES = 100;
  private static final List<Integer> READ = List.of(1, 4);
  private static int budgetMegabytes = 64;
  private static int tables;

  @TempDir static Path shared;
  private static byte[] content;
  private static List<ByteRange> chunks;

  @TempDir Path directory;
  private RecordingProxy proxy;
  private FileSystem writer;

  /** A file of one group of 4.8 MB. */
  @BeforeAll
  static void makeFile() throws Exception {
    Path file = shared.resolve("rows.parquet");
    Types.GroupBuilder<MessageType> schema = Types.buildMessage();
    for (int column = 0; column < COLUMNS; column++) {
      schema = schema.required(BINARY).named("c" + column);
    }
    MessageType type = schema.named("rows");
    Random random = new Random(5);
    try (ParquetWriter<Group> rows =
        ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withType(type)
            .withConf(new Configuration(false))
            .withCompressionCodec(CompressionCodecName.UNCOMPRESSED)
            .withDictionaryEncoding(false)
            .build()) {
      for (int row = 0; row < ROWS; row++) {
        Group group = new SimpleGroup(type);
        for (int column = 0; column < COLUMNS; column++) {
          byte[] value = new byte[VALUE_BYTES];
          random.nextBytes(value);
          group.add("c" + column, Binary.fromConstantByteArray(value));
        }
        rows.write(group);
      }
    }
    content = Files.readAllBytes(file);
    chunks = new ArrayList<>();
    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file))) {
      assertThat(reader.getRowGroups()).hasSize(1);
      for (ColumnChunkMetaData chunk : reader.getRowGroups().get(0).getColumns()) {
        chunks.add(ByteRange.ofLength(chunk.getStartingPos(), chunk.getTotalSize()));
      }
    }
  }

  @BeforeEach
  void start() throws Exception {
    proxy = new RecordingProxy(S3AServer.endpoint());
    writer = S3AReads.open(S3AServer.s3a(S3AServer.endpoint()));
  }

  @AfterEach
  void stop() throws Exception {
    writer.close();
    proxy.close();
  }

  private String table(int files) throws IOException {
    String table = "/histories-" + tables++ + "/rows";
    for (int i = 0; i < files; i++) {
      try (FSDataOutputStream out = writer.create(path(table, i), true)) {
        out.write(content);
      }
    }
    return table;
  }

  private static org.apache.hadoop.fs.Path path(String table, int file) {
    return new org.apache.hadoop.fs.Path(table, "file-" + file);
  }

  private Configuration conf(String mode, String task) {
    Configuration conf = S3AReads.small(S3AServer.s3e(proxy.endpoint()));
    conf.set("fs.s3a.s3e.memory.budget", budgetMegabytes++ + "M");
    conf.set("fs.s3a.s3e.history", mode);
    conf.set("fs.s3a.s3e.history.dir", directory.resolve("histories").toUri().toString());
    conf.set("fs.s3a.s3e.history.job", "nightly 2026-11-26");
    conf.set("mapreduce.task.attempt.id", task);
    return conf;
  }

  /** A task that is a control, or is none, and whose JVM writes what it has learnt. */
  private static String task(boolean isControl) {
    return Stream.iterate(0, i -> i + 1)
        .map(i -> "attempt_1_m_" + i)
        .filter(name -> Trial.isControl(name) == isControl && Trial.isTold(name))
        .findFirst()
        .orElseThrow();
  }

  private static final String USUAL = task(false);

  /** A task whose JVM writes nothing unless it has found a table anew. */
  private static final String QUIET =
      Stream.iterate(0, i -> i + 1)
          .map(i -> "attempt_2_m_" + i)
          .filter(name -> !Trial.isTold(name))
          .findFirst()
          .orElseThrow();

  private static byte[] read(FSDataInputStream in, ByteRange range) throws IOException {
    byte[] bytes = new byte[(int) range.length()];
    in.seek(range.start());
    in.readFully(bytes);
    return bytes;
  }

  private static void readTrailer(FSDataInputStream in) throws IOException {
    read(in, new ByteRange(content.length - 8, content.length));
  }

  /** As parquet-java does without vectored reads. */
  private static void readColumns(FSDataInputStream in) throws IOException {
    int length =
        java.nio.ByteBuffer.wrap(content, content.length - 8, 4)
            .order(java.nio.ByteOrder.LITTLE_ENDIAN)
            .getInt();
    read(in, new ByteRange(content.length - 8 - length, content.length - 8));
    for (int column : READ) {
      ByteRange chunk = chunks.get(column);
      assertArrayEquals(
          Arrays.copyOfRange(content, (int) chunk.start(), (int) chunk.end()), read(in, chunk));
    }
  }

  /** Reads all files of a table as a JVM of its own would. */
  private void run(String table, int files, String mode, String task) throws IOException {
    run(table, files, conf(mode, task));
  }

  private static void run(String table, int files, Configuration conf) throws IOException {
    try (FileSystem fs = S3AReads.open(conf)) {
      readAll(fs, table, files);
    }
  }

  private static void readAll(FileSystem fs, String table, int files) throws IOException {
    for (int i = 0; i < files; i++) {
      try (FSDataInputStream in = fs.open(path(table, i))) {
        readTrailer(in);
        readColumns(in);
      }
    }
  }

  private List<String> gets(String table) {
    return proxy.reads(table).stream()
        .map(get -> get.target().replaceAll(".*/file-", "") + " " + get.headers().get("range"))
        .sorted()
        .toList();
  }

  private JobFacts kept() throws IOException {
    return new HistoryStore(
            new org.apache.hadoop.fs.Path(directory.resolve("histories").toUri()),
            new Configuration())
        .read("nightly 1")
        .facts();
  }

  private List<Path> files() throws IOException {
    Path histories = directory.resolve("histories");
    if (!Files.isDirectory(histories)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(histories)) {
      return all.filter(file -> file.getFileName().toString().endsWith(".json")).toList();
    }
  }

  @Test
  void offKeepsNothing() throws Exception {
    run(table(2), 2, "off", USUAL);
    assertThat(files()).isEmpty();
  }

  @Test
  void theRootIsNoFileForAnybody() throws Exception {
    try (FileSystem fs = S3AReads.open(conf("observe", USUAL))) {
      var root = new org.apache.hadoop.fs.Path("s3a://" + S3AServer.BUCKET + "/");
      assertThatThrownBy(() -> fs.open(root)).isInstanceOf(FileNotFoundException.class);
    }
  }

  /** In a run without a history, and in one that could use what that has written. */
  @Test
  void observersRequestsAreThoseOfOff() throws Exception {
    for (int run = 0; run < 2; run++) {
      String off = table(4);
      String observe = table(4);
      run(off, 4, "off", USUAL);
      run(observe, 4, "observe", USUAL);
      assertThat(gets(observe)).hasSizeGreaterThanOrEqualTo(4 * 3).isEqualTo(gets(off));
      rename(observe, "/histories-" + (tables + 1) + "/rows");
    }
    assertThat(kept().runs()).hasSize(2);
  }

  /** Has the history tell of another table what it tells of this one. */
  private void rename(String from, String to) throws IOException {
    for (Path file : files()) {
      JobFacts facts = HistoryFile.decode(Files.readAllBytes(file));
      List<TableFacts> renamed =
          facts.tables().stream()
              .map(
                  table ->
                      new TableFacts(
                          table.place().replace(from.substring(1), to.substring(1)),
                          table.millis(),
                          table.footerBytes(),
                          table.files(),
                          table.scans()))
              .toList();
      byte[] bytes =
          HistoryFile.encode(new JobFacts(facts.job(), facts.off(), facts.runs(), renamed));
      Files.write(file, bytes);
      Files.deleteIfExists(file.resolveSibling("." + file.getFileName() + ".crc"));
    }
  }

  @Test
  void factsOfTheTableAreWrittenWhenTheLastFileSystemCloses() throws Exception {
    String table = table(3);
    run(table, 3, "observe", USUAL);
    JobFacts facts = kept();
    assertThat(facts.job()).isEqualTo("nightly #");
    assertThat(facts.runs()).hasSize(1).allMatch(run -> run.with().equals(Blocked.NONE));
    assertThat(facts.tables()).hasSize(1);
    TableFacts kept = facts.tables().get(0);
    assertThat(kept.place()).isEqualTo(S3AServer.BUCKET + table);
    assertThat(kept.footerBytes()).isBetween(100L, 64L << 10);
    assertThat(kept.files()).isNotEmpty().allMatch(file -> file.bytes() == content.length);
    assertThat(kept.files().get(0).bounds())
        .containsExactly(
            chunks.get(1).start(), chunks.get(1).end(), chunks.get(4).start(), chunks.get(4).end());
    assertThat(kept.scans()).extracting(TableFacts.Scan::columns).containsExactly("12");
  }

  /** Whether the middle of a chunk is: its ends share blocks with others. */
  private boolean isAskedFor(String table, int file, int column) {
    long middle = (chunks.get(column).start() + chunks.get(column).end()) / 2;
    return proxy.reads(table + "/file-" + file).stream()
        .map(get -> get.headers().get("range").replace("bytes=", "").split("-"))
        .anyMatch(
            range -> Long.parseLong(range[0]) <= middle && middle <= Long.parseLong(range[1]));
  }

  /** The columns are asked for with the end of the file, by a JVM that has read nothing yet. */
  @Test
  void firstFileOfTheNextRunIsAskedForAtOnce() throws Exception {
    String table = table(3);
    run(table, 2, "observe", USUAL);
    try (FileSystem fs = S3AReads.open(conf("on", USUAL));
        FSDataInputStream in = fs.open(path(table, 2))) {
      readTrailer(in);
      awaitTrue(() -> isAskedFor(table, 2, 1) && isAskedFor(table, 2, 4));
      assertThat(isAskedFor(table, 2, 3)).as("a column that nobody reads").isFalse();
      readColumns(in);
    }
    assertThat(kept().runs()).hasSize(2);
    assertThat(kept().comparison().with().tasks()).isEqualTo(1);
  }

  /** By the file system that reads the table: nothing is renamed, no second one is made. */
  @Test
  void aHistoryOnS3IsReadAndWrittenByWhoReadsTheTable() throws Exception {
    String table = table(3);
    String histories = "s3a://" + S3AServer.BUCKET + table.replace("/rows", "/kept");
    Configuration observe = conf("observe", USUAL);
    observe.set("fs.s3a.s3e.history.dir", histories);
    run(table, 2, observe);
    Configuration on = conf("on", USUAL);
    on.set("fs.s3a.s3e.history.dir", histories);
    try (FileSystem fs = S3AReads.open(on);
        FSDataInputStream in = fs.open(path(table, 2))) {
      readTrailer(in);
      awaitTrue(() -> isAskedFor(table, 2, 1) && isAskedFor(table, 2, 4));
      readColumns(in);
    }
    JobFacts facts =
        new HistoryStore(
                new org.apache.hadoop.fs.Path(histories), S3AServer.s3a(S3AServer.endpoint()))
            .read("nightly 1")
            .facts();
    assertThat(facts.runs()).hasSize(2);
    assertThat(facts.tables()).hasSize(1);
    FileStatus[] jobs = writer.listStatus(new org.apache.hadoop.fs.Path(histories));
    assertThat(jobs).hasSize(1);
    assertThat(writer.listStatus(jobs[0].getPath())).as("the later one alone").hasSize(1);
  }

  /**
   * Under the lock of Hadoop's cache of file systems, and before anything was uploaded from these
   * directories for buffers, as in a JVM that has written nothing; by the file system that has read
   * and by one of the history's own.
   */
  @ParameterizedTest
  @ValueSource(strings = {S3AServer.BUCKET, "s3e-histories"})
  void whoClosesAllFileSystemsOfAUserWritesTheHistoryAtOnce(String bucket) throws Exception {
    if (!bucket.equals(S3AServer.BUCKET)) {
      S3AServer.createBucket(bucket);
    }
    String table = table(2);
    String histories = "s3a://" + bucket + table.replace("/rows", "/kept");
    Configuration conf = conf("on", USUAL);
    conf.set("fs.s3a.s3e.history.dir", histories);
    conf.set("fs.s3a.buffer.dir", directory.resolve("buffers").toString());
    conf.setBoolean("fs.s3a.impl.disable.cache", false);
    UserGroupInformation user = UserGroupInformation.createRemoteUser("reader-of" + table);
    PrivilegedExceptionAction<FileSystem> open =
        () -> FileSystem.get(URI.create("s3a://" + S3AServer.BUCKET), conf);
    readAll(user.doAs(open), table, 2);
    long begun = System.nanoTime();
    FileSystem.closeAllForUGI(user);
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(5));
    JobFacts facts =
        new HistoryStore(
                new org.apache.hadoop.fs.Path(histories), S3AServer.s3a(S3AServer.endpoint()))
            .read("nightly 1")
            .facts();
    assertThat(facts.tables()).hasSize(1);
  }

  /** A program that reads a file of one group and closes nothing but the file. */
  public static final class Leaver {
    private Leaver() {}

    /**
     * @param args endpoint, directory of histories, and a file
     */
    public static void main(String[] args) throws Exception {
      Configuration conf = S3AReads.small(S3AServer.s3e(URI.create(args[0])));
      conf.setBoolean("fs.s3a.impl.disable.cache", false);
      conf.set("fs.s3a.s3e.history", "on");
      conf.set("fs.s3a.s3e.history.dir", args[1]);
      conf.set("fs.s3a.s3e.history.job", "leaver");
      org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(args[2]);
      try (ParquetFileReader reader =
          ParquetFileReader.open(HadoopInputFile.fromPath(file, conf))) {
        System.out.println(reader.readNextRowGroup().getRowCount() + " rows");
      }
    }
  }

  /** Hadoop's own hook closes its file system, and holds the lock that S3A wants for writing. */
  @Test
  void aJvmThatClosesNothingWritesItsHistory() throws Exception {
    String root = "s3a://" + S3AServer.BUCKET;
    String table = table(1);
    String histories = root + table.replace("/rows", "/kept");
    try (ForkedJvm jvm =
        ForkedJvm.of(Leaver.class.getName())
            .unverified()
            .start(S3AServer.endpoint().toString(), histories, root + path(table, 0))) {
      List<String> output = new ArrayList<>();
      jvm.await(ROWS + " rows", output);
      long read = System.nanoTime();
      long millis = (jvm.awaitEnd() - read) / 1_000_000;
      output.addAll(jvm.rest());
      assertThat(jvm.exitCode()).as("%s", output).isZero();
      // A write that waits for that lock ends after 10 s, and none is there.
      assertThat(millis).as("ms to the end").isLessThan(9_000);
    }
    JobFacts facts =
        new HistoryStore(
                new org.apache.hadoop.fs.Path(histories), S3AServer.s3a(S3AServer.endpoint()))
            .read("leaver")
            .facts();
    assertThat(facts.runs()).hasSize(1);
    assertThat(facts.tables())
        .extracting(TableFacts::place)
        .containsExactly(S3AServer.BUCKET + table);
  }

  /** Of many tasks with nothing new most leave it to the others. */
  @Test
  void aTaskThatHasLearntNothingNewMayWriteNothing() throws Exception {
    String table = table(2);
    run(table, 2, "observe", USUAL);
    List<Path> before = files();
    run(table, 2, "on", QUIET);
    assertThat(files()).isEqualTo(before);
    String other = table(1);
    run(other, 1, "on", QUIET);
    assertThat(kept().tables())
        .as("a table that nobody knew is told by whoever reads it")
        .hasSize(2);
  }

  /** Of files without columns nothing is learnt, nor kept: they are new to each JVM. */
  @Test
  void aTaskThatAlsoReadsFilesWithoutColumnsMayWriteNothing() throws Exception {
    String table = table(2);
    var text = new org.apache.hadoop.fs.Path(table.replace("/rows", "/texts"), "words");
    byte[] words =
        "a b c d e f\n".repeat(100_000).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    try (FSDataOutputStream out = writer.create(text, true)) {
      out.write(words);
    }
    run(table, 2, "observe", USUAL);
    List<Path> before = files();
    for (int jvm = 0; jvm < 2; jvm++) {
      try (FileSystem fs = S3AReads.open(conf("on", QUIET))) {
        readAll(fs, table, 2);
        try (FSDataInputStream in = fs.open(text)) {
          assertArrayEquals(words, in.readAllBytes());
        }
      }
      assertThat(files()).as("after JVM %d", jvm).isEqualTo(before);
    }
  }

  /** As an executor does: told by the driver, it needs no store, and writes none. */
  @Test
  void aJvmThatLeavesTheStoreIsToldAndReports() throws Exception {
    String table = table(3);
    run(table, 2, "observe", USUAL);
    Configuration ofDriver = conf("on", USUAL);
    Configuration ofExecutor = conf("on", USUAL);
    ofExecutor.set("fs.s3a.s3e.history.dir", directory.resolve("unreachable").toUri().toString());
    HistorySetting executors = AdapterConfig.read(ofExecutor, null).history();
    try (JobHistory driver =
        JobHistory.join(AdapterConfig.read(ofDriver, null).history(), ofDriver)) {
      byte[] known = driver.known();
      try (JobHistory executor = JobHistory.joinLeavingStore(executors, ofExecutor, () -> known);
          FileSystem fs = S3AReads.open(ofExecutor)) {
        try (FSDataInputStream in = fs.open(path(table, 2))) {
          readTrailer(in);
          awaitTrue(() -> isAskedFor(table, 2, 1) && isAskedFor(table, 2, 4));
          readColumns(in);
        }
        driver.take("1", executor.report());
      }
      assertThat(directory.resolve("unreachable")).doesNotExist();
    }
    assertThat(kept().runs()).as("an earlier run, the driver, and the executor").hasSize(3);
    assertThat(kept().tables()).hasSize(1);
  }

  @Test
  void aJvmThatIsToldNothingReadsAsWithoutAHistory() throws Exception {
    String table = table(1);
    Configuration conf = conf("on", USUAL);
    HistorySetting setting = AdapterConfig.read(conf, null).history();
    try (CapturedLog log = new CapturedLog();
        JobHistory executor =
            JobHistory.joinLeavingStore(
                setting,
                conf,
                () -> {
                  throw new IOException("the driver is gone");
                })) {
      run(table, 1, "on", USUAL);
      awaitTrue(() -> !log.lines("the driver is gone").isEmpty());
      assertThat(executor.report()).isNotEmpty();
    }
    assertThat(files()).isEmpty();
  }

  /** As where a class of the driver's answer is not there. */
  @Test
  void anErrorInPlaceOfTheHistoryIsOneWarning() throws Exception {
    Configuration conf = conf("on", USUAL);
    HistorySetting setting = AdapterConfig.read(conf, null).history();
    try (CapturedLog log = new CapturedLog();
        JobHistory executor =
            JobHistory.joinLeavingStore(
                setting,
                conf,
                () -> {
                  throw new NoClassDefFoundError("a/class/of/the/driver");
                })) {
      run(table(1), 1, "on", USUAL);
      assertThat(HistoryFile.decode(executor.known()).tables()).isEmpty();
      assertThat(log.lines("WARN"))
          .hasSize(1)
          .first()
          .asString()
          .contains("The history cannot be read", "a/class/of/the/driver");
    }
  }

  /** A store that does not answer until a test lets it. Hadoop makes it by its name. */
  public static final class HangingStore extends RawLocalFileSystem {
    private static volatile CountDownLatch answer = new CountDownLatch(0);

    @Override
    public URI getUri() {
      return URI.create("hanging:///");
    }

    @Override
    public FileStatus[] listStatus(org.apache.hadoop.fs.Path of) throws IOException {
      try {
        answer.await();
      } catch (InterruptedException e) {
        throw (IOException) new InterruptedIOException(of.toString()).initCause(e);
      }
      throw new FileNotFoundException(of.toString());
    }
  }

  /** As a driver that all its executors ask, one after the other. */
  @Test
  void whoAsksForAHistoryThatHangsWaitsNoMoreOnceOneHasWaited() throws Exception {
    Configuration conf = conf("on", USUAL);
    conf.setClass("fs.hanging.impl", HangingStore.class, FileSystem.class);
    conf.set("fs.s3a.s3e.history.dir", "hanging:///histories");
    HistorySetting setting = AdapterConfig.read(conf, null).history();
    HangingStore.answer = new CountDownLatch(1);
    try (JobHistory driver = JobHistory.join(setting, conf)) {
      long start = System.nanoTime();
      for (int executor = 0; executor < 5; executor++) {
        assertThat(HistoryFile.decode(driver.known()).tables()).isEmpty();
      }
      // Each for itself they would wait 5 s.
      assertThat((System.nanoTime() - start) / 1_000_000).as("ms").isLessThan(3_000);
    } finally {
      HangingStore.answer.countDown();
    }
  }

  /** Ends one part of a file system, whose end would have two threads go one after the other. */
  private static void endFirst(FileSystem fs, String part) throws Exception {
    Field field = S3EFileSystem.class.getDeclaredField(part);
    field.setAccessible(true);
    ((AutoCloseable) field.get(fs)).close();
    field.set(fs, null);
  }

  @Test
  void twoThreadsThatCloseAFileSystemLeaveItsHistoryOnce() throws Exception {
    Configuration conf = conf("observe", USUAL);
    HistorySetting setting = AdapterConfig.read(conf, null).history();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (JobHistory held = JobHistory.join(setting, conf)) {
      for (int round = 0; round < 200; round++) {
        FileSystem fs = S3AReads.open(conf);
        endFirst(fs, "metrics");
        endFirst(fs, "announcements");
        AtomicInteger ready = new AtomicInteger();
        Callable<Void> close =
            () -> {
              ready.incrementAndGet();
              // A barrier that wakes one after the other would keep them apart.
              while (ready.get() < 2) {
                Thread.onSpinWait();
              }
              fs.close();
              return null;
            };
        for (Future<Void> each : threads.invokeAll(List.of(close, close))) {
          each.get();
        }
      }
      try (JobHistory now = JobHistory.join(setting, conf)) {
        assertThat(now).as("the last user has not left").isSameAs(held);
      }
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void controlReadsAsIfNothingWereKnown() throws Exception {
    String table = table(3);
    run(table, 2, "observe", USUAL);
    try (FileSystem fs = S3AReads.open(conf("on", task(true)));
        FSDataInputStream in = fs.open(path(table, 2))) {
      readTrailer(in);
      assertThat(isAskedFor(table, 2, 1) || isAskedFor(table, 2, 4)).isFalse();
      readColumns(in);
    }
    Comparison comparison = kept().comparison();
    assertThat(comparison.without().tasks()).isEqualTo(1);
    assertThat(comparison.without().seconds()).isPositive();
    assertThat(comparison.with().tasks()).isZero();
  }

  @Test
  void observerReadsAsIfNothingWereKnown() throws Exception {
    String table = table(3);
    run(table, 2, "observe", USUAL);
    try (FileSystem fs = S3AReads.open(conf("observe", USUAL));
        FSDataInputStream in = fs.open(path(table, 2))) {
      readTrailer(in);
      assertThat(isAskedFor(table, 2, 1) || isAskedFor(table, 2, 4)).isFalse();
      readColumns(in);
    }
    assertThat(kept().comparison().with().tasks()).isZero();
  }

  private void putOff() throws IOException {
    for (Path file : files()) {
      JobFacts facts = HistoryFile.decode(Files.readAllBytes(file));
      Files.write(
          file, HistoryFile.encode(new JobFacts(facts.job(), "why", facts.runs(), facts.tables())));
      Files.deleteIfExists(file.resolveSibling("." + file.getFileName() + ".crc"));
    }
  }

  /** Only clearing has it begin anew, and would take with it what was written meanwhile. */
  @Test
  void historyThatIsOffIsNotWritten() throws Exception {
    String table = table(2);
    run(table, 2, "observe", USUAL);
    putOff();
    List<Path> before = files();
    run(table, 2, "on", QUIET);
    assertThat(files()).as("a table that is known").isEqualTo(before);
    run(table(1), 1, "on", USUAL);
    assertThat(files()).as("a table that is new").isEqualTo(before);
    assertThat(kept().runs()).as("those that have put it off").hasSize(1);
    run(table, 2, "observe", USUAL);
    assertThat(kept().runs()).as("who observes adds to it").hasSize(2);
    assertThat(kept().off()).isEqualTo("why");
  }

  @Test
  void historyThatIsOffIsNotUsed() throws Exception {
    String table = table(3);
    run(table, 2, "observe", USUAL);
    putOff();
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf("on", USUAL));
        FSDataInputStream in = fs.open(path(table, 2))) {
      readTrailer(in);
      assertThat(isAskedFor(table, 2, 1)).isFalse();
      readColumns(in);
      assertThat(log.lines("is not used, since why")).hasSize(1);
      assertThat(log.lines("WARN")).isEmpty();
    }
  }

  /** Damaged, foreign, from the future, long: the bytes are right, and one WARN tells. */
  @Test
  void whateverTheHistorySaysTheBytesAreRight() throws Exception {
    String table = table(3);
    run(table, 2, "observe", USUAL);
    Path file = files().get(0);
    byte[] whole = Files.readAllBytes(file);
    long first = Seed.ofBuilds();
    for (long seed = first; seed < first + 4; seed++) {
      Random random = new Random(seed);
      files().forEach(each -> each.toFile().delete());
      Files.write(file, poisoned(whole, random, S3AServer.BUCKET + table));
      Files.deleteIfExists(file.resolveSibling("." + file.getFileName() + ".crc"));
      try (CapturedLog log = new CapturedLog()) {
        run(table, 3, "on", USUAL);
        assertThat(log.lines("WARN")).as("seed %d", seed).hasSizeLessThanOrEqualTo(1);
      }
    }
  }

  private static byte[] poisoned(byte[] whole, Random random, String place) throws IOException {
    switch (random.nextInt(4)) {
      case 0 -> {
        byte[] damaged = whole.clone();
        damaged[random.nextInt(whole.length)] ^= (byte) (1 << random.nextInt(8));
        return damaged;
      }
      case 1 -> {
        return Arrays.copyOf(whole, random.nextInt(whole.length));
      }
      case 2 -> {
        String text = new String(whole, java.nio.charset.StandardCharsets.UTF_8);
        return text.replace("\"format\":1", "\"format\":2")
            .getBytes(java.nio.charset.StandardCharsets.UTF_8);
      }
      default -> {
        List<TableFacts.Shape> files = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
          long end = 1 + random.nextInt(content.length);
          long start = random.nextInt((int) end);
          files.add(new TableFacts.Shape(content.length, content.length, List.of(start, end)));
          files.add(files.get(0));
        }
        List<TableFacts.Scan> scans = List.of(new TableFacts.Scan(random.nextLong(), "ffff"));
        TableFacts table = new TableFacts(place, 1, 1 + random.nextInt(16 << 20), files, scans);
        return HistoryFile.encode(new JobFacts("nightly #", "", List.of(), List.of(table)));
      }
    }
  }

  @Test
  void directoryThatCannotBeReadOrWrittenIsOneWarning() throws Exception {
    Files.writeString(directory.resolve("histories"), "a file");
    try (CapturedLog log = new CapturedLog()) {
      run(table(2), 2, "on", USUAL);
      assertThat(log.lines("WARN")).hasSize(1);
      assertThat(log.lines("WARN").get(0)).contains("The history cannot be");
    }
  }

  @Test
  void directoryThatIsDeletedUnderWayIsMadeAnew() throws Exception {
    String table = table(3);
    run(table, 2, "observe", USUAL);
    try (CapturedLog log = new CapturedLog()) {
      try (FileSystem fs = S3AReads.open(conf("on", USUAL));
          FSDataInputStream in = fs.open(path(table, 2))) {
        readTrailer(in);
        try (Stream<Path> all = Files.walk(directory.resolve("histories"))) {
          all.sorted(java.util.Comparator.reverseOrder()).forEach(each -> each.toFile().delete());
        }
        readColumns(in);
      }
      assertThat(log.lines("WARN")).isEmpty();
    }
    assertThat(kept().runs()).hasSize(1);
  }
}
