package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.cli.CommandRig.Outcome;
import io.s3e.disk.CacheFixture;
import java.io.IOException;
import java.nio.file.Path;
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
  void lsShowsInstancesAndRegions() throws IOException {
    try (CacheFixture host = filled()) {
      Outcome ls = cache("ls");
      assertThat(ls.code()).isZero();
      assertThat(ls.text())
          .hasLineCount(2)
          .containsPattern("host +16 +3 +1 +2.0 MiB +16.0 MiB +")
          .contains(host.instance().toString());
      JsonNode instance = cache("ls", "--json").json().get("instances").get(0);
      assertThat(instance.get("scope").asText()).isEqualTo("host");
      assertThat(instance.get("used").asInt()).isEqualTo(3);
      assertThat(instance.get("held").asInt()).isEqualTo(1);
      assertThat(cache("ls", "--regions").text())
          .hasLineCount(4)
          .containsPattern("lasting +16 +1.0 MiB +\\d+ s ago +no +")
          .containsPattern("lasting +2 +4.1 KiB +\\d+ s ago +yes +");
      assertThat(cache("ls", "--regions", "--json").json().get("regions")).hasSize(3);
    }
    assertThat(cache("ls", "--json").json().get("instances").get(0).get("held").asInt()).isZero();
  }

  @Test
  void lsShowsObjects() throws IOException {
    filled().close();

    JsonNode objects = cache("ls", "--objects", "--json").json().get("objects");
    assertThat(objects).hasSize(3);
    assertThat(objects.get(0).get("uri").asText()).isEqualTo("s3://bucket/dir/a");
    assertThat(objects.get(0).get("chunks").asInt()).isEqualTo(32);
    assertThat(objects.get(0).get("bytes").asLong()).isEqualTo(2 * MIB);
    assertThat(objects.get(0).get("etag").asText()).isEqualTo("\"etag of dir/a\"");
    assertThat(cache("ls", "--json", "s3a://bucket/dir/").json().get("objects")).hasSize(2);
    assertThat(cache("ls", "--json", "s3a://bucket/dir/b").json().get("objects")).hasSize(1);
    assertThat(cache("ls", "--json", "s3a://bucket/dir").json().get("objects")).isEmpty();
    assertThat(cache("ls", "--objects").text())
        .hasLineCount(4)
        .contains("s3://other/a")
        .containsPattern(
            "s3://bucket/dir/a +etag of dir/a +32 +2.0 MiB +2.0 MiB +\\d+ s ago +host");
    assertThat(cache("ls", "s3a://bucket/none").text()).contains("Nothing cached");
  }

  @Test
  void clearAsksAndLeavesAloneWhatIsInUse() throws IOException {
    CacheFixture host = filled();
    Outcome used = cache("clear", "--yes");
    assertThat(used.code()).isZero();
    assertThat(used.text())
        .contains("Cleared 0 instances: 2 regions, 2.0 MiB", "In use, partly left alone");
    assertThat(cache("clear", "--yes", "host").code()).isEqualTo(1);
    assertThat(cache("ls", "--regions").text()).containsPattern("lasting +2 ");
    host.close();

    for (String answer : new String[] {"", "n\n", "\n"}) {
      Outcome no = answering(answer, "clear");
      assertThat(no.code()).isEqualTo(1);
      assertThat(no.err()).contains("Delete all of this? [y/N]", "Nothing deleted.");
      assertThat(no.out()).isEmpty();
    }
    assertThat(cache("ls", "--regions").text()).containsPattern("lasting +2 ");
    Outcome yes = answering("y\n", "clear");
    assertThat(yes.code()).isZero();
    assertThat(yes.text()).contains("Cleared 1 instance: 1 regions, 4.1 KiB");
    assertThat(cache("ls").text()).contains("No cache in");
  }

  @Test
  void clearTakesForce() throws IOException {
    try (CacheFixture host = filled()) {
      JsonNode cleared = cache("clear", "--force", "--yes", "--json", "host").json();

      assertThat(cleared.get("cleared").get(0).asText()).isEqualTo(host.instance().toString());
      assertThat(cleared.get("regions").asInt()).isEqualTo(3);
      assertThat(host.write("bucket", "key", 2 * MIB)).as("goes on").exists();
    }
    Outcome unknown = cache("clear", "--yes", "nonsense");
    assertThat(unknown.code()).isEqualTo(2);
    assertThat(unknown.err()).contains("no instance 'nonsense'");
  }
}
