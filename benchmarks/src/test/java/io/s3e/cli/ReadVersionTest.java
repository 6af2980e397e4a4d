// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.cli.CommandRig.Outcome;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which version the commands ask a versioned bucket for: to name one takes a permission more. */
@Slow
class ReadVersionTest {
  private static final String URI = "s3a://bucket/key";
  private static final byte[] OLD = {1, 2, 3};
  private static final byte[] NEW = {4, 5};

  private HostileS3Server server;
  private CommandRig rig;

  @BeforeEach
  void open() throws IOException {
    server = HostileS3Server.start();
    server.put(new ObjectRef("bucket", "key"), "v1", OLD);
    server.put(new ObjectRef("bucket", "key"), "v2", NEW);
    rig = new CommandRig(server.endpoint());
  }

  @AfterEach
  void close() throws IOException {
    rig.close();
    server.close();
  }

  private List<String> targets() {
    return server.requests().stream().map(HostileS3Server.Request::target).toList();
  }

  @Test
  void noVersionIsNamedThatTheUserHasNotNamed() throws IOException {
    Outcome get = rig.run("get", "--discard", URI, "--json");
    Outcome cat = rig.run("cat", URI);

    assertThat(get.json().get("versionId").asText()).isEqualTo("v2");
    assertThat(cat.out()).isEqualTo(NEW);
    assertThat(server.gets()).isNotEmpty();
    assertThat(targets()).noneMatch(target -> target.contains("versionId"));
  }

  @Test
  void theVersionOfTheHeadIsReadWhereNoETagHoldsToIt() {
    server.decideAll(request -> request.method().equals("HEAD") ? Fault.etag(null) : Fault.none());

    Outcome cat = rig.run("cat", URI);

    assertThat(cat.out()).as(cat.err()).isEqualTo(NEW);
    assertThat(server.gets()).isNotEmpty().allMatch(get -> get.target().contains("versionId=v2"));
  }

  @Test
  void theUsersVersionIsRead() {
    assertThat(rig.run("cat", URI, "--version-id=v1").out()).isEqualTo(OLD);
    assertThat(targets()).allMatch(target -> target.contains("versionId=v1"));
  }
}
