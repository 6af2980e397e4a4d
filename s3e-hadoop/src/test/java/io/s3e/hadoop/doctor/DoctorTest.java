// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EAbstractFileSystem;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.testserver.S3TestServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the doctor says of configurations, on the class path of the tests. */
class DoctorTest {
  private static final String OBJECT = "s3a://" + S3AServer.BUCKET + "/looked-at-by-the-doctor";
  private static final int LENGTH = 100_000;
  private static final int FIRST_BYTES = 65_536;
  private static final String CACHE_SECRET = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=";

  @TempDir Path scratch;

  @BeforeAll
  static void putObject() throws IOException {
    URI bucket = URI.create("s3a://" + S3AServer.BUCKET);
    try (FileSystem fs = FileSystem.newInstance(bucket, S3AServer.s3a(S3AServer.endpoint()));
        OutputStream out = fs.create(new org.apache.hadoop.fs.Path(OBJECT))) {
      out.write(new byte[LENGTH]);
    }
  }

  /** An exit code, and all that was said. */
  private record Said(int code, String out, String err) {}

  private static Said doctor(String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int code =
        DoctorProgram.run(
            new PrintStream(out, false, UTF_8), new PrintStream(err, true, UTF_8), arguments);
    return new Said(code, out.toString(UTF_8), err.toString(UTF_8));
  }

  /** Reads the test's server by S3E, but for the settings, of which "key=" unsets one. */
  private Said doctorWith(List<String> settings, String... places) throws IOException {
    Configuration conf = both();
    for (String setting : settings) {
      int equals = setting.indexOf('=');
      String value = setting.substring(equals + 1);
      if (value.isEmpty()) {
        conf.unset(setting.substring(0, equals));
      } else {
        conf.set(setting.substring(0, equals), value);
      }
    }
    List<String> arguments = new ArrayList<>(List.of("--conf", written(conf).toString()));
    arguments.addAll(List.of(places));
    return doctor(arguments.toArray(String[]::new));
  }

  private static Configuration both() {
    Configuration conf = S3AServer.s3e(S3AServer.endpoint());
    conf.set(Seam.IMPL, S3EFileSystem.class.getName());
    conf.set(Seam.ABSTRACT_IMPL, S3EAbstractFileSystem.class.getName());
    return conf;
  }

  private Path written(Configuration conf) throws IOException {
    Path file = Files.createTempFile(scratch, "site", ".xml");
    try (OutputStream out = Files.newOutputStream(file)) {
      conf.writeXml(out);
    }
    return file;
  }

  @Test
  void readyWhereBothKeysAreSetAndAnObjectIsRead() throws IOException {
    Said said = doctorWith(List.of(), OBJECT);
    assertThat(said.code()).as("%s", said).isEqualTo(0);
    assertThat(said.out())
        .contains("read by S3E, client crt")
        .contains(FIRST_BYTES + " bytes in ")
        .contains("by " + S3EFileSystem.class.getName() + ", client crt")
        .contains("its native library loads")
        .contains("cache on local disk  none: fs.s3a.s3e.cache.mode is memory")
        .endsWith("Ready.\n");
  }

  @Test
  void saysWhatIsKeptOfGets() throws IOException {
    String key = "fs.s3a.s3e.explain";
    assertThat(doctorWith(List.of()).out())
        .containsPattern(key + " +recent: the latest GETs, in memory");
    assertThat(doctorWith(List.of(key + "=off")).out())
        .containsPattern(key + " +off: nothing is kept of GETs");
    assertThat(doctorWith(List.of(key + "=spans")).out())
        .containsPattern(key + " +spans, by OpenTelemetry");
    assertThat(doctorWith(List.of(key + "=" + scratch)).out())
        .containsPattern(key + " +all, in " + scratch + "\n");
    Path file = Files.createTempFile(scratch, "no", "directory");
    Said said = doctorWith(List.of(key + "=" + file));
    assertThat(said.code()).isEqualTo(1);
    assertThat(said.out())
        .contains("all, in " + file + ", which is no directory that S3E may write")
        .contains("Name another directory by " + key);
  }

  @Test
  void showsNoSecret() throws IOException {
    List<String> secrets =
        List.of(
            "fs.s3a.s3e.cache.key=" + CACHE_SECRET,
            "fs.s3a.session.token=a-token-of-somebody",
            "fs.s3a.bucket.other.secret.key=a-key-of-somebody",
            "fs.s3a.client.s3.custom.headers=x-amz-server-side-encryption-customer-key=a-customer");
    for (String form : List.of("--json", OBJECT)) {
      Said said = doctorWith(secrets, form, OBJECT);
      assertThat(said.out())
          .contains("s3a://other")
          .doesNotContain(CACHE_SECRET)
          .doesNotContain("of-somebody")
          .doesNotContain("a-customer")
          .doesNotContain(S3TestServer.SECRET_KEY)
          .doesNotContain(S3TestServer.ACCESS_KEY);
    }
    Said wrong = doctor("s3a://id:a-key-of-somebody@bucket/key");
    assertThat(wrong.code()).isEqualTo(2);
    assertThat(wrong.err()).contains("without credentials").doesNotContain("of-somebody");
    assertThat(doctor("s3a://bucket/user=a@b.com/file").code())
        .as("a key with an @")
        .isNotEqualTo(2);
  }

  @Test
  void readsXmlByAnyName() throws IOException {
    Configuration conf = both();
    conf.set("fs.s3a.bucket.by-xml.s3e.enabled", "false");
    Path site = Files.move(written(conf), scratch.resolve("site.conf"));
    Said said = doctor("--conf", site.toString());
    assertThat(said.out()).containsPattern("s3a://by-xml +read by S3A's own stream");
  }

  @Test
  void goesOnBesideAFileThatIsNoXml() throws IOException {
    Path broken = Files.writeString(scratch.resolve("broken.xml"), "<configuration><property>");
    Said said = doctor("--conf", broken.toString());
    assertThat(said.code()).isEqualTo(1);
    assertThat(said.out()).contains(broken + ": ", "Correct " + broken, "S3E");
  }

  @Test
  void jsonHasTheSameRows() throws IOException {
    Said said = doctorWith(List.of(Seam.ABSTRACT_IMPL + "="), "--json", OBJECT);
    JsonNode document = new ObjectMapper().readTree(said.out());
    assertThat(said.code()).isEqualTo(1);
    assertThat(document.get("ready").booleanValue()).isFalse();
    assertThat(document.get("s3e").textValue()).isEqualTo(io.s3e.version.Version.text());
    JsonNode row = row(document.get("configuration"), Seam.ABSTRACT_IMPL);
    assertThat(row.get("level").textValue()).isEqualTo("todo");
    assertThat(row.get("remedy").textValue())
        .isEqualTo("Set " + Seam.ABSTRACT_IMPL + " to io.s3e.hadoop.S3EAbstractFileSystem");
    assertThat(row(document.get("class_path"), "Hadoop").get("value").textValue())
        .startsWith(System.getProperty("s3e.test.hadoop.version"));
    assertThat(row(document.get("reading"), OBJECT).get("level").textValue()).isEqualTo("ok");
  }

  private static JsonNode row(JsonNode rows, String name) {
    for (JsonNode row : rows) {
      if (row.get("name").textValue().equals(name)) {
        return row;
      }
    }
    throw new AssertionError("no row " + name + " in " + rows);
  }

  @Test
  void saysThatNothingIsReadByS3eWithoutTheKey() throws IOException {
    Said said = doctorWith(List.of(Seam.IMPL + "=", Seam.ABSTRACT_IMPL + "="), OBJECT);
    assertThat(said.code()).isEqualTo(1);
    assertThat(said.out())
        .contains("Set fs.s3a.impl to io.s3e.hadoop.S3EFileSystem")
        .contains("Set " + Seam.ABSTRACT_IMPL + " to io.s3e.hadoop.S3EAbstractFileSystem")
        .contains("would be read by S3E, client crt")
        .contains("by org.apache.hadoop.fs.s3a.S3AFileSystem, not by S3E");
  }

  @Test
  void tellsOfOtherSchemes() throws IOException {
    Said said =
        doctorWith(
            List.of("fs.s3.impl=com.example.OtherFileSystem", "fs.s3n.impl=" + S3E_FILE_SYSTEM));
    assertThat(said.code()).as("%s", said).isEqualTo(0);
    assertThat(said.out())
        .containsPattern("fs.s3.impl +com.example.OtherFileSystem .*are not read by S3E\n")
        .containsPattern("fs.s3n.impl +" + S3E_FILE_SYSTEM + " \\([^)]*\\)\n");
  }

  private static final String S3E_FILE_SYSTEM = S3EFileSystem.class.getName();

  @Test
  void aDisabledBucketIsToBeDoneWhereItIsAskedForOnly() throws IOException {
    List<String> settings = List.of("fs.s3a.bucket.my.bucket.s3e.enabled=false");
    Said mentioned = doctorWith(settings);
    assertThat(mentioned.code()).as("%s", mentioned).isEqualTo(0);
    String words = "s3a://my.bucket +read by S3A's own stream: fs.s3a.s3e.enabled is false";
    assertThat(mentioned.out()).containsPattern(words);
    Said asked = doctorWith(settings, "s3a://my.bucket");
    assertThat(asked.code()).isEqualTo(1);
    assertThat(asked.out()).containsPattern(words).contains("Set fs.s3a.s3e.enabled to true");
  }

  @Test
  void saysWhyABucketIsReadByS3a() throws IOException {
    Said said =
        doctorWith(
            List.of(
                "fs.s3a.bucket.sealed.encryption.algorithm=CSE-KMS",
                "fs.s3a.bucket.behind.proxy.host=127.0.0.1",
                "fs.s3a.bucket.behind.proxy.port=9",
                "fs.s3a.bucket.chosen.s3e.client=s3a"));
    assertThat(said.code()).as("%s", said).isEqualTo(0);
    assertThat(said.out())
        .containsPattern("s3a://sealed +read by S3A's own stream: objects are encrypted")
        .containsPattern("s3a://behind .*by S3A's client: fs.s3a.proxy.host is 127.0.0.1:9")
        .containsPattern("s3a://chosen .*by S3A's client: fs.s3a.s3e.client is s3a")
        .containsPattern("any other bucket +read by S3E, client crt");
  }

  @Test
  void namesSettingsThatAreNotAcceptedOrNotKnown() throws IOException {
    Said said =
        doctorWith(
            List.of("fs.s3a.bucket.b.s3e.block.size=7", "fs.s3a.bucket.c.s3e.memory.bugdet=1g"));
    assertThat(said.code()).isEqualTo(1);
    assertThat(said.out())
        .contains("Correct fs.s3a.bucket.b.s3e.block.size = \"7\" (bucket b): expected")
        .contains("did you mean fs.s3a.bucket.c.s3e.memory.budget?");
    Said general = doctorWith(List.of("fs.s3a.s3e.block.size=7"));
    assertThat(general.code()).isEqualTo(1);
    assertThat(general.out()).contains("Correct fs.s3a.s3e.block.size = \"7\": expected");
  }

  @Test
  void saysWhereTheCacheWouldBe() throws IOException {
    Path here = Files.createDirectory(scratch.resolve("disk"));
    String directories = "fs.s3a.s3e.cache.dirs=";
    Said said =
        doctorWith(
            List.of(
                "fs.s3a.s3e.cache.mode=disk", "fs.s3a.s3e.cache.capacity=64m", directories + here));
    assertThat(said.code()).as("%s", said).isEqualTo(0);
    assertThat(said.out()).contains("up to 64 MiB in " + here + ", scope private");
    try (Stream<Path> left = Files.list(here)) {
      assertThat(left).isEmpty();
    }
    Said nowhere =
        doctorWith(
            List.of("fs.s3a.s3e.cache.mode=disk", directories + scratch.resolve("not-there")));
    assertThat(nowhere.code()).isEqualTo(1);
    assertThat(nowhere.out())
        .contains("none: fs.s3a.s3e.cache.dirs has no directory that can be used")
        .contains("Name directories for the cache by fs.s3a.s3e.cache.dirs");
  }

  @Test
  void aCapacityThatIsTooSmallIsNotTheDirectorysFault() throws IOException {
    Path here = Files.createDirectory(scratch.resolve("small"));
    Said said =
        doctorWith(
            List.of(
                "fs.s3a.s3e.cache.mode=disk",
                "fs.s3a.s3e.cache.capacity=1m",
                "fs.s3a.s3e.cache.dirs=" + here));
    assertThat(said.code()).isEqualTo(1);
    assertThat(said.out())
        .contains("Raise fs.s3a.s3e.cache.capacity: expected 0 or at least 16 MiB");
  }

  @Test
  void looksAtTheFileOfAuthorities() throws IOException {
    Path empty = Files.createFile(scratch.resolve("ca.pem"));
    String key = "fs.s3a.s3e.tls.ca.file";
    for (String file : List.of("/not/there.pem", empty.toString())) {
      Said said = doctorWith(List.of(key + "=" + file));
      assertThat(said.code()).isEqualTo(1);
      assertThat(said.out())
          .contains("the CA file " + file, "Set " + key + " to a PEM file of certificates");
    }
  }

  @Test
  void comparesTheBudgetWithTheMemoryOfTasks() throws IOException {
    Said byDefault = doctorWith(List.of());
    assertThat(byDefault.out())
        .contains(
            "budget 102 MiB, of the 204 MiB that its container of 1024 MiB has beside the heap of"
                + " 820 MiB");
    Said tight =
        doctorWith(
            List.of(
                "mapreduce.map.memory.mb=2048",
                "mapreduce.map.java.opts=-Xmx1g -Xmx2000m",
                "mapreduce.reduce.java.opts=-Xmx1g"));
    assertThat(tight.code()).isEqualTo(1);
    assertThat(tight.out())
        .contains("budget 250 MiB, of the 48 MiB that its container of 2048 MiB has")
        .contains("Raise mapreduce.map.memory.mb or lower fs.s3a.s3e.memory.budget")
        .contains("container of 1280 MiB has beside the heap of 1024 MiB");
    Said unreadable = doctorWith(List.of("mapreduce.map.memory.mb=4g"));
    assertThat(unreadable.code()).isEqualTo(1);
    assertThat(unreadable.out())
        .contains("a map task", "\"4g\"", "Set mapreduce.map.memory.mb and")
        .contains("container of 1024 MiB");
    Said narrow =
        doctorWith(
            List.of(
                "mapreduce.map.memory.mb=1024",
                "mapreduce.map.java.opts=-Xmx900m",
                "mapreduce.reduce.java.opts=-Xmx900m"));
    assertThat(narrow.code()).isEqualTo(1);
    assertThat(narrow.out())
        .contains("of the 124 MiB that", "more than three quarters of that are taken");
    Said fast =
        doctorWith(
            List.of(
                "mapreduce.map.memory.mb=600",
                "mapreduce.map.java.opts=-Xmx512m",
                "fs.s3a.s3e.throughput.target.gbps=50"));
    assertThat(fast.out()).contains("budget 64 MiB, of the 88 MiB that its container of 600 MiB");
    Said greedy = doctorWith(List.of("fs.s3a.s3e.memory.budget=1t"));
    assertThat(greedy.code()).isEqualTo(1);
    assertThat(greedy.out()).contains("is more than half of the direct memory");
  }

  @Test
  void readsTheFilesOfSpark() throws IOException {
    Path site = written(both());
    Path spark = scratch.resolve("spark-defaults.conf");
    Files.writeString(
        spark,
        "spark.hadoop.fs.s3a.bucket.by-spark.s3e.enabled  false\n"
            + "spark.plugins io.s3e.spark.S3EPlugin\n");
    Said said = doctor("--conf", site.toString(), "--conf", spark.toString());
    assertThat(said.code()).as("%s", said).isEqualTo(0);
    assertThat(said.out()).containsPattern("s3a://by-spark +read by S3A's own stream");
    Files.writeString(
        spark, "spark.s3e.events.enabled false\n" + "spark.plugins io.s3e.spark.S3EPlugin\n");
    Said alone = doctor("--conf", spark.toString());
    // Of a cluster whose Spark brings the plugin: this class path says nothing of it.
    assertThat(alone.code()).as("%s", alone).isEqualTo(0);
    assertThat(alone.out())
        .contains("spark.plugins", "io.s3e.spark.S3EPlugin, which is not looked at here")
        .contains("which io.s3e.spark.S3EPlugin sets when Spark starts", "an executor")
        .doesNotContain("a map task");
    Files.writeString(
        spark,
        "spark.master k8s://https://127.0.0.1\n"
            + "spark.executor.memory 8g\n"
            + "spark.kubernetes.memoryOverheadFactor 0.4\n"
            + "spark.plugins io.s3e.spark.S3EPlugin\n");
    assertThat(doctor("--conf", spark.toString()).out()).contains("container of 11468 MiB");
  }

  @Test
  void saysWhyAnObjectCannotBeRead() throws IOException {
    Said said = doctorWith(List.of(), OBJECT + "-that-is-not-there");
    assertThat(said.code()).isEqualTo(1);
    assertThat(said.out()).contains("FileNotFoundException", "docs/TROUBLESHOOTING.md");
  }

  @Test
  void namesWhatIsWrongWithItsArguments() {
    assertThat(doctor("--jsno").err()).contains("unknown option --jsno", "Usage: s3e doctor");
    assertThat(doctor("bucket/key").err()).contains("\"bucket/key\": expected s3a://BUCKET");
    assertThat(doctor("--conf").err()).contains("--conf \"\": expected a file");
    assertThat(doctor("--conf", "not-there").err()).contains("--conf \"not-there\"");
    assertThat(doctor("--conf", "not-there").code()).isEqualTo(2);
    Said help = doctor("--help");
    assertThat(help.code()).isEqualTo(0);
    assertThat(help.out()).isEqualTo(Arguments.USAGE);
  }
}
