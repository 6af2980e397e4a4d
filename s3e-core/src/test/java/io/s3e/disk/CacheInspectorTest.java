// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.CacheInspector.Instance;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheInspectorTest {
  @TempDir Path directory;

  private CacheInspector inspector() {
    return new CacheInspector(directory);
  }

  private Instance only() throws IOException {
    List<Instance> instances = inspector().instances();
    assertThat(instances).hasSize(1);
    return instances.get(0);
  }

  @Test
  void nothingIsThere() throws IOException {
    assertThat(inspector().instances()).isEmpty();
    assertThat(new CacheInspector(directory.resolve("none")).instances()).isEmpty();
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void showsInstances() throws IOException {
    try (CacheFixture host = new CacheFixture(directory, null)) {
      host.write("bucket", "a", 1_500_000);
      Path unused = host.write("bucket", "b", 10);

      Instance instance = only();
      assertThat(instance.scope()).isEqualTo("host");
      assertThat(instance.name()).isEqualTo("host");
      assertThat(instance.path()).isEqualTo(host.instance());
      assertThat(instance.encrypted()).isFalse();
      assertThat(instance.capacityBytes()).isEqualTo(16 << 20);
      assertThat(instance.bytes()).isBetween(1_500_010L, 1_700_000L);
    }
  }

  @Test
  void tellsWhatIsEncrypted() throws IOException {
    try (CacheFixture host = new CacheFixture(directory, CacheKey.random())) {
      Path unused = host.write("bucket", "a", 200_000);
      assertThat(only().encrypted()).isTrue();
    }
  }

  @Test
  void clearsBesideThoseWhoUseIt() throws IOException {
    CacheFixture host = new CacheFixture(directory, null);
    host.write("bucket", "a", 1_500_000);
    Path held = host.write("bucket", "b", 10);
    assertThat(held).isNotEmptyFile();

    inspector().clear(only());
    assertThat(held).doesNotExist();
    assertThat(inspector().instances()).isEmpty();
    assertThat(host.write("bucket", "c", 2_000_000)).as("goes on").isNotEmptyFile();
    host.close();
    inspector().clear(only());
    assertThat(inspector().instances()).isEmpty();
  }
}
