// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.doctor.DoctorProgram;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the doctor says of Hadoop 3.3, whose SDK is version 1. */
class Hadoop33DoctorTest {
  private static final String OBJECT = "s3a://data/file";

  @TempDir Path scratch;
  private HostileS3Server server;

  @BeforeEach
  void start() throws Exception {
    server = HostileS3Server.start();
    server.put(new ObjectRef("data", "file"), new byte[100_000]);
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private String site(String... settings) throws Exception {
    Configuration conf = new Configuration(false);
    conf.set("fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem");
    conf.set("fs.AbstractFileSystem.s3a.impl", "io.s3e.hadoop.S3EAbstractFileSystem");
    conf.set("hadoop.tmp.dir", scratch.toString());
    conf.set("fs.s3a.endpoint", server.endpoint().toString());
    conf.set("fs.s3a.path.style.access", "true");
    conf.set("fs.s3a.access.key", "access");
    conf.set("fs.s3a.secret.key", "secret");
    for (String setting : settings) {
      conf.set(setting.split("=", 2)[0], setting.split("=", 2)[1]);
    }
    Path file = Files.createTempFile(scratch, "site", ".xml");
    try (OutputStream out = Files.newOutputStream(file)) {
      conf.writeXml(out);
    }
    return file.toString();
  }

  private static String doctor(int code, String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream said = new PrintStream(out, true, UTF_8);
    assertThat(DoctorProgram.run(said, said, arguments)).as("%s", out).isEqualTo(code);
    return out.toString(UTF_8);
  }

  @Test
  void readyWhereAnObjectIsRead() throws Exception {
    String said = doctor(0, "--conf", site(), OBJECT);
    assertThat(said)
        .containsPattern("Hadoop +" + VersionInfo.getVersion().replace(".", "\\."))
        .containsPattern("AWS SDK 1 +1\\.12\\.")
        .contains("read by S3E, client crt")
        .contains("65536 bytes in ")
        .contains("by io.s3e.hadoop.S3EFileSystem, client crt")
        .endsWith("Ready.\n");
    assertThat(server.gets()).isNotEmpty();
  }

  @Test
  void tellsWhatOnlyS3aDoes() throws Exception {
    assertThat(doctor(0, "--conf", site("fs.s3a.s3e.client=s3a")))
        .contains("but by S3A's client: fs.s3a.s3e.client is s3a");
    assertThat(doctor(0, "--conf", site("fs.s3a.change.detection.mode=none")))
        .contains("but by S3A's client: fs.s3a.change.detection is by ");
  }

  @Test
  void namesTheSdkThatLacks() throws Exception {
    List<String> without =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(jar -> !jar.contains("aws-java-sdk-"))
            .toList();
    try (ForkedJvm jvm =
        ForkedJvm.of(DoctorProgram.class.getName())
            .options("-Dorg.slf4j.simpleLogger.defaultLogLevel=off")
            .classPath(without)
            .in(scratch)
            .start("--conf", site(), OBJECT)) {
      jvm.awaitEnd();
      assertThat(String.join("\n", jvm.rest()))
          .contains("AWS SDK 1")
          .contains("com.amazonaws:aws-java-sdk-bundle (1.12.262 for Hadoop 3.3.4")
          .doesNotContain("software.amazon.awssdk");
      assertThat(jvm.exitCode()).isEqualTo(1);
    }
  }
}
