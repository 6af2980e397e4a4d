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
    for (String engine : preset.engines()) {
      assertThat(Engine.of(engine, Map.of()).name()).isEqualTo(engine);
    }
    for (String workload : preset.workloads()) {
      assertThat(WorkloadKind.of(workload).label()).isEqualTo(workload);
    }
  }

  @Test
  void theFullOneHasEveryFileSystemThatIsKnown() {
    assertThat(Preset.FULL.engines())
        .containsAll(Engine.knownNames().stream().filter(n -> !n.startsWith("raw-")).toList());
  }
}
