// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.cli.CommandRig.Outcome;
import io.s3e.testing.Slow;
import io.s3e.testserver.S3TestServer;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Explaining as a command; what it finds is tested where it is. */
class ExplainCommandTest {
  @TempDir Path scratch;
  private Path log;

  @BeforeEach
  void copy() throws Exception {
    log = scratch.resolve("app-1.zstd");
    try (InputStream in =
        Objects.requireNonNull(getClass().getResourceAsStream("/event-logs/small-files.zstd"))) {
      Files.copy(in, log);
    }
  }

  @Test
  void textForPeople() {
    Outcome outcome = CommandRig.runPlainly("explain", log.toString());
    assertThat(outcome.code()).as("%s", outcome.err()).isZero();
    assertThat(outcome.text()).contains("1. files too small: s3a://", "saves about");
  }

  @Test
  void aDocumentForPrograms() throws Exception {
    Outcome outcome = CommandRig.runPlainly("explain", "--json", scratch.toString());
    assertThat(outcome.code()).as("%s", outcome.err()).isZero();
    JsonNode application = outcome.json().path("applications").path(0);
    JsonNode finding = application.path("findings").path(0);
    assertThat(finding.path("kind").asText()).isEqualTo("SMALL_FILES");
    assertThat(finding.path("savedUsd").asDouble()).isPositive();
    assertThat(application.path("tables").path(0).path("place").asText()).startsWith("s3a://");
    assertThat(application.path("s3e").path("gets").asLong()).isPositive();
  }

  @Slow
  @Test
  void logsInABucket() throws Exception {
    try (S3TestServer server = S3TestServer.inMemory().withBucket("logs");
        CommandRig rig = new CommandRig(server.endpoint())) {
      Outcome put = rig.run("put", log.toString(), "s3a://logs/events/app-1.zstd");
      assertThat(put.code()).as("%s", put.err()).isZero();
      Configuration conf = new Configuration(false);
      conf.set("fs.s3a.endpoint", server.endpoint().toString());
      conf.set("fs.s3a.endpoint.region", "us-east-1");
      conf.set("fs.s3a.path.style.access", "true");
      conf.set("fs.s3a.access.key", S3TestServer.ACCESS_KEY);
      conf.set("fs.s3a.secret.key", S3TestServer.SECRET_KEY);
      Path site = scratch.resolve("core-site.xml");
      try (var out = Files.newOutputStream(site)) {
        conf.writeXml(out);
      }
      Outcome outcome =
          CommandRig.runPlainly("explain", "--conf", site.toString(), "s3a://logs/events");
      assertThat(outcome.code()).as("%s", outcome.err()).isZero();
      assertThat(outcome.text()).contains("1. files too small");
    }
  }

  @Test
  void whatIsNoLogFailsInOneLine() throws Exception {
    Path text = Files.writeString(scratch.resolve("notes.txt"), "not a log\n");
    Outcome outcome = CommandRig.runPlainly("explain", text.toString());
    assertThat(outcome.code()).isEqualTo(1);
    assertThat(outcome.err()).contains(text.toString(), "no event log").hasLineCount(1);
  }

  @Test
  void aFileOfSettingsThatIsNotThereIsNamed() {
    String lost = scratch.resolve("core-site.xml").toString();
    for (String[] command :
        new String[][] {
          {"explain", "--conf=" + lost, log.toString()},
          {"history", "show", "--conf=" + lost, "--dir=" + scratch, "job"},
          {"history", "clear", "--conf=" + lost, "--dir=" + scratch, "job"}
        }) {
      Outcome outcome = CommandRig.runPlainly(command);
      assertThat(outcome.code()).as(command[0]).isEqualTo(2);
      assertThat(outcome.err())
          .contains("--conf \"" + lost + "\": expected a file that can be read");
    }
  }

  @Test
  void aPriceThatIsNoneIsRefused() {
    for (String price : new String[] {"-1", "NaN", "1001"}) {
      Outcome outcome = CommandRig.runPlainly("explain", "--price-vcpu=" + price, log.toString());
      assertThat(outcome.code()).as(price).isEqualTo(2);
      assertThat(outcome.err()).contains("--price-vcpu is ", "accepted is a number from 0 to 1000");
    }
  }
}
