// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.cli.CommandRig.Outcome;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code s3e history show} and {@code clear}, over files as jobs write them. */
class HistoryCommandsTest {
  @TempDir Path directory;

  private Outcome history(String... arguments) {
    List<String> all = new java.util.ArrayList<>(List.of("history"));
    all.addAll(List.of(arguments));
    all.add("--dir=" + directory.toUri());
    return CommandRig.runPlainly(all.toArray(String[]::new));
  }

  private void write(String json) throws Exception {
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(json.getBytes(UTF_8));
    String sum = HexFormat.of().formatHex(digest);
    // The name of the directory has a hash of the folded name.
    Path job = directory.resolve("nightly-n-" + Integer.toHexString("nightly #".hashCode()));
    Files.createDirectories(job);
    Files.writeString(
        job.resolve("history-1.json"),
        "{\"format\":1,\"sha256\":\"" + sum + "\",\"history\":" + json + "}\n");
  }

  private static String job(String off, int with, int without) {
    return """
    {"job":"nightly #","off":"%s","runs":[{"id":"r","part":"p","millis":1,
    "with":{"tasks":%d,"seconds":%d,"squares":%d},
    "without":{"tasks":%d,"seconds":%d,"squares":%d}}],
    "tables":[{"place":"bucket/t","millis":1000,"footerBytes":2048,"files":[],"scans":[]}]}\
    """
        .formatted(off, with, with, with, without, 2 * without, 4 * without);
  }

  @Test
  void helpIsThereForEach() {
    for (String command : new String[] {"show", "clear"}) {
      Outcome help = CommandRig.runPlainly("history", command, "--help");
      assertThat(help.code()).isZero();
      assertThat(help.text()).contains("s3e history " + command, "JOB", "--dir", "Examples:");
    }
  }

  /** The text of a command goes through a format, of which the library complains on its own. */
  @Test
  void helpIsAllThatHelpSays() {
    PrintStream before = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, UTF_8));
    try {
      assertThat(CommandRig.runPlainly("history", "--help").text()).contains("of 95 %, and");
      assertThat(CommandRig.runPlainly("history", "show", "--help").text())
          .contains("of 95 %, and");
    } finally {
      System.setErr(before);
    }
    assertThat(said.toString(UTF_8)).isEmpty();
  }

  @Test
  void comparisonComesFirst() throws Exception {
    write(job("", 320, 40));
    Outcome shown = history("show", "Nightly 2026-11-26");
    assertThat(shown.code()).isZero();
    assertThat(shown.text().lines().toList().get(0))
        .isEqualTo("nightly #, 1 run: blocked -50 % ± 0 %, 320 tasks with, 40 without");
    assertThat(shown.text()).contains("bucket/t", "1970-01-01T00:00:01Z");
  }

  @Test
  void fewControlsAreSaidToBeFew() throws Exception {
    write(job("", 320, 29));
    assertThat(history("show", "nightly 1").text())
        .contains("not enough yet: 320 tasks with, 29 without, of 30 each");
  }

  @Test
  void whyItIsOffIsShown() throws Exception {
    write(job("it does not help", 1, 1));
    assertThat(history("show", "nightly 1").text()).contains("Switched off: it does not help");
    assertThat(history("show", "--json", "nightly 1").json().path("off").asText())
        .isEqualTo("it does not help");
  }

  /** They are whoever's who may write the directory. */
  @Test
  void namesOfTablesAreShownOnOneLineWithoutControlCharacters() throws Exception {
    write(job("", 1, 1).replace("bucket/t", "bucket/t\\nforged\\u001b[2J\\u202eé"));
    assertThat(history("show", "nightly 1").text()).contains("bucket/t?forged?[2J?é ");
  }

  @Test
  void aHistoryThatCannotBeReadIsAFailureThatIsNamed() throws Exception {
    write(job("", 320, 40));
    Path job = directory.resolve("nightly-n-" + Integer.toHexString("nightly #".hashCode()));
    Path damaged = Files.writeString(job.resolve("history-damaged.json"), "{");

    Outcome beside = history("show", "nightly 1");
    assertThat(beside.code()).isEqualTo(1);
    assertThat(beside.text()).startsWith("nightly #, 1 run: ");
    assertThat(beside.err()).contains("Left out: ", damaged.toString());
    Files.delete(job.resolve("history-1.json"));
    Outcome alone = history("show", "nightly 1");
    assertThat(alone.code()).isEqualTo(1);
    assertThat(alone.text()).contains("Nothing is known of nightly 1");
    assertThat(alone.err()).contains("Left out: ", damaged.toString());
  }

  @Test
  void aDirectoryThatIsNotThereIsAFailure() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    Path lost = directory.resolve("lost");
    for (Path each : List.of(lost, file)) {
      Outcome shown = CommandRig.runPlainly("history", "show", "--dir=" + each.toUri(), "job");
      assertThat(shown.code()).as(each.toString()).isEqualTo(1);
      assertThat(shown.err()).contains("Left out: ", each.toString(), " directory");
    }
    Outcome unknown = history("show", "job");
    assertThat(unknown.code()).as("nothing of this job in a directory").isZero();
    assertThat(unknown.err()).isEmpty();
  }

  @Test
  void clearForgets() throws Exception {
    write(job("", 1, 1));
    assertThat(history("clear", "nightly 5").text())
        .isEqualToIgnoringNewLines("Forgotten: nightly 5");
    assertThat(history("clear", "nightly 5").text()).contains("Nothing is known of nightly 5");
    assertThat(history("show", "nightly 5").text()).contains("Nothing is known of nightly 5");
  }
}
