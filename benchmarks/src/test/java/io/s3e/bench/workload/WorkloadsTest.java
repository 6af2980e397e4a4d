// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.s3e.bench.CorruptingFileSystem;
import io.s3e.bench.data.LineItemOrc;
import io.s3e.bench.data.LineItemParquet;
import io.s3e.bench.data.LineItemText;
import io.s3e.bench.data.ObjectLayout;
import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.data.ParquetPack;
import io.s3e.bench.data.TextParquet;
import io.s3e.bench.server.Operation;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.server.Shape;
import io.s3e.bench.server.ShapedS3Server;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.testing.Slow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.StripeInformation;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.io.LocalInputFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every workload over a little data: the bytes it counts, the requests, and what it finds out. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@Slow
class WorkloadsTest {

  private static final String BUCKET = "s3a://bucket/";
  private static final List<String> COLUMNS =
      List.of("l_orderkey", "l_extendedprice", "l_discount");
  private static final int SMALL_OBJECTS = 20;
  private static final int FILTERED_GROUPS = 6;

  /** Ends in the middle of a line, and of a record of 100 bytes. */
  private static final long BYTES = (6L << 20) + 12_345;

  private static final WorkloadSizes SIZES =
      new WorkloadSizes(BYTES, 64L << 20, 6L << 20, SMALL_OBJECTS);

  private static final Map<String, Class<? extends FileSystem>> ENGINES =
      Map.of("classic", S3AFileSystem.class, "s3e", S3EFileSystem.class);

  private static final List<String> LABELS =
      List.of(
          "seq",
          "seq2",
          "rnd",
          "rnd64k-1",
          "vec",
          "pq",
          "scan-1000",
          "narrow",
          "manyfiles-name",
          "manyfiles-status",
          "parquet",
          "filter-dictionary",
          "filter-bloom",
          "filter-pageindex",
          "orc",
          "back",
          "jumps",
          "tiny",
          "small",
          "small-nostatus",
          "text",
          "cold",
          "manyfs2");

  private static final Disturbance.Effort LITTLE =
      new Disturbance.Effort(20, Duration.ofMillis(200), Duration.ofMillis(200));

  @TempDir private static Path temp;
  private static ShapedS3Server server;
  private static Path reference;
  private static final Map<WorkloadKind.Data, Columnar> FILES =
      new EnumMap<>(WorkloadKind.Data.class);

  @BeforeAll
  static void start() throws Exception {
    Path root = Files.createDirectories(temp.resolve("root"));
    Files.createDirectory(root.resolve("bucket"));
    for (String suffix : List.of("1", "2", ObjectSlice.HANGING)) {
      Path beside = root.resolve(ObjectSlice.bucketBeside("bucket", suffix));
      Files.createSymbolicLink(beside, Path.of("bucket"));
    }
    server =
        ShapedS3Server.start(
            new ShapedS3Server.Settings(
                root,
                0,
                "access",
                "secret",
                Shape.UNSHAPED,
                null,
                null,
                ObjectSlice.bucketBeside("bucket", ObjectSlice.HANGING),
                null));
    reference = temp.resolve("lineitem.tbl");
    LineItemText.write(reference, 40 << 20, written -> {});
    writeFiles();
    byte[] text = Files.readAllBytes(reference);
    try (FileSystem s3a = FileSystem.newInstance(URI.create(BUCKET), configuration("classic"))) {
      for (String label : List.of("seq", "seq2", "small", "manyfs2", "neighbour-hang")) {
        for (ObjectSlice object : WorkloadKind.of(label).objects(BUCKET, SIZES)) {
          int from = (int) object.reference();
          if (object.uri().startsWith(BUCKET)) {
            upload(s3a, object, Arrays.copyOfRange(text, from, from + (int) object.length()));
          }
        }
      }
      for (Columnar files : FILES.values()) {
        byte[] bytes = Files.readAllBytes(files.local());
        for (ObjectSlice object : files.objects()) {
          int from = (int) object.reference();
          upload(s3a, object, Arrays.copyOfRange(bytes, from, from + (int) object.length()));
        }
      }
    }
  }

  private static void writeFiles() throws IOException {
    Path parquet = temp.resolve("lineitem.parquet");
    LineItemParquet.write(parquet, 0.002, rows -> {});
    add(WorkloadKind.Data.PARQUET, parquet, COLUMNS);
    Path filtered = temp.resolve("filtered.parquet");
    LineItemParquet.writeFiltered(filtered, FILTERED_GROUPS, 5_000, rows -> {});
    add(WorkloadKind.Data.FILTERED, filtered, COLUMNS);
    Path orc = temp.resolve("lineitem.orc");
    LineItemOrc.write(orc, 0.004, rows -> {});
    add(WorkloadKind.Data.ORC, orc, COLUMNS);
    Path columns = temp.resolve("columns.parquet");
    TextParquet.lineItem(BYTES).write(columns, written -> {});
    add(WorkloadKind.Data.COLUMNS, columns, COLUMNS);
    Path wide = temp.resolve("wide.parquet");
    TextParquet.wide(BYTES).write(wide, written -> {});
    add(WorkloadKind.Data.WIDE, wide, TextParquet.TWO_OF_WIDE);
    Path pack = temp.resolve("manyfiles");
    List<ObjectSlice> files = ParquetPack.write(pack, BUCKET + "manyfiles/", 3, written -> {});
    FILES.put(WorkloadKind.Data.FILES, new Columnar(pack, files, COLUMNS));
  }

  private static void add(WorkloadKind.Data data, Path local, List<String> columns)
      throws IOException {
    ObjectSlice object = ObjectSlice.front(BUCKET + local.getFileName(), Files.size(local));
    FILES.put(data, new Columnar(local, List.of(object), columns));
  }

  private static void upload(FileSystem s3a, ObjectSlice object, byte[] content)
      throws IOException {
    try (OutputStream out = s3a.create(new org.apache.hadoop.fs.Path(object.uri()))) {
      out.write(content);
    }
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  private static Configuration configuration(String engine) {
    Configuration configuration = new Configuration();
    configuration.set("fs.s3a.endpoint", server.endpoint().toString());
    configuration.set("fs.s3a.endpoint.region", "us-east-1");
    configuration.set("fs.s3a.path.style.access", "true");
    configuration.set("fs.s3a.access.key", "access");
    configuration.set("fs.s3a.secret.key", "secret");
    configuration.set("hadoop.tmp.dir", temp.resolve("tmp").toString());
    Class<?> implementation = ENGINES.getOrDefault(engine, CorruptingFileSystem.class);
    configuration.set("fs.s3a.impl", implementation.getName());
    return configuration;
  }

  /**
   * Files of columns.
   *
   * @param local where the objects' bytes are
   */
  private record Columnar(Path local, List<ObjectSlice> objects, List<String> columns) {

    long bytes() {
      return objects.stream().mapToLong(ObjectSlice::length).sum();
    }

    /** The row groups of all of them, by parquet-java. */
    List<BlockMetaData> groups() throws IOException {
      List<BlockMetaData> groups = new ArrayList<>();
      byte[] all = Files.readAllBytes(local);
      for (ObjectSlice object : objects) {
        int from = (int) object.reference();
        Path one = Files.createTempFile(temp, "one", ".parquet");
        Files.write(one, Arrays.copyOfRange(all, from, from + (int) object.length()));
        try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(one))) {
          groups.addAll(reader.getRowGroups());
        }
      }
      return groups;
    }
  }

  /** A byte that every engine reads. */
  private static long wrongByte(WorkloadKind kind) throws IOException {
    if (!kind.readsColumns()) {
      return kind.label().startsWith("rnd") ? 1_234_567 : 5_000;
    }
    Columnar files = files(kind);
    if (kind.data() == WorkloadKind.Data.ORC) {
      return inFirstColumn(files.local());
    }
    ColumnChunkMetaData chunk =
        files.groups().get(0).getColumns().stream()
            .filter(c -> c.getPath().toDotString().equals(files.columns().get(1)))
            .findFirst()
            .orElseThrow();
    return chunk.getStartingPos() + chunk.getTotalSize() / 2;
  }

  /** Of the first stripe, where the data begin with the first column. */
  private static long inFirstColumn(Path orc) throws IOException {
    Configuration configuration = new Configuration(false);
    try (Reader reader =
        OrcFile.createReader(
            new org.apache.hadoop.fs.Path(orc.toUri()),
            OrcFile.readerOptions(configuration)
                .filesystem(FileSystem.getLocal(configuration).getRaw()))) {
      StripeInformation stripe = reader.getStripes().get(0);
      return stripe.getOffset() + stripe.getIndexLength() + 500;
    }
  }

  private static List<ObjectSlice> objects(WorkloadKind kind) {
    return kind.readsColumns() ? files(kind).objects() : kind.objects(BUCKET, SIZES);
  }

  private static Columnar files(WorkloadKind kind) {
    Columnar files = FILES.get(kind.data());
    if (files == null) {
      throw new IllegalArgumentException("No files of " + kind);
    }
    return files;
  }

  private record Outcome(
      ReadMonitor monitor,
      ReadClock clock,
      long checksum,
      ServerStats server,
      List<Part> parts,
      long bytesUsed) {
    long requests(Operation operation) {
      return server.of(operation).requests();
    }
  }

  private static Outcome run(
      WorkloadKind kind, List<ObjectSlice> objects, Configuration configuration) throws Exception {
    return run(kind, kind.workload(), objects, configuration);
  }

  private static Outcome run(
      WorkloadKind kind, Workload workload, List<ObjectSlice> objects, Configuration configuration)
      throws Exception {
    ReadMonitor monitor = new ReadMonitor();
    Path copy = kind.readsColumns() ? files(kind).local() : reference;
    RunSpec spec =
        new RunSpec(
            kind.label(),
            objects,
            null,
            copy.toString(),
            kind.bytes(SIZES),
            kind.readsColumns() ? files(kind).columns() : List.of(),
            7,
            5_000_000,
            30_000,
            0,
            Map.of(),
            true);
    // The instance that parquet-java and the line reader find in Hadoop's cache.
    try (FileSystem fileSystem = FileSystem.get(URI.create(BUCKET), configuration)) {
      RunContext context = new RunContext(fileSystem, spec, new ReferenceFile(copy), monitor);
      workload.prepare(context);
      ServerStats before = server.stats();
      long checksum = workload.run(context);
      return new Outcome(
          monitor,
          context.clock(),
          checksum,
          server.stats().since(before),
          context.parts(),
          context.bytesUsed());
    }
  }

  private static Outcome run(String label, String engine) throws Exception {
    WorkloadKind kind = WorkloadKind.of(label);
    return run(kind, objects(kind), configuration(engine));
  }

  static Stream<Arguments> labelsAndEngines() {
    return LABELS.stream()
        .flatMap(label -> Stream.of("classic", "s3e").map(engine -> Arguments.of(label, engine)));
  }

  @ParameterizedTest
  @MethodSource("labelsAndEngines")
  void bytesAreRightAndCounted(String label, String engine) throws Exception {
    Outcome outcome = run(label, engine);

    long used = outcome.monitor().bytesUsed();
    switch (label) {
      case "seq", "text" -> assertThat(used).isEqualTo(BYTES);
      case "cold" -> {
        assertThat(used).isEqualTo(BYTES);
        assertThat(outcome.parts())
            .extracting(Part::kind, Part::bytesUsed)
            .containsExactly(tuple(Part.Kind.FIRST_BYTE, 1L), tuple(Part.Kind.WHOLE, BYTES));
        assertThat(outcome.parts().get(0).wallNanos())
            .isBetween(1L, outcome.parts().get(1).wallNanos());
      }
      case "manyfs2" -> {
        // Objects have 8 MiB at least.
        long scan = 8 << 20;
        assertThat(used).isEqualTo(4 * scan);
        assertThat(outcome.parts())
            .extracting(Part::kind, Part::bytesUsed)
            .containsExactly(
                tuple(Part.Kind.IN_TURN, scan),
                tuple(Part.Kind.IN_TURN, scan),
                tuple(Part.Kind.TOGETHER, 2 * scan));
      }
      case "seq2" -> assertThat(used).isEqualTo(16 << 20);
      case "rnd" -> assertThat(used).isEqualTo(64 << 20);
      case "rnd64k-1" -> assertThat(used).isEqualTo(4 << 20);
      case "vec", "pq", "scan-1000", "narrow", "manyfiles-name", "manyfiles-status" ->
          assertColumnChunksWereRead(WorkloadKind.of(label), outcome);
      case "parquet" -> assertDecoded(WorkloadKind.of(label), outcome);
      case "filter-dictionary", "filter-bloom", "filter-pageindex" -> {
        assertDecoded(WorkloadKind.of(label), outcome);
        // The first; every fourth by dictionary; and one more where a Bloom filter errs.
        assertThat(outcome.clock().groups()).isBetween(1L, 2L);
        assertThat(outcome.bytesUsed()).isLessThan(files(WorkloadKind.of(label)).bytes() / 2);
      }
      case "orc" -> {
        assertDecoded(WorkloadKind.of(label), outcome);
        assertThat(outcome.clock().groups()).as("stripes").isGreaterThan(1);
        assertThat(outcome.bytesUsed()).isEqualTo(outcome.clock().bytes());
      }
      case "back", "jumps" -> assertThat(used).isEqualTo(6 << 20);
      case "tiny" -> {
        assertThat(used).isEqualTo(BYTES / 100 * 100);
        assertThat(outcome.monitor().reads()).isGreaterThanOrEqualTo(BYTES / 100);
      }
      case "small", "small-nostatus" -> {
        assertThat(used).isEqualTo(WorkloadKind.of("small").bytes(SIZES));
        assertThat(outcome.monitor().reads()).isEqualTo(SMALL_OBJECTS);
      }
      default -> throw new IllegalArgumentException(label);
    }
    assertThat(outcome.requests(Operation.GET_OBJECT)).isPositive();
    if (label.equals("manyfiles-name")) {
      assertThat(outcome.requests(Operation.HEAD_OBJECT)).isPositive();
    } else if (label.equals("manyfiles-status")) {
      assertThat(outcome.requests(Operation.HEAD_OBJECT)).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aReaderIsMeasuredAloneAndDisturbed(Disturbance disturbance) throws Exception {
    WorkloadKind kind = WorkloadKind.of("neighbour-" + disturbance.label());
    for (String engine : List.of("classic", "s3e")) {
      Outcome outcome =
          run(kind, new Disturbed(disturbance, LITTLE), objects(kind), configuration(engine));

      long reads = 128 * (64 << 10);
      assertThat(outcome.parts())
          .as(engine)
          .extracting(Part::kind, Part::bytesUsed)
          .containsExactly(
              tuple(Part.Kind.READS_ALONE, reads),
              tuple(Part.Kind.SCAN_ALONE, 8L << 20),
              tuple(Part.Kind.READS_DISTURBED, reads),
              tuple(Part.Kind.SCAN_DISTURBED, 8L << 20));
      assertThat(outcome.parts()).allSatisfy(part -> assertThat(part.readP99Nanos()).isPositive());
    }
  }

  @Test
  void aDisturbanceThatDisturbsNobodyFailsTheRun() throws Exception {
    WorkloadKind kind = WorkloadKind.of("neighbour-full");
    List<ObjectSlice> objects = new ArrayList<>(objects(kind));
    objects.set(4, ObjectSlice.front(BUCKET + "nothing", 8 << 20));

    assertThatThrownBy(
            () ->
                run(
                    kind,
                    new Disturbed(Disturbance.FULL, LITTLE),
                    objects,
                    configuration("classic")))
        .hasMessageStartingWith("What was to disturb the reader has failed")
        .hasMessageContaining("nothing");
  }

  @Test
  void aFileSystemThatDoesNotOpenFailsTheRun() throws Exception {
    WorkloadKind kind = WorkloadKind.of("manyfs2");
    List<ObjectSlice> objects = new ArrayList<>(objects(kind));
    objects.set(3, ObjectSlice.front("s3a://bucket-1/nothing", 8 << 20));

    assertThatThrownBy(() -> run(kind, objects, configuration("s3e")))
        .isInstanceOf(FileNotFoundException.class);
  }

  /** Those that parquet-java finds in the footers; nothing else was asked for but the footers. */
  private static void assertColumnChunksWereRead(WorkloadKind kind, Outcome outcome)
      throws IOException {
    Columnar files = files(kind);
    long chunks = 0;
    int groups = 0;
    for (BlockMetaData group : files.groups()) {
      groups++;
      chunks +=
          group.getColumns().stream()
              .filter(chunk -> files.columns().contains(chunk.getPath().toDotString()))
              .mapToLong(ColumnChunkMetaData::getTotalSize)
              .sum();
    }
    assertThat(chunks).isPositive();
    assertThat(outcome.monitor().bytesUsed()).isEqualTo(chunks);
    assertThat(outcome.monitor().reads()).isEqualTo(groups);
    assertThat(outcome.clock().groups()).isEqualTo(groups);
    assertThat(outcome.clock().bytes()).as("footers too").isEqualTo(outcome.bytesUsed());
    assertThat(outcome.bytesUsed()).isGreaterThan(chunks);
    assertThat(outcome.clock().blockedNanos()).isPositive();
  }

  private static void assertDecoded(WorkloadKind kind, Outcome outcome) throws IOException {
    Columnar files = files(kind);
    assertThat(outcome.checksum()).isEqualTo(kind.checksum(files.local(), files.columns()));
    assertThat(outcome.clock().groups()).isPositive();
    assertThat(outcome.clock().blockedNanos()).isPositive();
  }

  /** All but the one whose few reads may not come by the wrong byte; it is rnd's class. */
  static Stream<String> labels() {
    return LABELS.stream().filter(label -> !label.equals("rnd64k-1"));
  }

  @ParameterizedTest
  @MethodSource("labels")
  void oneWrongBitIsFoundOut(String label) throws Exception {
    WorkloadKind kind = WorkloadKind.of(label);
    Configuration configuration = configuration("corrupting");
    long wrong = wrongByte(kind);
    configuration.setLong(CorruptingFileSystem.WRONG_BYTE_KEY, wrong);
    List<ObjectSlice> objects = objects(kind);
    if (kind.decodes()) {
      Columnar files = files(kind);
      long right = kind.checksum(files.local(), files.columns());
      Outcome outcome;
      try {
        outcome = run(kind, objects, configuration);
      } catch (IOException | RuntimeException cannotBeDecompressed) {
        return;
      }
      assertThat(outcome.checksum()).isNotEqualTo(right);
    } else {
      assertThatThrownBy(() -> run(kind, objects, configuration))
          .isInstanceOf(WrongBytesException.class)
          .hasMessageContaining("wrong byte at " + wrong + " of " + BUCKET);
    }
  }

  @Test
  void aSmallObjectOfKnownStatusIsOneGetAndNoHead() throws Exception {
    for (String engine : ENGINES.keySet()) {
      Outcome outcome = run("small", engine);

      assertThat(outcome.requests(Operation.GET_OBJECT)).as(engine).isEqualTo(SMALL_OBJECTS);
      assertThat(outcome.requests(Operation.HEAD_OBJECT)).as(engine).isZero();
      assertThat(outcome.requests(Operation.LIST_OBJECTS)).as(engine + ", not timed").isZero();
    }
  }

  @Test
  void aSmallObjectOfUnknownStatusIsOneGetAndAtMostOneHead() throws Exception {
    for (String engine : ENGINES.keySet()) {
      Outcome outcome = run("small-nostatus", engine);

      assertThat(outcome.requests(Operation.GET_OBJECT)).as(engine).isEqualTo(SMALL_OBJECTS);
      assertThat(outcome.requests(Operation.HEAD_OBJECT))
          .as(engine)
          .isLessThanOrEqualTo(SMALL_OBJECTS);
    }
  }

  @Test
  void streamsAtOnceMayShareOneObject() throws Exception {
    WorkloadKind kind = WorkloadKind.of("seq:3");
    List<ObjectSlice> ranges = ObjectLayout.ranges(BUCKET + "lineitem.tbl", 3, BYTES);

    for (String engine : ENGINES.keySet()) {
      assertThat(run(kind, ranges, configuration(engine)).monitor().bytesUsed())
          .isEqualTo(BYTES / 3 * 3);
    }
  }

  @Test
  void onlyTheFrontOfAnObjectMayBeKnown() throws Exception {
    ObjectSlice front = ObjectSlice.front(BUCKET + "lineitem.tbl", 3_000_000);

    for (String label : List.of("seq", "text", "tiny", "rnd64k-1")) {
      Outcome outcome = run(WorkloadKind.of(label), List.of(front), configuration("classic"));

      assertThat(outcome.monitor().bytesUsed()).as(label).isPositive();
    }
  }
}
