// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.bench.workload.WorkloadKind;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class EngineTest {

  private static final String FADVISE = "fs.s3a.experimental.input.fadvise";

  static List<String> knownNames() {
    return Engine.knownNames();
  }

  @ParameterizedTest
  @MethodSource("knownNames")
  void everyKnownNameIsAnEngineOfThatName(String name) {
    Engine engine = Engine.of(name, Map.of());

    assertThat(engine.name()).isEqualTo(name);
    assertThat(engine.runs(WorkloadKind.of("seq"))).isTrue();
    assertThat(engine.runs(WorkloadKind.of("seq16"))).isTrue();
    assertThat(engine.runs(WorkloadKind.of("rnd"))).isEqualTo(!engine.isRaw());
    assertThat(engine.runs(WorkloadKind.of("cold"))).isTrue();
    assertThat(engine.runs(WorkloadKind.of("manyfs8"))).isEqualTo(!engine.isCeiling());
    assertThat(engine.runs(WorkloadKind.of("neighbour-hang"))).isEqualTo(!engine.isCeiling());
  }

  @Test
  void theNamesOfTheComparisonAreKnown() {
    assertThat(knownNames())
        .contains("s3e", "s3e-crt-bytes", "s3e-s3a", "classic", "prefetch", "analytics")
        .contains("classic-tuned", "prefetch-tuned", "analytics-tuned")
        .contains("iceberg-s3fileio", "iceberg-s3e")
        .contains("raw-crt-16", "raw-crt-32", "raw-crt-bytes-16")
        .contains("raw-sync-16", "raw-sync-32");
  }

  @Test
  void aTunedPeerIsTunedForItsWorkload() {
    Engine tuned = Engine.of("classic-tuned", Map.of());

    assertThat(tuned.isS3a()).isTrue();
    assertThat(tuned.settings(WorkloadKind.of("seq"))).containsEntry(FADVISE, "sequential");
    assertThat(tuned.settings(WorkloadKind.of("rnd"))).containsEntry(FADVISE, "random");
    assertThat(tuned.settings(WorkloadKind.of("rnd")))
        .containsEntry("fs.s3a.input.stream.type", "classic");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"classic", "prefetch", "analytics", "analytics-tuned", "classic-mine", "x"})
  void streamsOfS3aAreOfS3asFileSystemWhateverAFileSays(String name) {
    Engine engine =
        Engine.of(name, Engine.knownNames().contains(name) ? Map.of() : Map.of("a", "b"));

    assertThat(engine.settings(WorkloadKind.of("seq")))
        .containsEntry("fs.s3a.impl", "org.apache.hadoop.fs.s3a.S3AFileSystem");
    assertThat(engine.isS3a()).isTrue();
    assertThat(Engine.of(name, Map.of("fs.s3a.impl", "no.such.FileSystem")).isS3a()).isFalse();
    assertThat(Engine.of("s3e", Map.of()).isS3a()).isFalse();
  }

  @Test
  void sizesOfTunedPeersAreOnesThatHadoopReads() {
    Configuration configuration = new Configuration(false);
    Engine.of("prefetch-tuned", Map.of())
        .settings(WorkloadKind.of("rnd"))
        .forEach(configuration::set);

    assertThat(configuration.getLongBytes("fs.s3a.prefetch.block.size", 0)).isEqualTo(1 << 20);
  }

  @Test
  void prefetchOfManyStreamsKeepsToTheHeap() {
    Engine tuned = Engine.of("prefetch-tuned", Map.of());

    assertThat(tuned.settings(WorkloadKind.of("seq")))
        .containsEntry("fs.s3a.prefetch.block.count", "16");
    assertThat(tuned.settings(WorkloadKind.of("seq64")))
        .doesNotContainKey("fs.s3a.prefetch.block.count");
  }

  @Test
  void aUsersSettingsComeOnTopOfTheLongestKnownName() {
    Engine mine = Engine.of("classic-tuned-mine", Map.of(FADVISE, "normal", "x", "y"));

    assertThat(mine.settings(WorkloadKind.of("seq")))
        .containsEntry(FADVISE, "normal")
        .containsEntry("x", "y")
        .containsEntry("fs.s3a.threads.max", "256");
  }

  @ParameterizedTest
  @ValueSource(strings = {"nobody", "classic-mine", "raw-nobody-16"})
  void aNameWithNothingBehindItIsRefused(String name) {
    assertThatThrownBy(() -> Engine.of(name, Map.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name)
        .hasMessageContaining("raw-crt-16");
  }

  @Test
  void plainReadersAreACeilingAndNoStreamOfS3a() {
    for (String name : List.of("plain-file", "plain-hadoop")) {
      Engine plain = Engine.of(name, Map.of());
      assertThat(plain.isFile()).isTrue();
      assertThat(plain.isCeiling()).isTrue();
      assertThat(plain.isRaw()).isFalse();
      assertThat(plain.isS3a()).isFalse();
    }
    assertThat(Engine.of("s3e", Map.of()).isCeiling()).isFalse();
  }

  @Test
  void theCacheCanBeLeftOutOrShared() {
    WorkloadKind seq = WorkloadKind.of("seq");
    assertThat(Engine.of("s3e-nocache", Map.of()).settings(seq))
        .containsEntry("fs.s3a.s3e.cache.mode", "memory");
    assertThat(Engine.of("s3e-host", Map.of()).settings(seq))
        .containsEntry("fs.s3a.s3e.cache.scope", "host")
        .containsEntry("fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem");
  }
}
