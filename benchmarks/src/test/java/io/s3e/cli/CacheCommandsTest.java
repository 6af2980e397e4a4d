// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.cli.CommandRig.Outcome;
import io.s3e.disk.CacheFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code s3e cache ls} and {@code clear}. */
class CacheCommandsTest {
  private static final long MIB = 1 << 20;

  @TempDir Path directory;

  private Outcome cache(String... arguments) {
    return CommandRig.runPlainly(withDirectory(arguments));
  }

  private Outcome answering(String answer, String... arguments) {
    return CommandRig.runTyping(answer, withDirectory(arguments));
  }

  private String[] withDirectory(String... arguments) {
    String[] all = new String[arguments.length + 2];
    all[0] = "cache";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    all[all.length - 1] = "--dir=" + directory;
    return all;
  }

  private CacheFixture filled() throws IOException {
    CacheFixture host = new CacheFixture(directory, null);
    host.write("bucket", "dir/a", 2 * MIB);
    host.write("bucket", "dir/b", 100);
    host.write("other", "a", 100);
    return host;
  }

  @Test
  void helpIsThereForEach() {
    for (String command : new String[] {"ls", "clear"}) {
      Outcome help = CommandRig.runPlainly("cache", command, "--help");
      assertThat(help.code()).isZero();
      assertThat(help.text()).contains("s3e cache " + command, "Cache:", "Output:", "Examples:");
    }
    assertThat(CommandRig.runPlainly("cache", "--help").text())
        .containsPattern("\n  ls ")
        .containsPattern("\n  clear ");
    assertThat(CommandRig.runPlainly("cache").code()).isEqualTo(2);
  }

  @Test
  void looksWhereAFileSystemPutsItsCache() {
    CacheOptions options = new CacheOptions();
    assertThat(options.directories())
        .contains(Path.of(System.getProperty("java.io.tmpdir")).normalize())
        .contains(Path.of(System.getProperty("user.home"), ".cache"))
        .anyMatch(directory -> directory.endsWith("s3a"));
  }

  @Test
  void nothingIsNoFailure() {
    for (String command : new String[] {"ls", "clear"}) {
      Outcome outcome = cache(command);
      assertThat(outcome.code()).as(outcome.err()).isZero();
      assertThat(outcome.text()).contains("No cache in [" + directory + "]");
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void lsShowsInstances() throws IOException {
    try (CacheFixture host = filled()) {
      Outcome ls = cache("ls");
      assertThat(ls.code()).isZero();
      assertThat(ls.text())
          .hasLineCount(2)
          .containsPattern("host +2.[01] MiB +16.0 MiB +")
          .contains(host.instance().toString());
      JsonNode instance = cache("ls", "--json").json().get("instances").get(0);
      assertThat(instance.get("scope").asText()).isEqualTo("host");
      assertThat(instance.get("bytes").asLong()).isBetween(2 * MIB, 2 * MIB + 100_000);
      assertThat(instance.get("encrypted").asBoolean()).isFalse();
    }
  }

  @Test
  void aNamedDirectoryThatIsLeftOutIsAFailure(@TempDir Path other) throws IOException {
    CacheFixture host = filled();
    host.close();
    Path top = host.instance();
    while (!directory.equals(top.getParent())) {
      top = top.getParent();
    }
    // No directory, where the user's own should be.
    Files.createFile(other.resolve(top.getFileName()));

    Outcome ls = cache("ls", "--dir=" + other);
    assertThat(ls.code()).isEqualTo(1);
    assertThat(ls.err()).contains("Left out: ", other.toString());
    assertThat(ls.text()).contains(host.instance().toString());
    Outcome clear = cache("clear", "--yes", "--dir=" + other);
    assertThat(clear.code()).isEqualTo(1);
    assertThat(clear.text()).contains("Cleared 1 instance");
    assertThat(host.instance()).doesNotExist();
  }

  @Test
  void aNamedDirectoryThatIsNotThereIsAFailure() throws IOException {
    CacheFixture host = filled();
    host.close();
    Path file = Files.createFile(directory.resolve("file"));

    for (Path each : List.of(directory.resolve("lost"), file)) {
      for (String command : new String[] {"ls", "clear"}) {
        Outcome alone = CommandRig.runPlainly("cache", command, "--dir=" + each);
        assertThat(alone.code()).as(command + " of " + each).isEqualTo(1);
        assertThat(alone.err())
            .contains("Left out: " + each + ": expected a directory that can be entered");
        assertThat(alone.out()).isEmpty();
      }
      Outcome beside = cache("ls", "--dir=" + each);
      assertThat(beside.code()).as(each.toString()).isEqualTo(1);
      assertThat(beside.err()).contains("Left out: " + each).hasLineCount(1);
      assertThat(beside.text()).contains(host.instance().toString());
    }
  }

  @Test
  void clearAsks() throws IOException {
    CacheFixture host = filled();
    host.close();

    for (String answer : new String[] {"", "n\n", "\n"}) {
      Outcome no = answering(answer, "clear");
      assertThat(no.code()).isEqualTo(1);
      assertThat(no.err()).contains("Delete all of this? [y/N]", "Nothing deleted.");
      assertThat(no.out()).isEmpty();
    }
    assertThat(cache("ls").text()).contains(host.instance().toString());
    Outcome yes = answering("y\n", "clear");
    assertThat(yes.code()).isZero();
    assertThat(yes.text()).containsPattern("Cleared 1 instance: 2.[01] MiB");
    assertThat(cache("ls").text()).contains("No cache in");
    assertThat(host.instance()).doesNotExist();
  }

  @Test
  void clearWorksBesideThoseWhoUseTheCache() throws IOException {
    try (CacheFixture host = filled()) {
      JsonNode cleared = cache("clear", "--yes", "--json", "host").json();

      assertThat(cleared.get("cleared").get(0).asText()).isEqualTo(host.instance().toString());
      assertThat(cleared.get("bytes").asLong()).isGreaterThan(2 * MIB);
      assertThat(host.write("bucket", "key", 2 * MIB)).as("goes on").exists();
    }
    Outcome unknown = cache("clear", "--yes", "nonsense");
    assertThat(unknown.code()).isEqualTo(2);
    assertThat(unknown.err()).contains("no instance 'nonsense'");
  }
}
