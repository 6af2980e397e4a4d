package io.s3e.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.block.ObjectRef;
import io.s3e.cli.CommandRig.Outcome;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.SelfSigned;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as a whole: help, usage, exit codes, failures of the network. */
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
      assertThat(outcome.err()).startsWith("s3e bench: --rounds");
    }
    Outcome typo = CommandRig.runPlainly("gte", "s3a://bucket/key");
    assertThat(typo.code()).isEqualTo(2);
    assertThat(typo.err()).contains("'gte'");
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
          {"get", "s3a://bucket/key", "--client=netty"},
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
  void aStoreThatIsNotThereIsNamed() throws Exception {
    try (CommandRig rig = new CommandRig(HostileS3Server.refusingEndpoint())) {
      for (String[] command :
          new String[][] {
            {"get", "--discard", "s3a://bucket/key"},
            {"get", "--discard", "s3a://bucket/key", "--client=sdk-sync"},
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
  void certificatesOfTheUsersOwn(@TempDir Path temp) throws Exception {
    SelfSigned certificate = SelfSigned.create(temp);
    try (HostileS3Server server = HostileS3Server.startTls(certificate.serverContext());
        CommandRig rig = new CommandRig(server.endpoint())) {
      server.put(new ObjectRef("bucket", "key"), "content".getBytes(UTF_8));
      String pem = certificate.pem().toString();

      assertThat(rig.run("cat", "s3a://bucket/key", "--ca-bundle", pem).text())
          .isEqualTo("content");
      assertThat(rig.run("stat", "s3a://bucket/key", "--ca-bundle", pem).code()).isZero();
      // The CRT's own TLS library takes half a minute to give up.
      for (String[] command :
          new String[][] {
            {"cat", "s3a://bucket/key", "--client=sdk-sync"}, {"stat", "s3a://bucket/key"}
          }) {
        Outcome untrusted = rig.run(command);
        assertThat(untrusted.code()).isEqualTo(1);
        assertThat(untrusted.err()).hasLineCount(1).contains("TLS fails").contains("--ca-bundle");
      }
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
  void benchTellsItsResultsAsJson(@TempDir Path temp) throws Exception {
    Outcome bench =
        CommandRig.runPlainly(
            "bench",
            "--json",
            "--no-progress",
            "--engines=classic",
            "--workloads=seq",
            "--rounds=1",
            "--warm-up=0",
            "--size=1",
            "--ttfb=1",
            "--bandwidth=0",
            "--heap=256m",
            "--report=" + temp.resolve("report"),
            "--work-dir=" + Files.createDirectory(temp.resolve("work")));

    assertThat(bench.code()).as(bench.err()).isZero();
    assertThat(new ObjectMapper().readTree(bench.out()).get("summaries")).hasSize(1);
    assertThat(bench.err()).contains("classic").contains("Every byte was right");
  }
}
