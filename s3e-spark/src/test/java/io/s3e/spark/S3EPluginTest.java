// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.hadoop.S3EAbstractFileSystem;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.hadoop.client.OpenEngines;
import io.s3e.hadoop.cost.Bill;
import io.s3e.hadoop.cost.Prices;
import io.s3e.hadoop.cost.Sizes;
import io.s3e.metrics.EngineMetrics;
import io.s3e.spark.stages.GetSummary;
import io.s3e.spark.stages.ReadCounts;
import io.s3e.spark.stages.SparkListenerS3EStage;
import io.s3e.spark.stages.StageAttempt;
import io.s3e.spark.stages.TaskReads;
import io.s3e.version.Version;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.statistics.StoreStatisticNames;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.JsonProtocol;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A real Spark with the plugin, in this JVM, on the jar of the line. */
class S3EPluginTest extends SparkOnServer {
  private static final String STAGE_EVENT = SparkListenerS3EStage.class.getName();
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private LocalSpark spark;
  private LogLines log;

  @BeforeEach
  void begin() {
    spark = new LocalSpark(server, directory);
    log = new LogLines();
  }

  @AfterEach
  void closeLog() {
    log.close();
  }

  @Test
  @Tag("smoke")
  @Tag("thread-statistics")
  void parquetIsReadByS3EAndTheEventsAddUpToSparksInput() throws Exception {
    Path sink = Files.createDirectory(directory.resolve("sink"));
    SparkSession session =
        spark
            .builder()
            .config("spark.metrics.conf.*.sink.csv.class", "org.apache.spark.metrics.sink.CsvSink")
            .config("spark.metrics.conf.*.sink.csv.period", "1")
            .config("spark.metrics.conf.*.sink.csv.unit", "seconds")
            .config("spark.metrics.conf.*.sink.csv.directory", sink.toString())
            .getOrCreate();
    Configuration conf = session.sparkContext().hadoopConfiguration();
    assertThat(FileSystem.get(URI.create(LocalSpark.path("")), conf))
        .isInstanceOf(S3EFileSystem.class);
    assertThat(
            FileContext.getFileContext(URI.create(LocalSpark.path("")), conf)
                .getDefaultFileSystem())
        .isInstanceOf(S3EAbstractFileSystem.class);

    session.range(200_000).write().parquet(LocalSpark.path("numbers"));
    long sum =
        session.read().parquet(LocalSpark.path("numbers")).groupBy().sum("id").first().getLong(0);
    assertThat(sum).isEqualTo(199_999L * 200_000 / 2);
    awaitLine("INFO S3E " + Version.text() + " on Hadoop ");
    session.stop();

    assertThat(log.lines())
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith(
                        "INFO S3E "
                            + Version.text()
                            + " on Hadoop "
                            + System.getProperty("s3e.test.hadoop.version")
                            + ", client crt, budget ")
                    .contains(" MiB, cache "));
    assertThat(log.lines())
        .filteredOn(line -> line.contains(" on Hadoop "))
        .allSatisfy(line -> assertThat(log.logger(line)).isEqualTo(S3EPlugin.class.getName()));

    List<JsonNode> events = spark.logged(STAGE_EVENT);
    assertThat(events).isNotEmpty();
    long input = 0;
    for (JsonNode task : spark.logged("SparkListenerTaskEnd")) {
      input += task.path("Task Metrics").path("Input Metrics").path("Bytes Read").asLong();
    }
    assertThat(sum(events, "bytesRead")).isEqualTo(input).isPositive();
    assertThat(sum(events, "gets")).isPositive();
    assertThat(
            sum(events, "bytesFromMemory")
                + sum(events, "bytesFromDisk")
                + sum(events, "bytesFromS3"))
        .isGreaterThanOrEqualTo(input);
    assertThat(lastValue(sink, "bytesFromS3")).isGreaterThanOrEqualTo(sum(events, "bytesFromS3"));
    assertThat(lastValue(sink, "bytesRead")).isGreaterThanOrEqualTo(input);
    assertThat(lastValue(sink, "memoryBudgetBytes")).isPositive();
    assertBillsAddUp(events);

    SparkListenerEvent again = JsonProtocol.sparkEventFromJson(events.get(0).toString());
    assertThat(JsonProtocol.sparkEventToJsonString(again)).isEqualTo(events.get(0).toString());
  }

  /** The bills of stages are the application's, in the event log and in the driver's last line. */
  private void assertBillsAddUp(List<JsonNode> events) {
    Bill sum = Bill.NONE;
    for (JsonNode event : events) {
      JsonNode bill = event.path("bill");
      sum =
          sum.plus(
              new Bill(
                  bill.path("requestsUsd").asDouble(),
                  bill.path("vcpuUsd").asDouble(),
                  bill.path("blockedUsd").asDouble()));
    }
    Bill whole =
        Prices.LIST.bill(
            sum(events, "gets") + sum(events, "heads"),
            sum(events, "taskCpuNanos"),
            sum(events, "readWaitNanos"));
    assertThat(sum.requestsUsd()).isPositive().isCloseTo(whole.requestsUsd(), within(1e-12));
    assertThat(sum.vcpuUsd()).isPositive().isCloseTo(whole.vcpuUsd(), within(1e-12));
    assertThat(sum.blockedUsd()).isCloseTo(whole.blockedUsd(), within(1e-12));
    String end =
        "INFO S3E read "
            + Sizes.bytes(sum(events, "bytesRead"))
            + ": "
            + Sizes.bytes(sum(events, "bytesFromMemory"))
            + " from memory, ";
    assertThat(log.lines())
        .filteredOn(line -> line.startsWith("INFO S3E read "))
        .singleElement()
        .asString()
        .startsWith(end)
        .contains(" by estimate " + Sizes.dollars(sum.totalUsd()) + ", ");
  }

  /** Two jobs at once on two threads of one executor: each stage has the bytes of its own files. */
  @Test
  @Tag("spark")
  void concurrentStagesHaveTheirOwnReads() throws Exception {
    SparkSession session = spark.builder().getOrCreate();
    JavaSparkContext context = new JavaSparkContext(session.sparkContext());
    Map<String, Long> sizes = Map.of("short", 40_000L, "long", 300_000L);
    for (Map.Entry<String, Long> each : sizes.entrySet()) {
      writeTexts(context, each.getKey(), each.getValue());
    }
    ExecutorService threads = Executors.newFixedThreadPool(2);
    List<Future<Long>> counts = new ArrayList<>();
    for (String name : sizes.keySet()) {
      Callable<Long> job =
          () -> {
            context.setJobDescription(name);
            return context.textFile(LocalSpark.path(name), 1).count();
          };
      counts.add(threads.submit(job));
    }
    for (Future<Long> each : counts) {
      assertThat(each.get(60, TimeUnit.SECONDS)).isPositive();
    }
    threads.shutdown();
    session.stop();

    Map<Integer, String> jobs = new HashMap<>();
    for (JsonNode job : spark.logged("SparkListenerJobStart")) {
      String name = job.path("Properties").path("spark.job.description").asText();
      job.path("Stage IDs").forEach(stage -> jobs.put(stage.asInt(), name));
    }
    Map<String, Long> read = new HashMap<>();
    for (JsonNode event : spark.logged(STAGE_EVENT)) {
      read.merge(
          jobs.get(event.path("stageId").asInt()), sum(List.of(event), "bytesRead"), Long::sum);
    }
    assertThat(read).isEqualTo(Map.of("short", 4 * 40_000L, "long", 4 * 300_000L));
  }

  /** Streams that leave much behind them, and are read on from memory by the next stage. */
  @Test
  @Tag("spark")
  void whatComesAfterTheCloseOfAStreamCountsForItsStage() throws Exception {
    SparkSession session =
        spark.builder().config("spark.hadoop.fs.s3a.s3e.cache.mode", "memory").getOrCreate();
    List<SparkListenerS3EStage> posted = stagesOf(session);
    JavaSparkContext context = new JavaSparkContext(session.sparkContext());
    writeTexts(context, "behind", 6 << 20);
    EngineMetrics before = OpenEngines.work().metrics();
    long headsBefore = headsOfS3A();
    for (int bytes : new int[] {2 << 20, 5 << 20}) {
      List<Integer> files = List.of(0, 1, 2, 3);
      assertThat(context.parallelize(files, 4).map(file -> readHead(file, bytes)).count())
          .isEqualTo(4);
    }
    awaitTrue(
        "stages have all that the engine has done",
        PATIENCE,
        () -> {
          ReadCounts sum =
              posted.stream()
                  .map(event -> event.reads().total())
                  .reduce(ReadCounts.NONE, ReadCounts::plus);
          EngineMetrics now = OpenEngines.work().metrics();
          return sum.bytesRead() == 4L * (7 << 20)
              && sum.heads() == headsOfS3A() - headsBefore
              && sum.heads() >= 4 * 2
              && sum.gets() == since(before, now, EngineMetrics.Counter.GETS)
              && sum.bytesFromS3() == since(before, now, EngineMetrics.Counter.FETCHED_BYTES)
              && sum.prefetchedBytes() == since(before, now, EngineMetrics.Counter.PREFETCHED_BYTES)
              && sum.prefetchedBytes() - sum.prefetchWastedBytes()
                  == since(before, now, EngineMetrics.Counter.PREFETCH_USED_BYTES);
        });
    session.stop();
  }

  /** As S3A counts them in the file system that tasks and test share. */
  private static long headsOfS3A() throws Exception {
    FileSystem store = FileSystem.get(URI.create(LocalSpark.path("")), new Configuration());
    return ((S3AFileSystem) store)
        .getIOStatistics()
        .counters()
        .get(StoreStatisticNames.ACTION_HTTP_HEAD_REQUEST);
  }

  private static int readHead(int file, int bytes) throws Exception {
    org.apache.hadoop.fs.Path path =
        new org.apache.hadoop.fs.Path(LocalSpark.path("behind"), "f" + file);
    FileSystem store = FileSystem.get(path.toUri(), new Configuration());
    try (FSDataInputStream in = store.open(path)) {
      return in.readNBytes(bytes).length;
    }
  }

  private static long since(
      EngineMetrics before, EngineMetrics now, EngineMetrics.Counter counter) {
    return now.get(counter) - before.get(counter);
  }

  private static void writeTexts(JavaSparkContext context, String name, long bytes)
      throws Exception {
    FileSystem store =
        FileSystem.get(URI.create(LocalSpark.path("")), context.hadoopConfiguration());
    for (int file = 0; file < 4; file++) {
      try (var out =
          store.create(new org.apache.hadoop.fs.Path(LocalSpark.path(name), "f" + file))) {
        byte[] line = "0123456789012345678901234567890123456789".getBytes();
        line[line.length - 1] = '\n';
        for (long written = 0; written < bytes; written += line.length) {
          out.write(line);
        }
      }
    }
  }

  @Test
  @Tag("spark")
  void aUsersOwnFileSystemIsLeftAlone() throws Exception {
    SparkSession session =
        spark
            .builder()
            .config("spark.hadoop.fs.s3a.impl", S3AFileSystem.class.getName())
            .getOrCreate();
    Configuration conf = session.sparkContext().hadoopConfiguration();
    assertThat(FileSystem.get(URI.create(LocalSpark.path("")), conf).getClass())
        .isEqualTo(S3AFileSystem.class);
    session.range(10).write().parquet(LocalSpark.path("by-s3a"));
    assertThat(session.read().parquet(LocalSpark.path("by-s3a")).count()).isEqualTo(10);
    session.stop();

    assertThat(log.lines())
        .anyMatch(
            line ->
                line.startsWith("WARN S3E does not read s3a://, since fs.s3a.impl = ")
                    && line.contains(S3AFileSystem.class.getName()));
    assertThat(spark.logged(STAGE_EVENT)).isEmpty();
  }

  /** A file that a session has written, which has ended, and Hadoop keeps nothing of it. */
  private static String writtenBy(SparkSession session) throws Exception {
    String file = LocalSpark.path("early/file");
    try (var out =
        FileSystem.get(URI.create(file), session.sparkContext().hadoopConfiguration())
            .create(new org.apache.hadoop.fs.Path(file))) {
      out.write(1);
    }
    session.stop();
    FileSystem.closeAll();
    return file;
  }

  /** Spark fetches files of the application before it begins its plugins. */
  @Test
  @Tag("spark")
  void aBucketThatSparkHasOpenedBeforeThePluginIsNamed() throws Exception {
    String file = writtenBy(spark.plain().getOrCreate());
    SparkSession session = spark.builder().config("spark.files", file).getOrCreate();
    FileSystem cached =
        FileSystem.get(URI.create(file), session.sparkContext().hadoopConfiguration());
    session.stop();
    assertThat(cached).as("as Hadoop keeps it").isNotInstanceOf(S3EFileSystem.class);
    assertThat(log.lines())
        .filteredOn(line -> line.startsWith("WARN S3E does not read s3a://" + LocalSpark.BUCKET))
        .singleElement()
        .asString()
        .contains("spark.hadoop.fs.s3a.impl = \"io.s3e.hadoop.S3EFileSystem\"");
  }

  @Test
  @Tag("spark")
  void aBucketThatS3eHasOpenedFromTheStartIsNot() throws Exception {
    String file = writtenBy(spark.builder().getOrCreate());
    SparkSession session =
        spark
            .builder()
            .config("spark.files", file)
            .config("spark.hadoop.fs.s3a.impl", S3EFileSystem.class.getName())
            .getOrCreate();
    FileSystem cached =
        FileSystem.get(URI.create(file), session.sparkContext().hadoopConfiguration());
    session.stop();
    assertThat(cached).isInstanceOf(S3EFileSystem.class);
    assertThat(log.lines()).noneMatch(line -> line.startsWith("WARN S3E does not read"));
  }

  @Test
  @Tag("spark")
  void badSettingsAreNamedAsTheyWereWritten() {
    assertThatThrownBy(
            () -> spark.builder().config("spark.s3e.memory.budget", "lots").getOrCreate())
        .hasStackTraceContaining("spark.s3e.memory.budget = \"lots\": expected a size from ");
    assertThatThrownBy(() -> spark.builder().config("spark.s3e.price.gets", "-1").getOrCreate())
        .hasStackTraceContaining("spark.s3e.price.gets = \"-1\": expected a number from 0.0 to ");
    assertThatThrownBy(() -> spark.builder().config("spark.s3e.price.vcpu", "NaN").getOrCreate())
        .hasStackTraceContaining(
            "spark.s3e.price.vcpu = \"NaN\": expected a number from 0.0 to 1000.0");
  }

  /** It is more than half of the 1 GiB of direct memory that an executor has by default. */
  @Test
  @Tag("spark")
  void aBudgetIsNotHeldToTheMemoryOfExecutorsWhereThereAreNone() throws Exception {
    SparkSession session = spark.builder().config("spark.s3e.memory.budget", "600m").getOrCreate();
    awaitLine("INFO S3E " + Version.text() + " on Hadoop ");
    session.stop();
    assertThat(log.lines())
        .noneMatch(line -> line.startsWith("WARN") && line.contains("spark.s3e.memory.budget"));
  }

  @Test
  @Tag("spark")
  void eventsAreSwitchedOff() throws Exception {
    SparkSession session =
        spark.builder().config("spark.s3e.events.enabled", "false").getOrCreate();
    session.range(10).write().parquet(LocalSpark.path("silent"));
    assertThat(session.read().parquet(LocalSpark.path("silent")).count()).isEqualTo(10);
    session.stop();
    assertThat(spark.logged(STAGE_EVENT)).isEmpty();
    assertThat(spark.logged("SparkListenerTaskEnd")).isNotEmpty();
  }

  /** As one that writes to a database. */
  @Test
  @Tag("smoke")
  void aSlowListenerOfSomebodyElseHoldsNoEventUp() throws Exception {
    SparkSession session = spark.builder().getOrCreate();
    session.range(10).write().parquet(LocalSpark.path("slow"));
    CountDownLatch isPosted = new CountDownLatch(1);
    CountDownLatch letGo = new CountDownLatch(1);
    SparkListener posted =
        new SparkListener() {
          @Override
          public void onOtherEvent(SparkListenerEvent event) {
            if (event instanceof SparkListenerS3EStage) {
              isPosted.countDown();
            }
          }
        };
    SparkListener slow =
        new SparkListener() {
          @Override
          public void onStageSubmitted(SparkListenerStageSubmitted event) {
            try {
              assertThat(letGo.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
        };
    session.sparkContext().listenerBus().addToQueue(posted, "posted");
    session.sparkContext().addSparkListener(slow);
    try {
      assertThat(session.read().parquet(LocalSpark.path("slow")).count()).isEqualTo(10);
      assertThat(isPosted.await(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      letGo.countDown();
      session.stop();
    }
    assertThat(spark.logged(STAGE_EVENT)).isNotEmpty();
  }

  private static long sum(List<JsonNode> events, String count) {
    long sum = 0;
    for (JsonNode event : events) {
      for (JsonNode executor : event.path("executors")) {
        sum += executor.path("counts").path(count).asLong();
      }
    }
    return sum;
  }

  /** The last line of the file that Spark's CSV sink has written for a metric of the plugin. */
  private static double lastValue(Path sink, String metric) throws Exception {
    try (Stream<Path> files = Files.list(sink)) {
      Path file =
          files
              .filter(
                  each ->
                      each.getFileName()
                          .toString()
                          .endsWith("plugin.io.s3e.spark.S3EPlugin." + metric + ".csv"))
              .findFirst()
              .orElseThrow();
      List<String> lines = Files.readAllLines(file);
      String last = lines.get(lines.size() - 1);
      return Double.parseDouble(last.substring(last.indexOf(',') + 1));
    }
  }

  private void awaitLine(String start) throws InterruptedException {
    awaitTrue(
        "a line that begins with " + start,
        PATIENCE,
        () -> log.lines().stream().anyMatch(line -> line.startsWith(start)));
  }

  private static PluginContext contextOf(SparkConf conf) {
    return (PluginContext)
        Proxy.newProxyInstance(
            PluginContext.class.getClassLoader(),
            new Class<?>[] {PluginContext.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("conf");
              return conf;
            });
  }

  @Test
  @Tag("spark")
  void reportsThatComeTooLateAreTold() throws Exception {
    SparkSession session = spark.builder().getOrCreate();
    S3EDriverPlugin driver = new S3EDriverPlugin();
    assertThat(driver.init(session.sparkContext(), contextOf(session.sparkContext().conf())))
        .isEmpty();
    session.stop();
    assertThat(log.lines()).noneMatch(line -> line.contains("after the end"));
    TaskReads late =
        new TaskReads(new StageAttempt(1, 0), "1", "host", ReadCounts.NONE, GetSummary.NONE);
    assertThat(driver.receive(late)).isNull();
    driver.shutdown();
    assertThat(log.lines())
        .contains("INFO Reports of tasks that came after the end, and are in no event: 1");
  }

  /** As with --proxy-user: threads of RPC are the login user's, from Java 24 on at the latest. */
  @Test
  @Tag("spark")
  void executorsGetTheSecretOfTheUserWhoBeganTheApplication() throws Exception {
    SparkSession session = spark.builder().getOrCreate();
    SparkConf conf = session.sparkContext().conf();
    String ofBucket = "fs.s3a.bucket.one.s3e.cache.encryption";
    session.sparkContext().hadoopConfiguration().set(ofBucket, "true");
    PluginContext context = contextOf(conf);
    S3EDriverPlugin driver = new S3EDriverPlugin();
    PrivilegedExceptionAction<Map<String, String>> init =
        () -> driver.init(session.sparkContext(), context);
    assertThat(UserGroupInformation.createRemoteUser("alice").doAs(init)).isEmpty();
    try {
      assertThat((byte[]) driver.receive(DriverRequest.CACHE_SECRET)).hasSize(32);
    } finally {
      driver.shutdown();
      session.stop();
    }
  }
}
