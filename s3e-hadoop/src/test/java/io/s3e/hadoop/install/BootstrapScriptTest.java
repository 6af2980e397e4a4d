// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.install;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code docs/install/bootstrap.sh} on copies of the directories that EMR and Dataproc lay out. */
@Tag("source-tree")
@Slow
class BootstrapScriptTest {
  private static final Path SCRIPT =
      Path.of("../docs/install/bootstrap.sh").toAbsolutePath().normalize();
  private static final String INSTALLED = "/usr/lib/s3e/s3e-hadoop-bundle.jar";
  private static final long PATIENCE_SECONDS = 60;

  /** EMR's own entries, which must stay. */
  private static final String CLASS_PATH_OF_EMR =
      "/usr/lib/hadoop-lzo/lib/*:/usr/lib/hadoop/hadoop-aws.jar:/usr/share/aws/emr/emrfs/lib/*";

  private static final String CORE_SITE_OF_EMR =
      """
      <?xml version="1.0"?>
      <configuration>
        <!-- <property><name>fs.s3a.impl</name> is not here -->
        <property>
          <name>fs.defaultFS</name>
          <value>hdfs://ip-10-0-0-1:8020</value>
        </property>
        <property>
          <name>fs.s3.impl</name>
          <value>com.amazon.ws.emr.hadoop.fs.EmrFileSystem</value>
        </property>
        <property>
          <name>fs.s3n.impl</name>
          <value>com.amazon.ws.emr.hadoop.fs.EmrFileSystem</value>
        </property>
        <property>
          <name>hadoop.proxyuser.hive.hosts</name>
          <value>a &amp; b</value>
        </property>
      </configuration>
      """;

  @TempDir Path scratch;
  private Path root;
  private Path jar;

  @BeforeEach
  void makeJar() throws IOException {
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "there is no /bin/bash");
    root = Files.createDirectory(scratch.resolve("root"));
    jar = Files.write(scratch.resolve("bundle.jar"), new byte[] {'P', 'K', 3, 4});
  }

  private void file(String path, String content) throws IOException {
    Path file = root.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }

  private void emr(String hadoop) throws IOException {
    file("usr/lib/hadoop/hadoop-common-" + hadoop + ".jar", "");
    file("usr/lib/hadoop/hadoop-common-" + hadoop + "-tests.jar", "");
    file("usr/lib/hadoop/hadoop-aws-" + hadoop + ".jar", "");
    file("usr/lib/hadoop/lib/commons-lang3-3.12.0.jar", "");
    file("usr/share/aws/aws-java-sdk-v2/aws-sdk-java-bundle-2.29.52.jar", "");
    file("etc/hadoop/conf/core-site.xml", CORE_SITE_OF_EMR);
    // Without an end of the last line.
    file(
        "etc/spark/conf/spark-defaults.conf",
        "spark.master yarn\nspark.driver.extraClassPath      "
            + CLASS_PATH_OF_EMR
            + "\nspark.executor.extraClassPath="
            + CLASS_PATH_OF_EMR);
  }

  private void dataproc(String hadoop) throws IOException {
    file("usr/lib/hadoop/hadoop-common-" + hadoop + ".jar", "");
    file("usr/lib/hadoop/lib/hadoop-aws-" + hadoop + ".jar", "");
    file("usr/lib/hadoop/lib/bundle-2.24.6.jar", "");
    file("etc/hadoop/conf/core-site.xml", "<configuration>\n</configuration>\n");
    file("etc/spark/conf/spark-defaults.conf", "spark.eventLog.enabled true\n");
  }

  /** An exit code, and all that was said. */
  private record Said(int code, String text) {}

  private Said bootstrap(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("/bin/bash", SCRIPT.toString(), "--root"));
    command.add(root.toString());
    command.addAll(List.of(arguments));
    return run(command);
  }

  private Said run(List<String> command) throws Exception {
    Path output = scratch.resolve("said");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().merge("PATH", scratch.toString(), (path, own) -> own + ":" + path);
    Process process = builder.start();
    try {
      assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Said(process.exitValue(), Files.readString(output));
  }

  /** What the script says in the background. */
  private void awaitLog(String text) throws Exception {
    Path log = root.resolve("var/log/s3e-bootstrap.log");
    awaitTrue(
        "the log " + log + " has: " + text,
        Duration.ofSeconds(PATIENCE_SECONDS),
        () -> Files.readString(log).contains(text));
  }

  private Configuration coreSite() {
    Configuration conf = new Configuration(false);
    conf.addResource(
        new org.apache.hadoop.fs.Path(root.resolve("etc/hadoop/conf/core-site.xml").toUri()));
    return conf;
  }

  private Properties sparkDefaults() throws IOException {
    Properties spark = new Properties();
    try (var in = Files.newInputStream(root.resolve("etc/spark/conf/spark-defaults.conf"))) {
      spark.load(in);
    }
    return spark;
  }

  private void assertInstalled() throws IOException {
    assertThat(root.resolve(INSTALLED.substring(1))).hasBinaryContent(Files.readAllBytes(jar));
    assertThat(Files.readSymbolicLink(root.resolve("usr/lib/hadoop/lib/s3e-hadoop-bundle.jar")))
        .hasToString(INSTALLED);
    Configuration conf = coreSite();
    for (String scheme : List.of("s3a", "s3", "s3n")) {
      assertThat(conf.get("fs." + scheme + ".impl")).isEqualTo("io.s3e.hadoop.S3EFileSystem");
      assertThat(conf.get("fs.AbstractFileSystem." + scheme + ".impl"))
          .isEqualTo("io.s3e.hadoop.S3EAbstractFileSystem");
    }
  }

  @Test
  void onEmr() throws Exception {
    emr("3.4.1-amzn-2");
    Said said = bootstrap(jar.toString());
    assertThat(said.code()).as("%s", said).isZero();
    assertInstalled();
    assertThat(coreSite().get("fs.defaultFS")).isEqualTo("hdfs://ip-10-0-0-1:8020");
    assertThat(coreSite().get("hadoop.proxyuser.hive.hosts")).isEqualTo("a & b");
    for (String side : List.of("driver", "executor")) {
      assertThat(sparkDefaults().getProperty("spark." + side + ".extraClassPath"))
          .isEqualTo(CLASS_PATH_OF_EMR + ":" + INSTALLED);
    }
    assertThat(sparkDefaults().getProperty("spark.master")).isEqualTo("yarn");
    assertThat(root.resolve("etc/hadoop/conf/core-site.xml.before-s3e"))
        .hasContent(CORE_SITE_OF_EMR);
  }

  @Test
  void onDataproc() throws Exception {
    dataproc("3.4.1");
    Said said = bootstrap(jar.toString());
    assertThat(said.code()).as("%s", said).isZero();
    assertInstalled();
    assertThat(sparkDefaults().getProperty("spark.executor.extraClassPath")).isEqualTo(INSTALLED);
    assertThat(sparkDefaults().getProperty("spark.eventLog.enabled")).isEqualTo("true");
  }

  @Test
  void changesNothingTheSecondTime() throws Exception {
    emr("3.4.1-amzn-2");
    assertThat(bootstrap(jar.toString()).code()).isZero();
    String conf = Files.readString(root.resolve("etc/hadoop/conf/core-site.xml"));
    String spark = Files.readString(root.resolve("etc/spark/conf/spark-defaults.conf"));
    Said again = bootstrap(jar.toString());
    assertThat(again.code()).as("%s", again).isZero();
    assertThat(root.resolve("etc/hadoop/conf/core-site.xml")).hasContent(conf);
    assertThat(root.resolve("etc/spark/conf/spark-defaults.conf")).hasContent(spark);
    assertThat(root.resolve("etc/hadoop/conf/core-site.xml.before-s3e"))
        .hasContent(CORE_SITE_OF_EMR);
    assertInstalled();
  }

  @Test
  void withoutSpark() throws Exception {
    emr("3.4.1-amzn-2");
    Files.delete(root.resolve("etc/spark/conf/spark-defaults.conf"));
    Said said = bootstrap(jar.toString());
    assertThat(said.code()).as("%s", said).isZero();
    assertThat(said.text()).contains("Spark is left alone");
    assertInstalled();
  }

  @Test
  void refusesAnOldHadoop() throws Exception {
    dataproc("3.3.6");
    Said said = bootstrap(jar.toString());
    assertThat(said.code()).isEqualTo(1);
    assertThat(said.text()).contains("Hadoop is 3.3.6 (", "this script needs 3.4.1 or newer");
    assertThat(coreSite().get("fs.s3a.impl")).isNull();
    assertThat(sparkDefaults()).doesNotContainKey("spark.executor.extraClassPath");
  }

  @Test
  void refusesWhatLacks() throws Exception {
    assertThat(bootstrap(jar.toString()))
        .isEqualTo(
            new Said(1, "s3e bootstrap: there is no Hadoop in " + root + "/usr/lib/hadoop\n"));
    dataproc("3.4.2");
    Files.delete(root.resolve("usr/lib/hadoop/lib/bundle-2.24.6.jar"));
    assertThat(bootstrap(jar.toString()).text()).contains("there is no AWS SDK for Java 2");
    Files.delete(root.resolve("usr/lib/hadoop/lib/hadoop-aws-3.4.2.jar"));
    Said said = bootstrap(jar.toString());
    assertThat(said.code()).isEqualTo(1);
    assertThat(said.text()).contains("there is no hadoop-aws: add hadoop-aws-3.4.2.jar");
    assertThat(bootstrap(scratch.resolve("nothing.jar").toString()).text())
        .contains("nothing.jar cannot be read");
    Path page = Files.writeString(scratch.resolve("page.jar"), "<html>");
    assertThat(bootstrap(page.toString()).text()).contains("page.jar is no jar");
  }

  @Test
  void refusesAFileThatIsNotHadoops() throws Exception {
    dataproc("3.4.1");
    file("etc/hadoop/conf/core-site.xml", "<configuration><property>");
    Said said = bootstrap(jar.toString());
    assertThat(said.code()).isEqualTo(1);
    assertThat(said.text()).contains("core-site.xml is not what Hadoop writes");
    assertThat(root.resolve("etc/hadoop/conf/core-site.xml"))
        .hasContent("<configuration><property>");
  }

  @Test
  void refusesAnOldJava() throws Exception {
    dataproc("3.4.1");
    Path java = Files.createDirectories(scratch.resolve("jdk11/bin")).resolve("java");
    Files.writeString(java, "#!/bin/sh\necho 'openjdk version \"11.0.22\" 2024-01-16' >&2\n");
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    Said said =
        run(
            List.of(
                "/usr/bin/env",
                "JAVA_HOME=" + scratch.resolve("jdk11"),
                "/bin/bash",
                SCRIPT.toString(),
                "--root",
                root.toString(),
                jar.toString()));
    assertThat(said.code()).isEqualTo(1);
    assertThat(said.text()).contains("Java is 11.0.22", "S3E needs 17 or newer");
  }

  @Test
  void fetchesTheJarFromS3() throws Exception {
    dataproc("3.4.1");
    Path aws = scratch.resolve("aws");
    Files.writeString(aws, "#!/bin/sh\n[ \"$4\" = s3://bucket/b.jar ] && cp " + jar + " \"$5\"\n");
    Files.setPosixFilePermissions(aws, PosixFilePermissions.fromString("rwxr-xr-x"));
    Said said = bootstrap("s3://bucket/b.jar");
    assertThat(said.code()).as("%s", said).isZero();
    assertInstalled();
    assertThat(bootstrap("s3://bucket/other.jar").text())
        .contains("aws s3 cp cannot fetch s3://bucket/other.jar");
  }

  @Test
  void asksDataprocsMetadataForTheJar() throws Exception {
    dataproc("3.4.1");
    file(
        "usr/share/google/get_metadata_value",
        "#!/bin/sh\n[ \"$1\" = attributes/s3e-jar ] && echo " + jar + "\n");
    Path metadata = root.resolve("usr/share/google/get_metadata_value");
    Files.setPosixFilePermissions(metadata, PosixFilePermissions.fromString("rwxr-xr-x"));
    Said said = bootstrap();
    assertThat(said.code()).as("%s", said).isZero();
    assertInstalled();
  }

  /** EMR from release 7.10 on: all schemes are S3A's already. */
  @Test
  void takesAllSchemesWhereS3AHasThem() throws Exception {
    emr("3.4.1-amzn-2");
    file(
        "etc/hadoop/conf/core-site.xml",
        CORE_SITE_OF_EMR.replace(
            "com.amazon.ws.emr.hadoop.fs.EmrFileSystem", "org.apache.hadoop.fs.s3a.S3AFileSystem"));
    Said said = bootstrap(jar.toString());
    assertThat(said.code()).as("%s", said).isZero();
    assertThat(said.text()).doesNotContain("EMRFS");
    assertInstalled();
  }

  @Test
  void saysWhereEmrfsLosesItsScheme() throws Exception {
    emr("3.4.1-amzn-2");
    assertThat(bootstrap(jar.toString()).text()).contains("s3:// was EMRFS's", "--only-s3a");
    assertThat(bootstrap(jar.toString()).text()).doesNotContain("EMRFS");
  }

  @Test
  void leavesOtherSchemesAlone() throws Exception {
    emr("3.4.1-amzn-2");
    Said said = bootstrap("--only-s3a", jar.toString());
    assertThat(said.code()).as("%s", said).isZero();
    assertThat(coreSite().get("fs.s3a.impl")).isEqualTo("io.s3e.hadoop.S3EFileSystem");
    assertThat(coreSite().get("fs.s3.impl")).isEqualTo("com.amazon.ws.emr.hadoop.fs.EmrFileSystem");
    assertThat(coreSite().get("fs.AbstractFileSystem.s3.impl")).isNull();
    assertThat(said.text()).doesNotContain("EMRFS");
  }

  @Test
  void waitsForAnInstallationThatComesLater() throws Exception {
    Said said = bootstrap("--after-install", jar.toString());
    assertThat(said.code()).as("%s", said).isZero();
    Path log = root.resolve("var/log/s3e-bootstrap.log");
    assertThat(said.text()).contains("the outcome will be in " + log);
    // In another place first, since the script looks at it while it is made.
    Path real = root;
    root = Files.createDirectory(scratch.resolve("made"));
    emr("3.4.1-amzn-2");
    Path made = root;
    root = real;
    Files.move(
        made.resolve("usr/lib/hadoop"),
        Files.createDirectories(root.resolve("usr/lib")).resolve("hadoop"));
    Files.move(made.resolve("usr/share"), root.resolve("usr/share"));
    Files.move(made.resolve("etc"), root.resolve("etc"));
    awaitLog("S3E is installed");
    assertInstalled();
  }

  /** Hadoop's configuration is there first: the script goes on once hadoop-aws and Spark's are. */
  @Test
  void waitsForHadoopAwsAndSpark() throws Exception {
    emr("3.4.1-amzn-2");
    Files.createDirectories(root.resolve("usr/lib/spark"));
    Path aws = root.resolve("usr/lib/hadoop/hadoop-aws-3.4.1-amzn-2.jar");
    Path spark = root.resolve("etc/spark/conf/spark-defaults.conf");
    Path heldAws = Files.move(aws, scratch.resolve("hadoop-aws.jar"));
    Path heldSpark = Files.move(spark, scratch.resolve("spark-defaults.conf"));
    Said said = bootstrap("--after-install", jar.toString());
    assertThat(said.code()).as("%s", said).isZero();
    awaitLog("waiting for hadoop-aws in " + root + "/usr/lib/hadoop");
    Files.move(heldAws, aws);
    awaitLog("waiting for " + spark);
    Files.move(heldSpark, spark);
    awaitLog("S3E is installed");
    assertInstalled();
    assertThat(sparkDefaults().getProperty("spark.executor.extraClassPath"))
        .isEqualTo(CLASS_PATH_OF_EMR + ":" + INSTALLED);
  }

  @Test
  void leavesSparkAloneWhoseConfigurationDoesNotCome() throws Exception {
    emr("3.4.1-amzn-2");
    Files.createDirectories(root.resolve("usr/lib/spark"));
    Files.delete(root.resolve("etc/spark/conf/spark-defaults.conf"));
    Said said = bootstrap("--wait", "2", jar.toString());
    assertThat(said.code()).as("%s", said).isZero();
    assertThat(said.text()).contains("waiting for ", "Spark is left alone");
    assertInstalled();
  }

  @Test
  void namesWhatIsWrongWithItsArguments() throws Exception {
    assertThat(bootstrap().code()).isEqualTo(2);
    assertThat(bootstrap().text()).contains("JAR is missing", "Usage: ");
    assertThat(bootstrap("--wait", "long", "x").text()).contains("expected a number of seconds");
    assertThat(bootstrap("--undo", "x").text()).contains("unknown option --undo");
    assertThat(bootstrap("one", "two").text()).contains("one JAR expected");
  }
}
