// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Slow;
import io.s3e.testserver.S3TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Where the commands find region and endpoint that no option names. */
@Slow
class StoreOptionsTest {
  private static final String CONFIG =
      """
      [default]
      endpoint_url = http://127.0.0.1:9001
      region = eu-west-1

      [profile without]
      region = eu-west-2

      [profile with]
      region = eu-west-3
      endpoint_url = http://127.0.0.1:9003
      """;

  @TempDir private Path temp;
  private Path config;

  @BeforeEach
  void writeConfig() throws Exception {
    config = Files.writeString(temp.resolve("config"), CONFIG);
    System.setProperty("aws.configFile", config.toString());
  }

  @AfterEach
  void forgetConfig() {
    System.clearProperty("aws.configFile");
  }

  private static String host(String... arguments) {
    StoreOptions options = new StoreOptions();
    var unused = new CommandLine(options).parseArgs(arguments);
    try (SdkStore store = new SdkStore(options, 1, false)) {
      return store
          .s3()
          .utilities()
          .getUrl(request -> request.bucket("bucket").key("key"))
          .getAuthority();
    }
  }

  @Test
  void theEndpointIsThatOfTheProfileThatIsNamed() {
    assertThat(host("--path-style")).isEqualTo("127.0.0.1:9001");
    assertThat(host("--path-style", "--profile=with")).isEqualTo("127.0.0.1:9003");
    assertThat(host("--path-style", "--profile=without")).isEqualTo("s3.eu-west-2.amazonaws.com");
  }

  private String regionOf(ForkedJvm.Launch launch) throws Exception {
    try (HostileS3Server server = HostileS3Server.start()) {
      server.put(new ObjectRef("bucket", "key"), new byte[1]);
      try (ForkedJvm jvm =
          launch
              .options(
                  "-Xmx64m",
                  "-Daws.configFile=" + config,
                  "-Daws.accessKeyId=" + S3TestServer.ACCESS_KEY,
                  "-Daws.secretAccessKey=" + S3TestServer.SECRET_KEY)
              .start(
                  "stat", "s3a://bucket/key", "--path-style", "--endpoint=" + server.endpoint())) {
        jvm.awaitEnd();
        assertThat(jvm.exitCode()).as("%s", jvm.rest()).isZero();
      }
      return server.requests().get(0).header("Authorization").split("/")[2];
    }
  }

  @Test
  void theCommandLinesVariableComesAfterTheSdksAndBeforeTheProfile() throws Exception {
    String main = S3eCommand.class.getName();
    assertThat(regionOf(ForkedJvm.of(main).environment("AWS_DEFAULT_REGION", "ap-south-1")))
        .isEqualTo("ap-south-1");
    assertThat(
            regionOf(
                ForkedJvm.of(main)
                    .environment("AWS_DEFAULT_REGION", "ap-south-1")
                    .environment("AWS_REGION", "ap-south-2")))
        .isEqualTo("ap-south-2");
  }
}
