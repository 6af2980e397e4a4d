// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.cli.CommandRig.Outcome;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is said of a JVM that runs, by a JVM that does. */
@Timeout(180)
@Slow
class ExplainPidTest {
  private static final String BYTES = Long.toString((long) ReadingJvm.READS * ReadingJvm.BLOCK);

  private static ForkedJvm reading(boolean remembers) throws Exception {
    ForkedJvm jvm = ForkedJvm.start(ReadingJvm.class, Boolean.toString(remembers));
    jvm.await("READ");
    return jvm;
  }

  @Test
  void itsLatestGetsAndTheirSums() throws Exception {
    try (ForkedJvm jvm = reading(true)) {
      String pid = Long.toString(jvm.pid());
      Outcome text = CommandRig.runPlainly("explain", "--pid", pid);
      assertThat(text.code()).as("%s", text.err()).isZero();
      assertThat(text.text())
          .startsWith("The latest 3 GETs of JVM " + pid)
          .containsPattern("\nDEMAND +3 +3 +192.0 KiB +192.0 KiB +0 B +0 B")
          .containsPattern("\nall +3 +3 +192.0 KiB +192.0 KiB +0 B +0 B")
          .containsPattern(
              "Z +1  stage 3, task 17  DEMAND  DONE +[0-9.]+ +[0-9.]+ +64.0 KiB +64.0 KiB +0 B"
                  + "  \\[262144, 327680\\) of s3a://bucket/a \"key\"\\?\n");

      Outcome document = CommandRig.runPlainly("explain", "--json", "--pid", pid);
      JsonNode live = document.json();
      assertThat(live.get("pid").asText()).isEqualTo(pid);
      assertThat(live.get("engines").asInt()).isEqualTo(1);
      assertThat(live.get("reasons").get(0).get("used").asText()).isEqualTo(BYTES);
      assertThat(live.get("gets"))
          .hasSize(ReadingJvm.READS)
          .allSatisfy(get -> assertThat(get.get("key").asText()).isEqualTo(ReadingJvm.OBJECT.key()))
          .allSatisfy(get -> assertThat(get.get("label").asText()).isEqualTo(ReadingJvm.LABEL))
          .extracting(get -> get.get("id").asInt())
          .as("the latest first")
          .containsExactly(2, 1, 0);
    }
  }

  @Test
  void aJvmThatRemembersNoneSaysSo() throws Exception {
    try (ForkedJvm jvm = reading(false)) {
      Outcome outcome = CommandRig.runPlainly("explain", "--pid", Long.toString(jvm.pid()));
      assertThat(outcome.code()).as("%s", outcome.err()).isZero();
      assertThat(outcome.text()).contains("remembers no GETs", "fs.s3a.s3e.explain is off");
    }
  }

  @Test
  void whatIsNoJvmFailsInOneLine() throws Exception {
    Process other = new ProcessBuilder("sleep", "60").start();
    try {
      long pid = other.pid();
      Outcome outcome = CommandRig.runPlainly("explain", "--pid", Long.toString(pid));
      assertThat(outcome.code()).isEqualTo(1);
      assertThat(outcome.err()).contains("Process " + pid + " cannot be asked").hasLineCount(1);
      assertThat(other.isAlive()).as("nothing was done to it").isTrue();
    } finally {
      other.destroy();
    }
  }

  @Test
  void aLogAndAJvmAreTwoQuestions() {
    Outcome both = CommandRig.runPlainly("explain", "--pid", "1", "log");
    assertThat(both.code()).isEqualTo(2);
    Outcome none = CommandRig.runPlainly("explain");
    assertThat(none.code()).isEqualTo(2);
    assertThat(none.err()).contains("EVENTLOG", "--pid");
  }
}
