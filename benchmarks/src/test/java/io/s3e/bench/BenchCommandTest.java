// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.bench.process.ChildJvm;
import io.s3e.bench.server.ServerProcess;
import io.s3e.bench.server.Shape;
import io.s3e.bench.server.ShapedS3Server;
import io.s3e.testing.Slow;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The whole command at a small size: engines, peers, stores and options. */
@Slow
class BenchCommandTest {

  @TempDir private Path temp;

  private BenchRun.Outcome run(String... arguments) throws Exception {
    return new BenchRun(temp).run(arguments);
  }

  @Test
  void rawClientsRunWhatTheyCanAndAreLeftOutElsewhere() throws Exception {
    BenchRun.Outcome outcome =
        run(
            "--engines=classic,s3e-crt-bytes,raw-crt-2,raw-sync-2",
            "--workloads=seq,back",
            "--size=20",
            "--seek-size=6",
            "--rounds=1");

    assertThat(outcome.code()).isZero();
    for (String engine : List.of("raw-crt-2", "raw-sync-2")) {
      JsonNode run = outcome.summary("seq", engine).get("runs").get(0);
      assertThat(outcome.verdict("seq", engine)).startsWith("ok");
      assertThat(run.get("result").get("bytesUsed").asLong()).isEqualTo(20 << 20);
      assertThat(run.get("server").get("operations").get("GET_OBJECT").get("requests").asLong())
          .isEqualTo(3);
    }
    for (String workload : List.of("seq", "back")) {
      assertThat(outcome.verdict(workload, "s3e-crt-bytes")).startsWith("ok");
    }
    assertThat(outcome.results().get("summaries"))
        .as("raw clients cannot go to and fro")
        .hasSize(6);
  }

  @Test
  void aWarmUpReadsAsMuchAsItIsTold() throws Exception {
    Path log = temp.resolve("requests.jsonl");
    run(
        "--engines=classic",
        "--workloads=seq",
        "--size=8",
        "--warm-up-size=20",
        "--request-log=" + log,
        "--rounds=1");

    long gets =
        Files.readAllLines(log).stream().filter(line -> line.contains("lineitem.tbl")).count();
    assertThat(gets)
        .as("three runs of 8 MiB and the one that counts, a HEAD and a GET")
        .isEqualTo(8);
  }

  /** Two runs of a warm-up have rates; the second ends it whatever they are. */
  @Test
  void aWarmUpEndsWithARunThatIsLikeTheOneBefore() throws Exception {
    Path log = temp.resolve("requests.jsonl");
    run(
        "--engines=classic",
        "--workloads=seq",
        "--size=8",
        "--warm-up=3600",
        "--steady=100",
        "--request-log=" + log,
        "--rounds=1");

    long gets =
        Files.readAllLines(log).stream().filter(line -> line.contains("lineitem.tbl")).count();
    assertThat(gets).as("some runs and the one that counts").isBetween(6L, 20L);
  }

  @Test
  void theMainJobShowsEachEngineWhereItBelongsAndABadDay() throws Exception {
    Path jvms = Files.createDirectory(temp.resolve("jvms"));
    BenchRun.Outcome outcome =
        run(
            "--size=6",
            "--random-size=4",
            "--rounds=1",
            "--jvm-option=-Xlog:gc+init:file=" + jvms.resolve("%p.log"));

    assertThat(outcome.code()).isZero();
    for (String workload : Preset.STANDARD.workloads()) {
      for (String engine : Preset.STANDARD.engines(workload)) {
        assertThat(outcome.verdict(workload, engine)).as(workload + engine).startsWith("ok");
      }
    }
    assertThat(outcome.results().get("summaries")).as("4, 3, 3, 3, 2").hasSize(15);
    assertThat(jvms.toFile().list()).as("a JVM for each engine").hasSize(6);
    assertThat(outcome.out()).contains("S3E is").contains("Every byte was right in every run.");
    assertThat(outcome.out().lines().map(String::length)).allMatch(length -> length <= 240);
  }

  @Test
  void badPeersAreNamedAndTheJobGoesOn() throws Exception {
    BenchRun.Outcome outcome =
        run(
            "--engines=corrupting,hanging,missing,classic",
            "--set=corrupting:fs.s3a.impl=" + CorruptingFileSystem.class.getName(),
            "--set=hanging:fs.s3a.impl=" + HangingFileSystem.class.getName(),
            "--set=missing:fs.s3a.impl=no.such.FileSystem",
            "--workloads=seq",
            "--size=2",
            "--rounds=1",
            "--read-deadline=8");

    assertThat(outcome.code()).isZero();
    assertThat(outcome.verdict("seq", "corrupting"))
        .startsWith("WRONG BYTES in 2 of 2 runs")
        .contains("at " + CorruptingFileSystem.WRONG_BYTE);
    assertThat(outcome.verdict("seq", "hanging"))
        .startsWith("HUNG in 1 of 1 runs")
        .contains("did not return within 8000 ms");
    assertThat(outcome.verdict("seq", "missing"))
        .startsWith("FAILED in 2 of 2 runs")
        .contains("no.such.FileSystem");
    assertThat(outcome.verdict("seq", "classic")).startsWith("ok");
    assertThat(outcome.summary("seq", "corrupting").get("medians").has("megabytesPerSecond"))
        .isFalse();
  }

  private static Configuration configuration(Map<String, String> entries) {
    Configuration configuration = new Configuration(false);
    entries.forEach(configuration::set);
    return configuration;
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

  @Test
  void anObjectOfTheUsersOwn() throws Exception {
    Path root = Files.createDirectory(temp.resolve("root"));
    byte[] content = new byte[3_000_000];
    new Random(5).nextBytes(content);
    Files.createDirectory(root.resolve("mine"));
    ShapedS3Server.Settings settings =
        new ShapedS3Server.Settings(root, 0, "access", "secret", Shape.UNSHAPED);
    try (ShapedS3Server server = ShapedS3Server.start(settings)) {
      Map<String, String> hadoop =
          Map.of(
              "fs.s3a.endpoint", server.endpoint().toString(),
              "fs.s3a.endpoint.region", "us-east-1",
              "fs.s3a.path.style.access", "true",
              "fs.s3a.access.key", "access",
              "fs.s3a.secret.key", "secret");
      write("s3a://mine/object", content, hadoop);
      Path coreSite = temp.resolve("core-site.xml");
      try (OutputStream out = Files.newOutputStream(coreSite)) {
        configuration(hadoop).writeXml(out);
      }
      BenchRun.Outcome outcome =
          run(
              "s3a://mine/object",
              "--conf=" + coreSite,
              "--engines=classic,corrupting",
              "--set=corrupting:fs.s3a.impl=" + CorruptingFileSystem.class.getName(),
              "--workloads=seq,parquet",
              "--rounds=1");

      JsonNode classic = outcome.summary("seq", "classic");
      assertThat(classic.get("verdict").asText()).startsWith("ok");
      assertThat(classic.get("medians").has("gets")).as("nobody counted them").isFalse();
      assertThat(classic.get("runs").get(0).get("result").get("bytesUsed").asLong())
          .isEqualTo(content.length);
      assertThat(outcome.verdict("seq", "corrupting")).startsWith("WRONG BYTES");
      assertThat(outcome.results().get("summaries")).as("no Parquet in it").hasSize(2);
      assertThat(outcome.results().toString()).doesNotContain("secret");

      write("s3a://mine/below/a small one", Arrays.copyOf(content, 100_000), hadoop);
      BenchRun.Outcome prefix =
          run(
              "s3a://mine/",
              "--conf=" + coreSite,
              "--engines=classic,s3e",
              "--workloads=seq2,small,parquet",
              "--rounds=1");

      for (String engine : List.of("classic", "s3e")) {
        assertThat(prefix.bytesUsed("seq2", engine)).isEqualTo(content.length);
        assertThat(prefix.bytesUsed("small", engine)).isEqualTo(100_000);
      }
      assertThat(prefix.out()).contains("nothing here to read for parquet");
    }
  }

  /** The options come before what core-site.xml says, for S3A, S3E and clients alone. */
  @Test
  void theStoreIsToldByTheOptionsOfAllCommands() throws Exception {
    Path root = Files.createDirectory(temp.resolve("root"));
    Files.createDirectory(root.resolve("mine"));
    byte[] content = new byte[100_000];
    new Random(6).nextBytes(content);
    Path profiles =
        Files.writeString(
            temp.resolve("credentials"),
            "[reader]\naws_access_key_id = access\naws_secret_access_key = secret\n");
    Path coreSite = temp.resolve("core-site.xml");
    try (OutputStream out = Files.newOutputStream(coreSite)) {
      configuration(
              Map.of(
                  "fs.s3a.endpoint", "http://127.0.0.1:1",
                  "fs.s3a.bucket.mine.endpoint", "http://127.0.0.1:2",
                  "fs.s3a.access.key", "nobody",
                  "fs.s3a.secret.key", "nothing"))
          .writeXml(out);
    }
    String profileFile = "aws.sharedCredentialsFile";
    Path jvmOptions =
        Files.writeString(temp.resolve("options"), "-D" + profileFile + "=" + profiles);
    System.setProperty(profileFile, profiles.toString());
    try (ShapedS3Server server =
        ShapedS3Server.start(
            new ShapedS3Server.Settings(root, 0, "access", "secret", Shape.UNSHAPED))) {
      Map<String, String> hadoop =
          Map.of(
              "fs.s3a.endpoint", server.endpoint().toString(),
              "fs.s3a.endpoint.region", "us-east-1",
              "fs.s3a.path.style.access", "true",
              "fs.s3a.access.key", "access",
              "fs.s3a.secret.key", "secret");
      write("s3a://mine/object", content, hadoop);
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
              "--engines=" + String.join(",", engines),
              "--workloads=seq",
              "--rounds=1");

      assertThat(outcome.code()).isZero();
      for (String engine : engines) {
        assertThat(outcome.bytesUsed("seq", engine)).as(engine).isEqualTo(content.length);
      }
    } finally {
      System.clearProperty(profileFile);
    }
  }

  @Test
  void optionsOfTheStoreAreEntriesOfTheBucket() {
    StoreAddress none = new StoreAddress();
    new CommandLine(none).parseArgs();
    assertThat(none.hadoop("mine")).isEmpty();
    StoreAddress told = new StoreAddress();
    new CommandLine(told).parseArgs("--endpoint=http://127.0.0.1:9000", "--region=eu-west-1");
    assertThat(told.hadoop("mine"))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "fs.s3a.bucket.mine.endpoint", "http://127.0.0.1:9000",
                "fs.s3a.bucket.mine.endpoint.region", "eu-west-1"));
    StoreAddress anonymous = new StoreAddress();
    new CommandLine(anonymous).parseArgs("--anonymous", "--path-style", "--region=eu-west-1");
    assertThat(anonymous.hadoop("mine"))
        .containsEntry("fs.s3a.bucket.mine.path.style.access", "true")
        .containsEntry(
            "fs.s3a.bucket.mine.aws.credentials.provider",
            "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider");
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
