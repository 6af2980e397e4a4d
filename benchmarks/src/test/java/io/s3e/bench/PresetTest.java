// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.bench.workload.WorkloadKind;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PresetTest {

  @ParameterizedTest
  @EnumSource
  void namesOnlyWhatThereIs(Preset preset) {
    for (String workload : preset.workloads()) {
      WorkloadKind kind = WorkloadKind.of(workload);
      assertThat(kind.label()).isEqualTo(workload);
      for (String name : preset.engines(workload)) {
        Engine engine = Engine.of(name, Map.of());
        assertThat(engine.name()).isEqualTo(name);
      }
    }
  }

  @Test
  void theFullOneHasEveryFileSystemThatIsKnown() {
    assertThat(Preset.FULL.engines("seq"))
        .containsAll(Engine.knownNames().stream().filter(n -> !n.startsWith("raw-")).toList());
  }
}
