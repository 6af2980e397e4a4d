package io.s3e.hadoop.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.hadoop.CapturedLog;
import io.s3e.hadoop.conf.ConfigValues;
import io.s3e.hadoop.conf.ProcessEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheDirectoriesTest {
  @TempDir private Path temp;

  private final Configuration conf = new Configuration(false);
  private final Map<String, String> variables = new HashMap<>();
  private final Map<String, String> properties = new HashMap<>();

  @BeforeEach
  void haveATemporaryDirectory() throws IOException {
    properties.put("java.io.tmpdir", directory("jvm").toString());
  }

  private Path directory(String name) throws IOException {
    return Files.createDirectories(temp.resolve(name));
  }

  private List<Path> choose(Scope scope, Path... explicit) {
    return new CacheDirectories(conf, new ProcessEnvironment(variables, properties))
        .choose(List.of(explicit), scope);
  }

  private List<Path> choose() {
    return choose(Scope.PRIVATE);
  }

  @Test
  void theFirstPlaceThatNamesAnyIsTaken() throws IOException {
    assertThat(choose()).containsExactly(temp.resolve("jvm"));

    conf.set("fs.s3a.buffer.dir", directory("buffer").toString());
    assertThat(choose()).containsExactly(temp.resolve("buffer"));

    properties.put("spark.local.dir", directory("spark-property").toString());
    assertThat(choose()).containsExactly(temp.resolve("spark-property"));

    conf.set("spark.local.dir", directory("spark").toString());
    assertThat(choose()).containsExactly(temp.resolve("spark"));

    variables.put("SPARK_LOCAL_DIRS", directory("sparks").toString());
    assertThat(choose()).containsExactly(temp.resolve("sparks"));

    variables.put("LOCAL_DIRS", directory("yarn1") + "," + directory("yarn2"));
    assertThat(choose()).containsExactly(temp.resolve("yarn1"), temp.resolve("yarn2"));
    assertThat(choose(Scope.APP)).hasSize(2);

    Path mine = directory("mine");
    assertThat(choose(Scope.PRIVATE, mine)).containsExactly(mine);
  }

  @Test
  void whatOutlivesApplicationsIsNotKeptInTheirDirectories() throws IOException {
    variables.put("LOCAL_DIRS", directory("yarn").toString());
    conf.set("fs.s3a.buffer.dir", directory("yarn/s3a").toString());
    assertThat(choose(Scope.HOST)).containsExactly(temp.resolve("jvm"));
    conf.set("hadoop.tmp.dir", temp.resolve("hadoop").toString());
    assertThat(choose(Scope.HOST)).containsExactly(temp.resolve("hadoop"));
  }

  @Test
  void s3asOwnDirectoriesAreMadeAsS3AWouldAndVariablesAreReplaced() {
    conf.set("hadoop.tmp.dir", temp.toString());
    conf.set("fs.s3a.buffer.dir", "${hadoop.tmp.dir}/a/s3a, file:${hadoop.tmp.dir}/b");
    assertThat(choose()).containsExactly(temp.resolve("a/s3a"), temp.resolve("b"));
    assertThat(temp.resolve("a/s3a")).isDirectory();
  }

  @Test
  void whatCannotBeUsedIsLeftOutAndNamed() throws IOException {
    Path file = Files.createFile(temp.resolve("file"));
    Path good = directory("good");
    try (CapturedLog log = new CapturedLog()) {
      assertThat(choose(Scope.PRIVATE, temp.resolve("missing"), file, good)).containsExactly(good);
      assertThat(log.lines("WARN"))
          .hasSize(1)
          .first()
          .asString()
          .contains("fs.s3a.s3e.cache.dirs", "missing does not exist", "file is not a directory");
    }
    assertThat(temp.resolve("missing")).as("the user's own are not made").doesNotExist();
  }

  @Test
  void withoutAnyOneLineSaysSo() {
    try (CapturedLog log = new CapturedLog()) {
      assertThat(choose(Scope.PRIVATE, temp.resolve("missing"))).isEmpty();
      assertThat(log.lines("WARN"))
          .hasSize(1)
          .first()
          .asString()
          .contains("No cache on disk", "missing does not exist", "fs.s3a.s3e.cache.dirs");
    }
  }

  @Test
  void nothingAtAllToChooseFromIsNoFailure() {
    properties.clear();
    try (CapturedLog log = new CapturedLog()) {
      assertThat(choose()).isEmpty();
      assertThat(log.lines("No cache on disk")).hasSize(1);
    }
  }

  @Test
  void textThatIsNoPathIsPassedOver() throws IOException {
    conf.set("fs.s3a.buffer.dir", directory("buffer").toString());
    variables.put("LOCAL_DIRS", "/a\0b");
    try (CapturedLog log = new CapturedLog()) {
      assertThat(choose()).containsExactly(temp.resolve("buffer"));
      assertThat(log.lines("LOCAL_DIRS")).hasSize(1);
    }
    assertThatThrownBy(() -> ConfigValues.paths("/a\0b"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void relativePathsAreNotFollowed() {
    variables.put("LOCAL_DIRS", "target");
    assertThat(choose()).isEmpty();
  }
}
