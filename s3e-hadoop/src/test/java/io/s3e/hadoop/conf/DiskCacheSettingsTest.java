// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DiskCacheSettingsTest {
  private static final List<Path> TWO = List.of(Path.of("/a"), Path.of("/b"));

  private final Configuration conf = new Configuration(false);
  private final Map<String, String> variables = new HashMap<>();
  private final Map<String, String> properties = new HashMap<>();

  private DiskCacheSettings read() {
    return DiskCacheSettings.read(conf, "logs", new ProcessEnvironment(variables, properties));
  }

  private void set(String key, String value) {
    conf.set("fs.s3a.s3e.cache." + key, value);
  }

  @Test
  void defaultsAreTheCoresOnDiskAndForOneself() {
    DiskCacheSettings settings = read();
    assertThat(settings.mode()).isEqualTo(Mode.DISK);
    assertThat(settings.scope()).isEqualTo(Scope.PRIVATE);
    assertThat(settings.directories()).isEmpty();
    assertThat(settings.encrypted()).isFalse();
    assertThat(settings.limits()).isEqualTo(DiskCacheConfig.DEFAULTS);
    assertThat(settings.usesDisk()).isTrue();
  }

  @Test
  void everySettingArrives() {
    set("mode", "Hybrid");
    set("scope", "HOST");
    set("dirs", " /a, file:/b/ ,/a/../a");
    set("capacity", "10G");
    set("hybrid.size", "128M");
    DiskCacheSettings settings = read();
    assertThat(settings.directories()).isEqualTo(TWO);
    DiskCacheConfig config = settings.in(settings.directories(), null);
    assertThat(config)
        .isEqualTo(
            DiskCacheConfig.DEFAULTS.toBuilder()
                .mode(Mode.HYBRID)
                .scope(Scope.HOST)
                .directories(TWO)
                .capacityBytes(10L << 30)
                .hybridBytes(128L << 20)
                .build());
  }

  @ParameterizedTest
  @CsvSource({
    "container_1410901177871_0001_01_000005, application_1410901177871_0001",
    "container_e17_1410901177871_12345_02_000001, application_1410901177871_12345",
  })
  void yarnsContainerTellsTheApplication(String container, String application) {
    set("scope", "app");
    variables.put("CONTAINER_ID", container);
    properties.put("spark.app.id", "other");
    assertThat(read().application()).isEqualTo(application);
  }

  @Test
  void sparkTellsTheApplicationWhereYarnDoesNot() {
    set("scope", "app");
    variables.put("CONTAINER_ID", "no container");
    properties.put("spark.app.id", "app-20260101-0007");
    assertThat(read().application()).isEqualTo("app-20260101-0007");
    conf.set("spark.app.id", "local-1");
    assertThat(read().application()).isEqualTo("local-1");
    set("app.id", "mine");
    assertThat(read().application()).isEqualTo("mine");
  }

  @Test
  void aProcessOfNoApplicationHasACacheOfItsOwn() {
    set("scope", "app");
    assertThat(read().scope()).isEqualTo(Scope.PRIVATE);
    assertThat(read().application()).isEmpty();
  }

  @Test
  void theApplicationIsOfNoConcernInOtherScopes() {
    set("app.id", "mine");
    assertThat(read().application()).isEmpty();
  }
}
