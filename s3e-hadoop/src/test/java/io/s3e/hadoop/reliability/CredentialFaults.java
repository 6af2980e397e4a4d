// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import io.s3e.hadoop.reliability.Load.End;
import io.s3e.hadoop.reliability.Load.Kind;
import io.s3e.hadoop.reliability.Load.Read;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Pause;
import io.s3e.testing.StoredContent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Credentials that stop working, a provider that has none, and a clock that is wrong. */
final class CredentialFaults {
  private static final int READERS = 8;
  private static final int ROTATIONS = 5;
  private static final Duration PAUSE = Duration.ofSeconds(3);
  private static final Duration DOWN = Duration.ofSeconds(4);
  private static final Map<String, String> PROVIDER =
      Map.of("fs.s3a.aws.credentials.provider", RotatingCredentials.class.getName());

  /** What happens while the readers read. */
  @FunctionalInterface
  private interface Script {
    void run(HostileS3Server server) throws Exception;
  }

  private CredentialFaults() {}

  static List<Figures> run(Subject subject) throws Exception {
    List<Figures> all = new ArrayList<>();
    for (String refusal :
        List.of("403 InvalidAccessKeyId", "400 ExpiredToken", "403 ExpiredToken")) {
      all.add(read(subject, "rotation, " + refusal, server -> rotate(server, refusal)));
    }
    all.add(read(subject, "provider down for 4 s", server -> providerDown()));
    for (int hours : new int[] {1, -1}) {
      all.add(
          read(
              subject,
              "clock off by " + hours + " h",
              server -> {
                server.clock(Duration.ofHours(hours));
                Pause.of(PAUSE.multipliedBy(2), "reads by that clock");
              }));
    }
    return all;
  }

  /** The old credentials stop at once. */
  private static void rotate(HostileS3Server server, String refusal) throws InterruptedException {
    String[] words = refusal.split(" ");
    Fault refused = Fault.status(Integer.parseInt(words[0]), words[1]);
    server.decideAll(
        request ->
            request
                    .header("Authorization")
                    .contains("Credential=" + RotatingCredentials.accessKey() + "/")
                ? Fault.none()
                : refused);
    for (int i = 0; i < ROTATIONS; i++) {
      RotatingCredentials.give("rotated-" + i);
      Pause.of(PAUSE, "the pace of the rotations");
    }
  }

  /** Before, while and after the credentials that S3E holds expire. */
  private static void providerDown() throws InterruptedException {
    Pause.of(PAUSE, "reads before it");
    try {
      RotatingCredentials.down(true);
      Pause.of(DOWN, "the provider is away");
    } finally {
      RotatingCredentials.down(false);
    }
    Pause.of(PAUSE.multipliedBy(2), "reads after it");
  }

  private static Figures read(Subject subject, String name, Script script) throws Exception {
    try (Setup setup = Setup.plain(subject, PROVIDER)) {
      StoredContent content = Load.hugeFile();
      try (Load load = new Load(setup.server(), setup.fs(), content)) {
        for (int i = 0; i < READERS; i++) {
          load.start(Kind.POSITIONED, Load.object("file-" + i));
        }
        Pause.of(PAUSE, "reads before it");
        script.run(setup.server());
        int stuck = load.stop(Duration.ofSeconds(15));
        Collection<Read> reads = load.reads();
        return new Figures(Group.CREDENTIALS.key(), name, subject)
            .add("reads", reads.size())
            .add("failed reads", reads.stream().filter(read -> read.end() != End.RIGHT).count())
            .add("stuck", stuck)
            .add("slowest read, s", Percentiles.of(reads).millis(1) / 1e3)
            .add(
                "errors",
                reads.stream()
                    .map(read -> read.error().split("[: ]", 2)[0])
                    .filter(error -> !error.isEmpty())
                    .distinct()
                    .collect(Collectors.joining(", ")));
      }
    }
  }
}
