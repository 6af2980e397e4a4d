// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.bench.process.ChildJvm;
import io.s3e.bench.server.ServerProcess;
import io.s3e.bench.server.Shape;
import io.s3e.bench.server.ShapedS3Server;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * The whole command at a small size: engines, peers, stores and options. A JVM of its own runs each
 * workload by each engine, which is what takes the time, so a build reads below a prefix by one
 * engine; {@code -Ds3e.test.bench=all} by three, as each night.
 */
@Slow
class BenchCommandTest {

  @TempDir private Path temp;

  private BenchRun.Outcome run(String... arguments) throws Exception {
    return new BenchRun(temp).run(arguments);
  }

  @Test
  void theMainJobShowsEachEngineWhereItBelongsAndABadDay() throws Exception {
    Path jvms = Files.createDirectory(temp.resolve("jvms"));
    Path log = temp.resolve("requests.jsonl");
    BenchRun.Outcome outcome =
        run(
            "--size=6",
            "--random-size=4",
            "--rounds=1",
            "--warm-up=3600",
            "--steady=100",
            "--request-log=" + log,
            "--jvm-option=-Xlog:gc+init:file=" + jvms.resolve("%p.log"));

    assertThat(outcome.code()).isZero();
    for (String workload : Preset.STANDARD.workloads()) {
      for (String engine : Preset.STANDARD.engines(workload)) {
        assertThat(outcome.verdict(workload, engine)).as(workload + engine).startsWith("ok");
      }
    }
    assertThat(outcome.results().get("summaries")).as("3, 3, 3, 3, 2").hasSize(14);
    assertThat(jvms.toFile().list()).as("a JVM for each engine").hasSize(5);
    assertThat(outcome.out()).contains("S3E is").contains("Every byte was right in every run.");
    assertThat(outcome.out().lines().map(String::length)).allMatch(length -> length <= 240);
    for (String workload : List.of("seq", "rnd", "vec")) {
      outcome.assertMeasured(workload, 0, "classic");
    }
    // Two runs of a warm-up have rates; the second ends it whatever they are, unless the compiler
    // has made it more than twice as fast. Each run reads the text by a bucket's name of its own.
    Set<String> names = new HashSet<>();
    for (String line : Files.readAllLines(log)) {
      JsonNode request = new ObjectMapper().readTree(line);
      if (request.get("operation").asText().equals("GET_OBJECT")
          && request.get("path").asText().endsWith("lineitem.tbl")) {
        names.add(request.get("path").asText());
      }
    }
    int engines = Preset.STANDARD.engines("seq").size() + Preset.STANDARD.engines("rnd").size();
    assertThat(names)
        .as("some runs and the one that counts")
        .hasSizeBetween(3 * engines, 10 * engines);
  }

  /** A bucket of the user's own. */
  private ShapedS3Server start() throws IOException {
    Path root = Files.createDirectory(temp.resolve("root"));
    Files.createDirectory(root.resolve("mine"));
    return ShapedS3Server.start(
        new ShapedS3Server.Settings(root, 0, "access", "secret", Shape.UNSHAPED));
  }

  private static Map<String, String> entries(ShapedS3Server server) {
    return Map.of(
        "fs.s3a.endpoint", server.endpoint().toString(),
        "fs.s3a.endpoint.region", "us-east-1",
        "fs.s3a.path.style.access", "true",
        "fs.s3a.access.key", "access",
        "fs.s3a.secret.key", "secret");
  }

  private Path coreSite(Map<String, String> entries) throws IOException {
    Configuration configuration = new Configuration(false);
    entries.forEach(configuration::set);
    Path coreSite = temp.resolve("core-site.xml");
    try (OutputStream out = Files.newOutputStream(coreSite)) {
      configuration.writeXml(out);
    }
    return coreSite;
  }

  private static byte[] content(int size, long seed) {
    byte[] content = new byte[size];
    new Random(seed).nextBytes(content);
    return content;
  }

  private void write(String uri, byte[] content, Map<String, String> hadoop) throws Exception {
    Configuration configuration = new Configuration();
    hadoop.forEach(configuration::set);
    configuration.set("hadoop.tmp.dir", temp.resolve("tmp").toString());
    try (FileSystem s3a = FileSystem.newInstance(URI.create("s3a://mine/"), configuration);
        OutputStream out = s3a.create(new org.apache.hadoop.fs.Path(uri))) {
      out.write(content);
    }
  }

  /**
   * The options of the store come before what core-site.xml says, for S3A, for S3E over both of its
   * clients, and for clients alone. Bad peers beside them are named, and the job goes on.
   */
  @Test
  void anObjectOfTheUsersOwnIsReadByAllAndBadPeersAreNamed() throws Exception {
    byte[] content = content(3_000_000, 5);
    Path profiles =
        Files.writeString(
            temp.resolve("credentials"),
            "[reader]\naws_access_key_id = access\naws_secret_access_key = secret\n");
    Path coreSite =
        coreSite(
            Map.of(
                "fs.s3a.endpoint", "http://127.0.0.1:1",
                "fs.s3a.bucket.mine.endpoint", "http://127.0.0.1:2",
                "fs.s3a.access.key", "nobody",
                "fs.s3a.secret.key", "nothing"));
    String profileFile = "aws.sharedCredentialsFile";
    Path jvmOptions =
        Files.writeString(temp.resolve("options"), "-D" + profileFile + "=" + profiles);
    String before = System.setProperty(profileFile, profiles.toString());
    try (ShapedS3Server server = start()) {
      write("s3a://mine/object", content, entries(server));
      List<String> engines = List.of("classic", "s3e", "s3e-crt-bytes", "raw-sync-2", "raw-crt-2");
      BenchRun.Outcome outcome =
          run(
              "s3a://mine/object",
              "--endpoint=" + server.endpoint(),
              "--region=eu-west-1",
              "--path-style",
              "--profile=reader",
              "--conf=" + coreSite,
              "--jvm-option=@" + jvmOptions,
              "--engines=corrupting,hanging,missing," + String.join(",", engines),
              "--set=corrupting:fs.s3a.impl=" + CorruptingFileSystem.class.getName(),
              "--set=hanging:fs.s3a.impl=" + HangingFileSystem.class.getName(),
              "--set=missing:fs.s3a.impl=no.such.FileSystem",
              "--workloads=seq,parquet",
              "--rounds=1",
              "--read-deadline=8");

      assertThat(outcome.code()).isZero();
      for (String engine : engines) {
        assertThat(outcome.bytesUsed("seq", engine)).as(engine).isEqualTo(content.length);
      }
      JsonNode classic = outcome.summary("seq", "classic");
      assertThat(classic.get("medians").has("gets")).as("nobody counted them").isFalse();
      assertThat(outcome.verdict("seq", "corrupting"))
          .startsWith("WRONG BYTES in 2 of 2 runs")
          .contains("at " + CorruptingFileSystem.WRONG_BYTE);
      assertThat(outcome.verdict("seq", "hanging"))
          .startsWith("HUNG in 1 of 1 runs")
          .contains("did not return within 8000 ms");
      assertThat(outcome.verdict("seq", "missing"))
          .startsWith("FAILED in 2 of 2 runs")
          .contains("no.such.FileSystem");
      assertThat(outcome.summary("seq", "corrupting").get("medians").has("megabytesPerSecond"))
          .isFalse();
      assertThat(outcome.results().get("summaries")).as("no Parquet in it").hasSize(8);
      assertThat(outcome.results().toString()).doesNotContain("secret");
    } finally {
      if (before == null) {
        System.clearProperty(profileFile);
      } else {
        System.setProperty(profileFile, before);
      }
    }
  }

  /**
   * By what core-site.xml says, but for S3A's own streams: another file system is behind s3a://.
   */
  @Test
  void objectsBelowAPrefixOfTheUsersOwn() throws Exception {
    // So long that seeks to and fro find something.
    byte[] content = content(9_000_000, 6);
    try (ShapedS3Server server = start()) {
      write("s3a://mine/object", content, entries(server));
      write("s3a://mine/below/a small one", Arrays.copyOf(content, 100_000), entries(server));
      List<String> engines = BenchRun.some(List.of("s3e"), "classic", "s3e-crt-bytes");
      List<String> workloads = BenchRun.some(List.of("seq2", "small", "parquet"), "back");
      Map<String, String> site = new HashMap<>(entries(server));
      site.put("fs.s3a.impl", "no.such.FileSystem");
      BenchRun.Outcome prefix =
          run(
              "s3a://mine/",
              "--conf=" + coreSite(site),
              "--engines=" + String.join(",", engines),
              "--workloads=" + String.join(",", workloads),
              "--rounds=1");

      for (String engine : engines) {
        assertThat(prefix.bytesUsed("seq2", engine)).isEqualTo(content.length);
        assertThat(prefix.bytesUsed("small", engine)).isEqualTo(100_000);
        if (workloads.contains("back")) {
          assertThat(prefix.bytesUsed("back", engine)).isPositive();
        }
      }
      assertThat(prefix.out()).contains("nothing here to read for parquet");
      assertThat(prefix.results().toString()).doesNotContain("secret");
    }
  }

  @Test
  void theEmbeddedServerIsReadWhateverAFileSaysOfStores() throws Exception {
    Map<String, String> site = new HashMap<>();
    site.put("fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem");
    site.put("fs.s3a.endpoint", HostileS3Server.refusingEndpoint().toString());
    for (String bucket : List.of("s3e-bench", "s3e-bench-run1", "s3e-bench-run2")) {
      String keys = "fs.s3a.bucket." + bucket + ".";
      site.put(keys + "endpoint", HostileS3Server.refusingEndpoint().toString());
      site.put(keys + "secret.key", "nothing");
    }
    site.put("fs.s3a.access.key", "nobody");
    site.put("fs.s3a.proxy.host", "127.0.0.1");
    site.put("fs.s3a.proxy.port", "1");
    String[] arguments = {
      "--conf=" + coreSite(site),
      "--engines=classic",
      "--workloads=seq",
      "--rounds=1",
      "--size=1",
      "--read-deadline=8"
    };
    BenchRun.Outcome outcome = run(arguments);

    assertThat(outcome.bytesUsed("seq", "classic")).isEqualTo(1 << 20);
    JsonNode run = outcome.summary("seq", "classic").get("runs").get(0).get("result");
    assertThat(run.get("counters").toString()).as("of S3A's own stream").doesNotContain("s3e");

    String[] defined = Arrays.copyOf(arguments, arguments.length + 1);
    defined[arguments.length] = "-Dfs.s3a.access.key=nobody";
    assertThat(run(defined).verdict("seq", "classic")).as("a definition").startsWith("FAILED");
  }

  /** A file of one page of numbers, each of whose bits means something. */
  private byte[] parquet() throws IOException {
    Path file = temp.resolve("numbers.parquet");
    MessageType schema = Types.buildMessage().required(INT64).named("number").named("numbers");
    Random random = new Random(8);
    try (ParquetWriter<Group> writer =
        ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withType(schema)
            .withDictionaryEncoding(false)
            .withCompressionCodec(CompressionCodecName.UNCOMPRESSED)
            .build()) {
      for (int row = 0; row < 10_000; row++) {
        writer.write(numbers(schema, random.nextLong()));
      }
    }
    return Files.readAllBytes(file);
  }

  private static Group numbers(MessageType schema, long number) {
    Group row = new SimpleGroup(schema);
    row.add(0, number);
    return row;
  }

  @Test
  void whatIsDecodedIsComparedWithS3asClassicStreamAndNotWithTheFirstEngine() throws Exception {
    try (ShapedS3Server server = start()) {
      write("s3a://mine/numbers.parquet", parquet(), entries(server));
      BenchRun.Outcome outcome =
          run(
              "s3a://mine/",
              "--conf=" + coreSite(entries(server)),
              "--engines=corrupting,classic",
              "--set=corrupting:fs.s3a.impl=" + CorruptingFileSystem.class.getName(),
              "--set=corrupting:" + CorruptingFileSystem.WRONG_BYTE_KEY + "=40000",
              "--workloads=parquet",
              "--rounds=1");

      assertThat(outcome.verdict("parquet", "corrupting"))
          .startsWith("WRONG BYTES")
          .contains("checksum of the columns' pages");
      assertThat(outcome.verdict("parquet", "classic")).startsWith("ok");
    }
  }

  @Test
  void optionsOfTheStoreAreEntriesOfTheBucket() {
    StoreAddress none = new StoreAddress();
    new CommandLine(none).parseArgs();
    assertThat(none.hadoop("mine", Map.of())).isEmpty();
    StoreAddress told = new StoreAddress();
    new CommandLine(told).parseArgs("--endpoint=http://127.0.0.1:9000", "--region=eu-west-1");
    assertThat(told.hadoop("mine", Map.of()))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "fs.s3a.bucket.mine.endpoint", "http://127.0.0.1:9000",
                "fs.s3a.bucket.mine.endpoint.region", "eu-west-1"));
    StoreAddress anonymous = new StoreAddress();
    new CommandLine(anonymous).parseArgs("--anonymous", "--path-style", "--region=eu-west-1");
    assertThat(anonymous.hadoop("mine", Map.of()))
        .containsEntry("fs.s3a.bucket.mine.path.style.access", "true")
        .containsEntry(
            "fs.s3a.bucket.mine.aws.credentials.provider",
            "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider");
  }

  @Test
  void theProfilesEndpointIsAnEntryUnlessAnotherIsSet(@TempDir Path temp) throws Exception {
    Path config =
        Files.writeString(
            temp.resolve("config"),
            "[default]\nendpoint_url = http://127.0.0.1:9000\nregion = eu-west-1\n");
    System.setProperty("aws.configFile", config.toString());
    try {
      StoreAddress none = new StoreAddress();
      new CommandLine(none).parseArgs();
      assertThat(none.hadoop("mine", Map.of()))
          .containsExactlyInAnyOrderEntriesOf(
              Map.of(
                  "fs.s3a.bucket.mine.endpoint", "http://127.0.0.1:9000",
                  "fs.s3a.bucket.mine.endpoint.region", "eu-west-1"));
      assertThat(none.hadoop("mine", Map.of("fs.s3a.endpoint", "http://minio"))).isEmpty();
      assertThat(none.hadoop("mine", Map.of("fs.s3a.endpoint.region", "garage")))
          .containsExactly(Map.entry("fs.s3a.bucket.mine.endpoint", "http://127.0.0.1:9000"));
    } finally {
      System.clearProperty("aws.configFile");
    }
  }

  @Test
  void optionsThatMakeNoSenseAreNamed() {
    for (String[] arguments :
        new String[][] {
          {"--engines=nobody"},
          {"--workloads=sleep"},
          {"--stagger=-1"},
          {"--memory-budget=0"},
          {"--warm-up=-1"},
          {"--steady=101"},
          {"--warm-up-size=-1"},
          {"--cold-jvms=0"},
          {"--rounds=0"},
          {"--set=x"},
          {"--endpoint=http://127.0.0.1:9000"},
          {"s3a://mine/object", "--endpoint=127.0.0.1:9000"},
          {"http://x/y"}
        }) {
      StringWriter out = new StringWriter();
      assertThat(BenchRun.execute(out, arguments)).isEqualTo(2);
    }
  }

  @Test
  void serverIsAProcessThatEndsWithItsParentsLine() throws Exception {
    Path log = temp.resolve("server.log");
    ChildJvm server = ChildJvm.start("server", ServerProcess.class, List.of(), log);
    server.close();

    assertThat(server.isAlive()).isFalse();
  }
}
