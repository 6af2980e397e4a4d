package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectVersion;
import io.s3e.disk.CacheInspector.CachedObject;
import io.s3e.disk.CacheInspector.Instance;
import io.s3e.disk.CacheInspector.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
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
  void showsInstancesRegionsAndObjects() throws IOException {
    try (CacheFixture host = new CacheFixture(directory, null)) {
      host.write("bucket", "a", 1_500_000);
      Path last = host.write("bucket", "b", 10);

      Instance instance = only();
      assertThat(instance.kind()).isEqualTo(Kind.HOST);
      assertThat(instance.name()).isEqualTo("host");
      assertThat(instance.path()).isEqualTo(host.instance());
      assertThat(instance.regions()).isEqualTo(16);
      assertThat(instance.used()).isEqualTo(2);
      assertThat(instance.held()).isEqualTo(1);
      assertThat(instance.isInUse()).isTrue();
      assertThat(instance.capacityBytes()).isEqualTo(16 << 20);
      assertThat(instance.bytes()).isBetween(1_500_010L, 1_600_000L);
      assertThat(inspector().bytes(instance)).isEqualTo(instance.bytes());
      assertThat(inspector().regions(instance))
          .extracting(CacheInspector.UsedRegion::chunks, CacheInspector.UsedRegion::held)
          .containsExactly(
              org.assertj.core.groups.Tuple.tuple(16, false),
              org.assertj.core.groups.Tuple.tuple(8, true));
      assertThat(inspector().regions(instance).get(1).path()).isEqualTo(last);

      List<CachedObject> objects = new ArrayList<>(inspector().objects(instance));
      objects.sort(Comparator.comparing(CachedObject::bytes));
      assertThat(objects).extracting(CachedObject::bytes).containsExactly(10L, 1_500_000L);
      assertThat(objects).extracting(CachedObject::chunks).containsExactly(1, 23);
      CachedObject a = objects.get(1);
      ObjectVersion version = a.version();
      assertThat(version).isNotNull();
      assertThat(version.object().toString()).isEqualTo("s3://bucket/a");
      assertThat(version.etag()).isEqualTo("\"etag of a\"");
      assertThat(version.versionId()).isNull();
      assertThat(a.size()).isEqualTo(1_500_000);
      assertThat(a.store()).isEqualTo("http://127.0.0.1:9000");
    }
    assertThat(only().isInUse()).isFalse();
    assertThat(inspector().objects(only())).as("by others as well").hasSize(2);
  }

  @Test
  void tellsWhatIsEncrypted() throws IOException {
    try (CacheFixture host = new CacheFixture(directory, CacheKey.random())) {
      Path unused = host.write("bucket", "a", 200_000);
      assertThat(only().encrypted()).isTrue();
    }
  }

  @Test
  void clearsWhatNobodyHolds() throws IOException {
    CacheFixture host = new CacheFixture(directory, null);
    host.write("bucket", "a", 1_500_000);
    Path held = host.write("bucket", "b", 10);
    assertThat(inspector().clear(only(), false)).isEqualTo(1);
    assertThat(only().used()).isEqualTo(1);
    assertThat(held).isNotEmptyFile();
    assertThat(inspector().objects(only())).hasSize(2);

    assertThat(inspector().clear(only(), true)).isZero();
    assertThat(only().used()).isZero();
    assertThat(held).isEmptyFile();
    assertThat(host.write("bucket", "c", 2_000_000)).as("goes on").isNotEmptyFile();
    host.close();
    assertThat(inspector().clear(only(), false)).isZero();
    assertThat(inspector().instances()).isEmpty();
  }
}
