// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.block.ObjectRef;
import io.s3e.cli.CommandRig.Outcome;
import io.s3e.client.library.CrtUnusableException;
import io.s3e.testing.Fault;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.SelfSigned;
import io.s3e.testing.Slow;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as a whole: help, usage, exit codes, failures of the network. */
@Slow
class S3eCommandTest {
  private static final List<String> COMMANDS =
      List.of("bench", "get", "put", "cat", "stat", "cache", "doctor", "generate-completion");

  @Test
  void helpListsEveryCommandAndEveryCommandHasHelp() {
    Outcome help = CommandRig.runPlainly("--help");

    assertThat(help.code()).isZero();
    assertThat(help.text()).contains("Exit codes:", "Examples:");
    for (String command : COMMANDS) {
      assertThat(help.text()).containsPattern("\n  " + command + " ");
      Outcome own = CommandRig.runPlainly(command, "--help");
      assertThat(own.code()).as(command).isZero();
      assertThat(own.text()).contains("s3e " + command);
    }
    assertThat(CommandRig.runPlainly("get", "--help").text())
        .contains("Download:", "Store:", "Output:", "Examples:", "--part-size=SIZE");
    assertThat(CommandRig.runPlainly("--version").text()).startsWith("s3e ");
    assertThat(CommandRig.runPlainly("generate-completion").text()).contains("complete -F");
  }

  @Test
  void whatNamesNoCommandIsForBench() {
    for (String[] arguments :
        new String[][] {
          {"--rounds=0"}, {"s3a://bucket/key", "--rounds=0"}, {"bench", "--rounds=0"}
        }) {
      Outcome outcome = CommandRig.runPlainly(arguments);
      assertThat(outcome.code()).isEqualTo(2);
      assertThat(outcome.err()).startsWith("s3e bench: --rounds must be positive and is 0");
    }
    for (String none : List.of("--random-size=0", "--seek-size=-1", "--scale=NaN", "--size=0")) {
      Outcome outcome = CommandRig.runPlainly("bench", none);
      assertThat(outcome.code()).isEqualTo(2);
      assertThat(outcome.err())
          .startsWith("s3e bench: " + none.replace("=", " must be positive and is "));
    }
    Outcome typo = CommandRig.runPlainly("gte", "s3a://bucket/key");
    assertThat(typo.code()).isEqualTo(2);
    assertThat(typo.err()).contains("'gte'");
  }

  @Test
  void theNearestNameIsSuggested() {
    for (String[] typed :
        new String[][] {
          {"gte", "s3e get"},
          {"ptu", "s3e put"},
          {"benhc", "s3e bench"},
          {"generate-compeltion", "s3e generate-completion"},
          {"cache", "lst", "s3e cache ls"},
          {"stat", "s3a://bucket/key", "--enpoint=x", "--endpoint"},
          {"get", "s3a://bucket/key", "--patr-size=8m", "--part-size"},
          {"bench", "--endpiont=x", "--endpoint"}
        }) {
      String[] arguments = Arrays.copyOf(typed, typed.length - 1);
      Outcome outcome = CommandRig.runPlainly(arguments);
      assertThat(outcome.code()).isEqualTo(2);
      assertThat(outcome.err().lines())
          .contains("Did you mean " + typed[typed.length - 1] + "?")
          .hasSize(3);
    }
    assertThat(CommandRig.runPlainly("replicate", "s3a://bucket/key").err())
        .doesNotContain("Did you mean")
        .contains("There is no command 'replicate'; there are bench, get, put, cat, ");
  }

  @Test
  void anEndpointWithoutSchemeIsNamedWithTheFormThatIsAccepted() {
    for (String endpoint : List.of("127.0.0.1:9000", "minio:9000", "minio", "ftp://minio", "")) {
      for (String[] command :
          new String[][] {
            {"get", "--discard", "s3a://bucket/key"},
            {"stat", "s3a://bucket/key"},
            {"bench", "s3a://bucket/key"}
          }) {
        String[] arguments = Arrays.copyOf(command, command.length + 1);
        arguments[command.length] = "--endpoint=" + endpoint;
        Outcome outcome = CommandRig.runPlainly(arguments);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
            .contains(
                "'--endpoint': \""
                    + endpoint
                    + "\" is not http://HOST[:PORT] or https://HOST[:PORT]")
            .doesNotContain("Exception");
      }
    }
  }

  @Test
  void anEndpointOfAProfileIsHeldToTheSameForm(@TempDir Path temp) throws Exception {
    Path config =
        Files.writeString(temp.resolve("config"), "[default]\nendpoint_url = minio:9000\n");
    System.setProperty("aws.configFile", config.toString());
    try {
      Outcome outcome = CommandRig.runPlainly("stat", "s3a://bucket/key");
      assertThat(outcome.code()).isEqualTo(2);
      assertThat(outcome.err())
          .contains(
              "endpoint_url of profile default is \"minio:9000\"; accepted is http://HOST[:PORT]");
    } finally {
      System.clearProperty("aws.configFile");
    }
  }

  @Test
  void wrongUsageIsTwoAndNamed() {
    for (String[] arguments :
        new String[][] {
          {"get"},
          {"get", "http://bucket/key"},
          {"get", "s3a://bucket"},
          {"get", "s3a://bucket/folder/"},
          {"get", "s3a://bucket/key", "--nonsense"},
          {"get", "s3a://bucket/key", "--part-size=1q"},
          {"get", "s3a://bucket/key", "--part-size=1k", "--region=eu-west-1", "--discard"},
          {"get", "s3a://bucket/key", "--parallel=0", "--region=eu-west-1", "--discard"},
          {"get", "s3a://bucket/key", "--client=crt"},
          {"get", "s3a://bucket/key", "-", "--json"},
          {"get", "s3a://bucket/key", "file", "--discard"},
          {"cat", "s3a://bucket/key", "--json"},
          {"put", "-", "s3a://bucket/folder/"},
          {"put", "-", "s3a://bucket/key", "--part-size=1m"},
          {"put", "-", "s3a://bucket/key", "--parallel=64", "--part-size=1g"},
          {"put", "-", "s3a://bucket/key", "--checksum=md5"},
          {"stat", "s3a://bucket/key", "--endpoint=ftp://127.0.0.1"},
          {
            "stat",
            "s3a://bucket/key",
            "--endpoint=https://127.0.0.1:1",
            "--ca-bundle=/no/such/file"
          }
        }) {
      Outcome outcome = CommandRig.runPlainly(arguments);
      String shown = String.join(" ", arguments);
      assertThat(outcome.code()).as(shown).isEqualTo(2);
      assertThat(outcome.err()).as(shown).startsWith("s3e " + arguments[0] + ": ");
      assertThat(outcome.err()).as(shown).contains("See s3e " + arguments[0] + " --help.");
      assertThat(outcome.out()).as(shown).isEmpty();
    }
  }

  @Test
  void anArgumentThatLostCharactersIsNamedAndNothingIsSent(@TempDir Path temp) throws Exception {
    Path file = Files.writeString(temp.resolve("file"), "content");
    try (HostileS3Server server = HostileS3Server.start();
        CommandRig rig = new CommandRig(server.endpoint())) {
      for (String[] command :
          new String[][] {
            {"put", "--force", file.toString(), "s3a://bucket/\uFFFD"},
            {"stat", "s3a://bucket/\uFFFD"}
          }) {
        Outcome outcome = rig.run(command);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
            .startsWith("s3e " + command[0] + ": characters of \"s3a://bucket/\uFFFD\" are lost")
            .contains("LC_ALL=C.UTF-8");
      }
      assertThat(server.requests()).isEmpty();
    }
  }

  @Test
  void aFileMayBeCalledAtSomething(@TempDir Path temp) throws Exception {
    Path list = Files.writeString(temp.resolve("zz"), "-\n", UTF_8);
    Outcome outcome = CommandRig.runPlainly("put", "@" + list, "s3a://bucket/key");
    assertThat(outcome.code()).isEqualTo(1);
    assertThat(outcome.err()).contains("@" + list + ": no such file");
  }

  @Test
  void theLocalePosixHasNoOtherLetters() throws Exception {
    String letters = "\\303\\244";
    try (ForkedJvm jvm =
        ForkedJvm.of(S3eCommand.class.getName())
            .options("-Xmx64m")
            .environment("LC_ALL", "POSIX")
            .through("sh", "-c", "exec \"$@\" s3a://bucket/$(printf '" + letters + "')", "sh")
            .start("stat", "--endpoint=" + HostileS3Server.refusingEndpoint())) {
      jvm.await("s3e stat: characters of \"s3a://bucket/");
      jvm.awaitEnd();
      assertThat(jvm.exitCode()).isEqualTo(2);
    }
  }

  @Test
  void sizes() {
    assertThat(ByteSize.parse("8m")).isEqualTo(8 << 20);
    assertThat(ByteSize.parse("8MiB")).isEqualTo(8 << 20);
    assertThat(ByteSize.parse("64K")).isEqualTo(64 << 10);
    assertThat(ByteSize.parse("64kb")).isEqualTo(64 << 10);
    assertThat(ByteSize.parse("1234")).isEqualTo(1234);
    assertThat(ByteSize.parse("2g")).isEqualTo(2L << 30);
    assertThat(ByteSize.format(0)).isEqualTo("0 B");
    assertThat(ByteSize.format(1536)).isEqualTo("1.5 KiB");
    assertThat(ByteSize.format(5L << 40)).isEqualTo("5.0 TiB");
  }

  @Test
  void partsGrowWithTheFile() {
    UploadOptions options = new UploadOptions();

    assertThat(options.partBytes(-1)).isEqualTo(8 << 20);
    assertThat(options.partBytes(10_000L * (8 << 20))).isEqualTo(8 << 20);
    assertThat(options.partBytes(10_000L * (8 << 20) + 1)).isEqualTo(9 << 20);
    assertThat(options.partBytes(5L << 40)).isEqualTo(525 << 20);
    assertThat(options.partBytes(10_000L << 30)).isEqualTo(1 << 30);
    assertThatThrownBy(() -> options.partBytes((10_000L << 30) + 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most 10,000 parts of 1g");
  }

  @Test
  void brokenConnectionsAreRetriedAndCounted(@TempDir Path temp) throws Exception {
    byte[] content = new byte[5_000_000];
    new Random(7).nextBytes(content);
    Path target = temp.resolve("target");
    try (HostileS3Server server = HostileS3Server.start();
        CommandRig rig = new CommandRig(server.endpoint())) {
      server.put(new ObjectRef("bucket", "key"), content);
      server.next(Fault.resetAfter(100_000), Fault.status(503, "SlowDown"));

      Outcome get = rig.run("get", "s3a://bucket/key", target.toString(), "--json");

      assertThat(get.code()).as(get.err()).isZero();
      assertThat(target).hasBinaryContent(content);
      assertThat(get.json().get("retries").asInt()).isPositive();
      assertThat(get.err()).isEmpty();
    }
  }

  @Test
  void aStoreThatRefusesForGoodLeavesNoFile(@TempDir Path temp) throws Exception {
    try (HostileS3Server server = HostileS3Server.start();
        CommandRig rig = new CommandRig(server.endpoint())) {
      server.put(new ObjectRef("bucket", "key"), new byte[1_000_000]);
      server.always(Fault.status(403, "AccessDenied"));

      Outcome get = rig.run("get", "s3a://bucket/key", temp.resolve("target").toString());

      assertThat(get.code()).isEqualTo(1);
      assertThat(get.err()).hasLineCount(1).contains("s3://bucket/key").contains("(HTTP 403)");
      assertThat(temp).isEmptyDirectory();
    }
  }

  @Test
  void aCrtThatCannotBeUsedIsTheReason() {
    assertThat(FailureLine.of(new CrtUnusableException("/tmp takes no file", null)))
        .isEqualTo("the AWS CRT cannot be used: /tmp takes no file");
  }

  @Test
  void aStoreThatIsNotThereIsNamed() throws Exception {
    try (CommandRig rig = new CommandRig(HostileS3Server.refusingEndpoint())) {
      for (String[] command :
          new String[][] {
            {"get", "--discard", "s3a://bucket/key"},
            {"stat", "s3a://bucket/key"},
            {"put", "-", "s3a://bucket/key"}
          }) {
        Outcome outcome = rig.run(command);
        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.err())
            .hasLineCount(1)
            .contains("s3://bucket/key: the store cannot be reached")
            .contains("--endpoint");
      }
    }
  }

  @Test
  void tlsToAPortWithoutItHasAHintAtTheScheme() throws Exception {
    try (HostileS3Server server = HostileS3Server.start();
        CommandRig rig =
            new CommandRig(
                URI.create(server.endpoint().toString().replaceFirst("http:", "https:")))) {
      for (String[] command :
          new String[][] {
            {"get", "--discard", "s3a://bucket/key"},
            {"stat", "s3a://bucket/key"},
            {"put", "-", "s3a://bucket/key"}
          }) {
        Outcome outcome = rig.run(command);
        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.err()).hasLineCount(1).contains("the scheme of --endpoint");
      }
    }
  }

  @Test
  void certificatesOfTheUsersOwn(@TempDir Path temp) throws Exception {
    SelfSigned certificate = SelfSigned.create(temp);
    try (HostileS3Server server = HostileS3Server.startTls(certificate.serverContext());
        CommandRig rig = new CommandRig(server.endpoint())) {
      server.put(new ObjectRef("bucket", "key"), "content".getBytes(UTF_8));
      String pem = certificate.pem().toString();

      assertThat(rig.run("cat", "s3a://bucket/key", "--ca-bundle", pem).text())
          .isEqualTo("content");
      assertThat(rig.run("stat", "s3a://bucket/key", "--ca-bundle", pem).code()).isZero();
      // Not by get: the CRT's own TLS library takes half a minute to give up.
      Outcome untrusted = rig.run("stat", "s3a://bucket/key");
      assertThat(untrusted.code()).isEqualTo(1);
      assertThat(untrusted.err()).hasLineCount(1).contains("TLS fails").contains("--ca-bundle");
    }
  }

  @Test
  void barsAppearWhereTheyAreAskedFor() throws Exception {
    try (HostileS3Server server = HostileS3Server.start();
        CommandRig rig = new CommandRig(server.endpoint())) {
      server.put(new ObjectRef("bucket", "key"), "content".getBytes(UTF_8));

      assertThat(rig.run("get", "--discard", "s3a://bucket/key", "--progress").err())
          .contains("get key")
          .contains("100%");
      assertThat(rig.run("get", "--discard", "s3a://bucket/key").err()).isEmpty();
    }
  }

  @Test
  void benchTellsItsResultsAsJsonAndItsWarmUpReadsAsMuchAsItIsTold(@TempDir Path temp)
      throws Exception {
    Path log = temp.resolve("requests.jsonl");
    Outcome bench =
        CommandRig.runPlainly(
            "bench",
            "--json",
            "--no-progress",
            "--engines=classic",
            "--workloads=seq",
            "--rounds=1",
            "--warm-up=0",
            "--warm-up-size=20",
            "--size=8",
            "--request-log=" + log,
            "--jvm-option=-XX:TieredStopAtLevel=1",
            "--ttfb=1",
            "--bandwidth=0",
            "--heap=256m",
            "--report=" + temp.resolve("report"),
            "--work-dir=" + Files.createDirectory(temp.resolve("work")));

    assertThat(bench.code()).as(bench.err()).isZero();
    assertThat(new ObjectMapper().readTree(bench.out()).get("summaries")).hasSize(1);
    assertThat(bench.err()).contains("classic").contains("Every byte was right");
    try (Stream<String> requests = Files.lines(log)) {
      assertThat(requests.filter(line -> line.contains("lineitem.tbl")))
          .as("three runs of 8 MiB and the one that counts, a HEAD and a GET")
          .hasSize(8);
    }
  }
}
