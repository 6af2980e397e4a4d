// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.cli.CommandRig.Outcome;
import io.s3e.testing.Slow;
import io.s3e.testserver.S3TestServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands against a real S3 protocol server. */
@Slow
class TransferCommandsTest {
  private static final int PART = 5 << 20;

  private static S3TestServer server;

  @TempDir private Path temp;
  private CommandRig rig;

  @BeforeAll
  static void startServer() throws Exception {
    server = S3TestServer.inMemory().withBucket("bucket");
  }

  @AfterAll
  static void stopServer() throws Exception {
    server.close();
  }

  @BeforeEach
  void openRig() {
    rig = new CommandRig(server.endpoint());
  }

  @AfterEach
  void closeRig() {
    rig.close();
  }

  private static byte[] content(int size) {
    byte[] content = new byte[size];
    new Random(size).nextBytes(content);
    return content;
  }

  private Path file(String name, byte[] content) throws IOException {
    return Files.write(temp.resolve(name), content);
  }

  /** Puts an object through the command, as the other tests' beginning. */
  private void stored(String key, byte[] content) {
    Outcome put = rig.run(content, "put", "-", "s3a://bucket/" + key, "--force");
    assertThat(put.err()).isEmpty();
    assertThat(put.code()).isZero();
  }

  private List<String> filesLeft() throws IOException {
    try (Stream<Path> files = Files.list(temp)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, PART - 1, PART, PART + 1, 3 * PART + 17})
  void whatIsPutIsGot(int size) throws IOException {
    byte[] content = content(size);
    String uri = "s3a://bucket/round trip/ü+" + size;
    Path source = file("source", content);
    Path target = temp.resolve("target");

    Outcome put = rig.run("put", source.toString(), uri, "--part-size=5m", "--json");
    Outcome stat = rig.run("stat", uri, "--json");
    Outcome get =
        rig.run("get", uri, target.toString(), "--part-size=1MiB", "--parallel", "4", "--json");
    Outcome cat = rig.run("cat", uri.replace("s3a:", "s3:"));

    assertThat(put.err() + stat.err() + get.err() + cat.err()).isEmpty();
    assertThat(put.json().get("bytes").asLong()).isEqualTo(size);
    int parts = size <= PART ? 0 : (size + PART - 1) / PART;
    // HEAD, and one PUT or begin, parts and end.
    assertThat(put.json().get("requests").asInt()).isEqualTo(parts == 0 ? 2 : parts + 3);
    assertThat(stat.json().get("size").asLong()).isEqualTo(size);
    assertThat(stat.json().get("etag")).isEqualTo(put.json().get("etag"));
    assertThat(target).hasBinaryContent(content);
    assertThat(get.json().get("bytes").asLong()).isEqualTo(size);
    assertThat(get.json().get("etag")).isEqualTo(put.json().get("etag"));
    assertThat(cat.out()).isEqualTo(content);
    assertThat(filesLeft()).containsExactly("source", "target");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, PART, PART + 1, 4 * PART})
  void standardInputAndOutput(int size) {
    byte[] content = content(size);
    String uri = "s3a://bucket/standard-" + size;

    Outcome put = rig.run(dribbling(content), "put", "-", uri, "--part-size=5m", "--parallel=2");
    Outcome get = rig.run("get", uri, "-");

    assertThat(put.code()).as(put.err()).isZero();
    assertThat(get.code()).as(get.err()).isZero();
    assertThat(get.out()).isEqualTo(content);
    assertThat(get.err()).contains("s3://bucket/standard-" + size + " -> -");
  }

  @Test
  void aDirectoryThatIsNotThereIsNoFileToMake() throws Exception {
    String uri = "s3a://bucket/into-a-directory";
    Path missing = temp.resolve("not-mounted");
    assertThat(rig.run(dribbling(content(10)), "put", "-", uri).code()).isZero();
    Outcome get = rig.run("get", uri, missing + "/");
    assertThat(get.code()).isEqualTo(1);
    assertThat(get.err()).contains(missing.toString());
    assertThat(missing).doesNotExist();
    Outcome put =
        rig.run(
            dribbling(content(10)), "put", "-", uri + "-2", "--metadata", "size=Gr\u00f6\u00dfe");
    assertThat(put.code()).isNotZero();
    assertThat(put.err()).contains("--metadata is size=", "printable ASCII");
  }

  /** A pipe gives what there is, not what was asked for. */
  private static InputStream dribbling(byte[] content) {
    return new InputStream() {
      private int at;

      @Override
      public int read() {
        return at == content.length ? -1 : content[at++] & 0xFF;
      }

      @Override
      public int read(byte[] target, int offset, int length) {
        if (at == content.length) {
          return -1;
        }
        int count = Math.min(Math.min(length, 60_001), content.length - at);
        System.arraycopy(content, at, target, offset, count);
        at += count;
        return count;
      }
    };
  }

  @Test
  void checksumsByName() {
    byte[] content = content(2 * PART);
    for (String checksum : List.of("none", "crc32", "crc32c", "sha1", "sha256")) {
      String uri = "s3a://bucket/checksum-" + checksum;
      Outcome put = rig.run(content, "put", "-", uri, "--part-size=5m", "--checksum", checksum);

      assertThat(put.code()).as(checksum + ": " + put.err()).isZero();
      assertThat(rig.run("cat", uri).out()).isEqualTo(content);
    }
  }

  @Test
  void ranges() throws IOException {
    byte[] content = content(3_000_000);
    stored("ranges", content);
    for (String[] range :
        new String[][] {
          {"0-0", "0", "1"},
          {"10-19", "10", "20"},
          {"1m+64k", "1048576", "1114112"},
          {"2999999-", "2999999", "3000000"},
          {"-5", "2999995", "3000000"},
          {"-1g", "0", "3000000"},
          {"100-99999999", "100", "3000000"}
        }) {
      byte[] expected =
          Arrays.copyOfRange(content, Integer.parseInt(range[1]), Integer.parseInt(range[2]));
      Outcome cat = rig.run("cat", "s3a://bucket/ranges", "--range", range[0]);
      Outcome get = rig.run("get", "s3a://bucket/ranges", "-", "--range", range[0]);

      assertThat(cat.out()).as(range[0] + cat.err()).isEqualTo(expected);
      assertThat(get.out()).as(range[0] + get.err()).isEqualTo(expected);
    }
    Outcome behind = rig.run("cat", "s3a://bucket/ranges", "--range=3000000-");
    assertThat(behind.code()).isEqualTo(1);
    assertThat(behind.err())
        .isEqualToIgnoringNewLines(
            "s3e cat: s3://bucket/ranges: the range starts at 3000000,"
                + " the object has 3000000 bytes");
    for (String wrong : List.of("5", "-", "+5", "9-5", "0+0", "a-b", "1+", "-0")) {
      assertThat(rig.run("get", "--discard", "s3a://bucket/ranges", "--range", wrong).code())
          .as(wrong)
          .isEqualTo(2);
    }
  }

  @Test
  void objectsAreConcatenated() {
    stored("a", "one ".getBytes(UTF_8));
    stored("b", "two".getBytes(UTF_8));

    Outcome cat = rig.run("cat", "s3a://bucket/a", "s3://bucket/b", "s3a://bucket/a");

    assertThat(cat.text()).isEqualTo("one twoone ");
  }

  @Test
  void whatExistsIsNotReplacedUnlessForced() throws IOException {
    stored("kept", "old".getBytes(UTF_8));
    Path file = file("kept", "new".getBytes(UTF_8));

    Outcome put = rig.run("put", file.toString(), "s3a://bucket/");
    assertThat(put.code()).isEqualTo(1);
    assertThat(put.err())
        .isEqualToIgnoringNewLines("s3e put: s3://bucket/kept: exists; --force replaces it");
    assertThat(rig.run("cat", "s3a://bucket/kept").text()).isEqualTo("old");

    Outcome get = rig.run("get", "s3a://bucket/kept", temp.toString());
    assertThat(get.code()).isEqualTo(1);
    assertThat(get.err()).contains(file + ": exists; --force replaces it");
    assertThat(file).hasContent("new");

    assertThat(rig.run("get", "s3a://bucket/kept", temp.toString(), "--force").code()).isZero();
    assertThat(file).hasContent("old");
    Files.writeString(file, "newer");
    assertThat(rig.run("put", file.toString(), "s3a://bucket/", "--force").code()).isZero();
    assertThat(rig.run("cat", "s3a://bucket/kept").text()).isEqualTo("newer");
    assertThat(filesLeft()).containsExactly("kept");
  }

  @Test
  void discardedBytesAreCounted() throws IOException {
    stored("discarded", content(123_456));

    Outcome get = rig.run("get", "--discard", "s3a://bucket/discarded", "--json");
    Outcome device = rig.run("get", "s3a://bucket/discarded", "/dev/null");

    JsonNode json = get.json();
    assertThat(json.get("bytes").asLong()).isEqualTo(123_456);
    assertThat(json.get("seconds").asDouble()).isPositive();
    assertThat(json.get("megabytesPerSecond").asDouble()).isPositive();
    assertThat(json.get("requests").asLong()).isGreaterThan(1);
    assertThat(json.get("retries").asLong()).isZero();
    assertThat(json.has("local")).isFalse();
    assertThat(device.code()).as(device.err()).isZero();
    assertThat(device.text()).contains("120.6 KiB").contains("/dev/null").contains("MB/s");
  }

  @Test
  void metadataIsStoredAndTold() throws IOException {
    Outcome put =
        rig.run(
            "{}".getBytes(UTF_8),
            "put",
            "-",
            "s3a://bucket/told.json",
            "--metadata",
            "owner=me",
            "--metadata=purpose=test");
    assertThat(put.code()).as(put.err()).isZero();

    JsonNode json = rig.run("stat", "--json", "s3a://bucket/told.json").json();
    assertThat(json.get("contentType").asText()).isEqualTo("application/json");
    assertThat(json.get("storageClass").asText()).isEqualTo("STANDARD");
    assertThat(json.get("metadata").get("owner").asText()).isEqualTo("me");
    assertThat(json.get("metadata").get("purpose").asText()).isEqualTo("test");
    assertThat(json.get("lastModified").asText()).matches("\\d{4}-\\d\\d-\\d\\dT.*Z");

    assertThat(rig.run("stat", "s3a://bucket/told.json").text())
        .contains("Size:             2 (2 B)")
        .contains("Metadata owner:   me");
  }

  @Test
  void whatIsMissingIsNamed() throws IOException {
    for (String[] command :
        new String[][] {
          {"get", "s3a://bucket/missing", temp.resolve("missing").toString()},
          {"cat", "s3a://bucket/missing"},
          {"stat", "s3a://bucket/missing"}
        }) {
      Outcome outcome = rig.run(command);
      assertThat(outcome.code()).isEqualTo(1);
      assertThat(outcome.err())
          .isEqualToIgnoringNewLines(
              "s3e "
                  + command[0]
                  + ": s3://bucket/missing: no such object, or no such bucket (HTTP 404)");
    }
    assertThat(filesLeft()).isEmpty();
    Outcome put = rig.run("put", temp.resolve("no").toString(), "s3a://bucket/no");
    assertThat(put.code()).isEqualTo(1);
    assertThat(put.err()).contains("no: no such file");
    Outcome bucket = rig.run(new byte[1], "put", "-", "s3a://no-such-bucket/key");
    assertThat(bucket.err()).contains("s3://no-such-bucket/key: no such bucket (HTTP 404)");
  }

  /** The store refuses before it has all bytes, and closes while they are sent. */
  @Test
  void aMissingBucketIsNamedWhateverIsPut() {
    for (int size : new int[] {0, PART, 2 * PART}) {
      for (String more : List.of("--force", "--part-size=5m")) {
        Outcome put = rig.run(content(size), "put", "-", "s3a://no-such-bucket/key", more);
        assertThat(put.code()).isEqualTo(1);
        assertThat(put.err())
            .isEqualToIgnoringNewLines(
                "s3e put: s3://no-such-bucket/key: no such bucket (HTTP 404)");
      }
    }
  }

  @Test
  void aWrongSecretIsNamed() {
    stored("secret", new byte[1]);
    rig.credentials(S3TestServer.ACCESS_KEY, "wrong");
    for (String[] command :
        new String[][] {
          {"get", "--discard", "s3a://bucket/secret"},
          {"cat", "s3a://bucket/secret"},
          {"stat", "s3a://bucket/secret"},
          {"put", "-", "s3a://bucket/secret2"}
        }) {
      Outcome outcome = rig.run(command);
      assertThat(outcome.code()).isEqualTo(1);
      assertThat(outcome.err())
          .hasLineCount(1)
          .contains("s3e " + command[0] + ": s3://bucket/secret")
          .contains("access denied")
          .contains("(HTTP 403)")
          .contains("--profile");
    }
    Outcome verbose = rig.run("stat", "s3a://bucket/secret", "--verbose");
    assertThat(verbose.err()).contains("(HTTP 403)").contains("\tat io.s3e.cli.");
  }

  @Test
  void aClosedPipeIsNoFailure() {
    stored("piped", content(3_000_000));
    OutputStream closed =
        new OutputStream() {
          private int left = 100_000;

          @Override
          public void write(int value) throws IOException {
            write(new byte[1], 0, 1);
          }

          @Override
          public void write(byte[] source, int offset, int length) throws IOException {
            left -= length;
            if (left < 0) {
              throw new IOException("Broken pipe");
            }
          }
        };
    for (String[] command :
        new String[][] {
          {"cat", "s3a://bucket/piped"},
          {"get", "s3a://bucket/piped", "-"},
          {"stat", "s3a://bucket/piped", "--json"}
        }) {
      Outcome outcome = rig.run(InputStream.nullInputStream(), closed, command);
      assertThat(outcome.code()).isEqualTo(141);
      assertThat(outcome.err()).isEmpty();
    }
  }

  @Test
  void aFullDiskBehindStandardOutputIsAFailure() {
    stored("piped", content(1_000));
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int value) throws IOException {
            throw new IOException("No space left on device");
          }
        };
    for (String[] command :
        new String[][] {{"cat", "s3a://bucket/piped"}, {"stat", "s3a://bucket/piped", "--json"}}) {
      Outcome outcome = rig.run(InputStream.nullInputStream(), full, command);
      assertThat(outcome.code()).isEqualTo(1);
      assertThat(outcome.err()).hasLineCount(1).contains("standard output", "No space left");
    }
  }

  /** With what keeps the file apart until it is whole, the name would be longer than names may. */
  @Test
  void aNameOf250BytesIsNotTooLong() throws Exception {
    byte[] content = content(1_000);
    String name = "n".repeat(250);
    stored(name, content);
    Outcome outcome = rig.run("get", "s3a://bucket/" + name, temp.toString());

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(temp.resolve(name)).hasBinaryContent(content);
  }
}
