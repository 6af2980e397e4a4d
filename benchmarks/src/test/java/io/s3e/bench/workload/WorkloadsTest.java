package io.s3e.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.s3e.bench.CorruptingFileSystem;
import io.s3e.bench.data.LineItemParquet;
import io.s3e.bench.data.LineItemText;
import io.s3e.bench.data.ObjectLayout;
import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.server.Operation;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.server.Shape;
import io.s3e.bench.server.ShapedS3Server;
import io.s3e.hadoop.S3EFileSystem;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
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
class WorkloadsTest {

  private static final String BUCKET = "s3a://bucket/";
  private static final List<String> COLUMNS = List.of("l_orderkey", "l_discount");
  private static final int SMALL_OBJECTS = 20;

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
          "parquet",
          "back",
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
  private static Path parquet;

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
                ObjectSlice.bucketBeside("bucket", ObjectSlice.HANGING)));
    reference = temp.resolve("lineitem.tbl");
    LineItemText.write(reference, 40 << 20, written -> {});
    parquet = temp.resolve("lineitem.parquet");
    LineItemParquet.write(parquet, 0.002, rows -> {});
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
      upload(s3a, parquetObject(), Files.readAllBytes(parquet));
    }
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

  private static ObjectSlice parquetObject() throws IOException {
    return ObjectSlice.front(BUCKET + "lineitem.parquet", Files.size(parquet));
  }

  private static List<ObjectSlice> objects(WorkloadKind kind) throws IOException {
    return kind.readsParquet() ? List.of(parquetObject()) : kind.objects(BUCKET, SIZES);
  }

  private record Outcome(ReadMonitor monitor, long checksum, ServerStats server, List<Part> parts) {
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
    RunSpec spec =
        new RunSpec(
            kind.label(),
            objects,
            null,
            reference.toString(),
            kind.bytes(SIZES),
            COLUMNS,
            7,
            5_000_000,
            30_000,
            0,
            Map.of(),
            true);
    // The instance that parquet-java and the line reader find in Hadoop's cache.
    try (FileSystem fileSystem = FileSystem.get(URI.create(BUCKET), configuration)) {
      RunContext context = new RunContext(fileSystem, spec, new ReferenceFile(reference), monitor);
      workload.prepare(context);
      ServerStats before = server.stats();
      long checksum = workload.run(context);
      return new Outcome(monitor, checksum, server.stats().since(before), context.parts());
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
      case "vec", "pq" -> assertThat(used).isEqualTo(rowGroupBytes());
      case "parquet" ->
          assertThat(outcome.checksum()).isEqualTo(ParquetScan.checksum(parquet, COLUMNS));
      case "back" -> assertThat(used).isEqualTo(6 << 20);
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

  private static long rowGroupBytes() {
    RowGroups layout = new RowGroups(BYTES);
    long bytes = RowGroups.TAIL_BYTES + layout.footerBytes();
    for (int group = 0; group < layout.groups(); group++) {
      bytes += layout.wanted(group).stream().mapToLong(RowGroups.Chunk::length).sum();
    }
    return bytes;
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
    long wrong = label.startsWith("rnd") ? 1_234_567 : 5_000;
    configuration.setLong(CorruptingFileSystem.WRONG_BYTE_KEY, wrong);
    List<ObjectSlice> objects = objects(kind);
    if (kind.readsParquet()) {
      assertThatThrownBy(() -> run(kind, objects, configuration))
          .as("a page that cannot be decompressed")
          .isInstanceOf(IOException.class);
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

    for (String label : List.of("seq", "text", "tiny", "vec", "pq", "rnd64k-1")) {
      Outcome outcome = run(WorkloadKind.of(label), List.of(front), configuration("classic"));

      assertThat(outcome.monitor().bytesUsed()).as(label).isPositive();
    }
  }
}
