// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import io.s3e.cli.CommandRig.Outcome;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Slow;
import io.s3e.testserver.S3TestServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Failed, refused and interrupted transfers leave nothing behind. */
@Timeout(120)
@Slow
class UnfinishedTransfersTest {
  private static final int PART = 5 << 20;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir private Path temp;
  @TempDir private Path apart;
  private Path said;
  private S3TestServer server;
  private S3Client s3;
  private CommandRig rig;

  @BeforeEach
  void open() throws Exception {
    said = apart.resolve("said");
    server = S3TestServer.inMemory().withBucket("bucket");
    rig = new CommandRig(server.endpoint());
    s3 = client();
  }

  private S3Client client() {
    return S3Client.builder()
        .endpointOverride(server.endpoint())
        .region(Region.US_EAST_1)
        .forcePathStyle(true)
        .httpClientBuilder(ApacheHttpClient.builder())
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsBasicCredentials.create(S3TestServer.ACCESS_KEY, S3TestServer.SECRET_KEY)))
        .build();
  }

  @AfterEach
  void close() throws Exception {
    s3.close();
    rig.close();
    server.close();
  }

  private int uploads() {
    return s3.listMultipartUploads(request -> request.bucket("bucket")).uploads().size();
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(temp)) {
      return files.toList();
    }
  }

  /** The command in a JVM of its own, since an interruption ends it. */
  private Process start(URI endpoint, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    if (Runtime.version().feature() >= 24) {
      // The JVM warns of what aws-crt does.
      command.addAll(
          List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
    }
    command.add("-Daws.accessKeyId=" + S3TestServer.ACCESS_KEY);
    command.add("-Daws.secretAccessKey=" + S3TestServer.SECRET_KEY);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(S3eCommand.class.getName());
    command.addAll(List.of(arguments));
    command.addAll(List.of("--endpoint", endpoint.toString(), "--path-style"));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(said.toFile())
        .start();
  }

  private void end(Process process) throws Exception {
    process.destroy();
    assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(said).isEmptyFile();
  }

  @Test
  void anInterruptedUploadIsAborted() throws Exception {
    Process put = start(server.endpoint(), "put", "-", "s3a://bucket/key", "--part-size=5m");
    try {
      OutputStream in = put.getOutputStream();
      in.write(new byte[2 * PART + 1]);
      in.flush();
      awaitTrue("the upload begins", PATIENCE, () -> uploads() == 1);

      end(put);
      assertThat(uploads()).isZero();
    } finally {
      put.destroyForcibly();
    }
  }

  @Test
  void anInterruptedDownloadLeavesNoFile() throws Exception {
    try (HostileS3Server stalling = HostileS3Server.start()) {
      stalling.put(new ObjectRef("bucket", "key"), new byte[1 << 20]);
      stalling.always(Fault.stallAtOnce());
      Process get = start(stalling.endpoint(), "get", "s3a://bucket/key", temp.toString());
      try {
        awaitTrue(
            "the file begins", PATIENCE, () -> !files().isEmpty() && !stalling.gets().isEmpty());

        end(get);
        assertThat(files()).isEmpty();
      } finally {
        get.destroyForcibly();
      }
    }
  }

  @Test
  void anUploadWhoseSourceFailsIsAborted() {
    InputStream failing =
        new InputStream() {
          private int left = 3 * PART;

          @Override
          public int read() throws IOException {
            if (--left < 0) {
              throw new IOException("the tape has torn");
            }
            return 0;
          }
        };

    Outcome put = rig.run(failing, "put", "-", "s3a://bucket/key", "--part-size=5m");

    assertThat(put.code()).isEqualTo(1);
    assertThat(put.err()).isEqualToIgnoringNewLines("s3e put: s3://bucket/key: the tape has torn");
    assertThat(uploads()).isZero();
    assertThat(rig.run("stat", "s3a://bucket/key").code()).isEqualTo(1);
  }

  @Test
  void whoComesSecondIsRefusedByTheStore() throws Exception {
    ObjectRef object = new ObjectRef("bucket", "key");
    rig.run(new byte[] {1}, "put", "-", object.toString());
    Upload.Target target =
        new Upload.Target(
            object,
            Upload.Existing.SEEN_ABSENT,
            "application/octet-stream",
            Map.of(),
            null,
            Checksum.NONE);
    for (int size : new int[] {0, 1, 2 * PART}) {
      // The server closes the connection of a refusal: an upload that took the same would be sent
      // twice, and could not know whether the first was stored.
      try (S3Client fresh = client();
          Upload upload = new Upload(fresh, target, 2, bytes -> {});
          PartSource source = PartSource.of(new ByteArrayInputStream(new byte[size]), PART)) {
        assertThatThrownBy(() -> upload.send(source))
            .isInstanceOfSatisfying(
                S3Exception.class, e -> assertThat(e.statusCode()).isEqualTo(412));
      }
    }
    assertThat(uploads()).isZero();
    assertThat(rig.run("cat", object.toString()).out()).containsExactly(1);
  }
}
