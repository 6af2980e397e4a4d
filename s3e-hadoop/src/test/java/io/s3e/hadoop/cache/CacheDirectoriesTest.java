// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.hadoop.conf.ConfigValues;
import io.s3e.hadoop.conf.ProcessEnvironment;
import io.s3e.testing.CapturedLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CacheDirectoriesTest {
  @TempDir private Path temp;

  private final Configuration conf = new Configuration(false);
  private final Map<String, String> variables = new HashMap<>();
  private final Map<String, String> properties = new HashMap<>();
  private String fileSystem = "ext4";

  @BeforeEach
  void haveATemporaryDirectory() throws IOException {
    properties.put("java.io.tmpdir", directory("jvm").toString());
  }

  private Path directory(String name) throws IOException {
    return Files.createDirectories(temp.resolve(name));
  }

  private List<Path> choose(Scope scope, Path... explicit) throws IOException {
    return new CacheDirectories(
            conf, new ProcessEnvironment(variables, properties), path -> fileSystem)
        .choose(List.of(explicit), scope);
  }

  private List<Path> choose() throws IOException {
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

  @ParameterizedTest
  @ValueSource(strings = {"tmpfs", "nfs4", "cifs", "fuse.sshfs"})
  void whatIsNoLocalDiskIsTakenOnlyIfItIsNamed(String noDisk) throws IOException {
    fileSystem = noDisk;
    assertThat(choose()).isEmpty();
    Path mine = directory("mine");
    assertThat(choose(Scope.PRIVATE, mine)).containsExactly(mine);
    fileSystem = "";
    assertThat(choose()).as("where nobody knows").hasSize(1);
  }

  private void haveAHome(Path home) {
    properties.put("user.home", home.toString());
    properties.put("user.name", System.getProperty("user.name"));
  }

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void whatOutlivesApplicationsIsNotKeptInTheirDirectoriesNorInTemporaryOnes() throws IOException {
    variables.put("LOCAL_DIRS", directory("yarn").toString());
    variables.put("SPARK_LOCAL_DIRS", directory("sparks").toString());
    conf.set("spark.local.dir", directory("spark").toString());
    conf.set("fs.s3a.buffer.dir", directory("yarn/s3a").toString());
    conf.set("hadoop.tmp.dir", directory("hadoop").toString());
    assertNone(Scope.HOST, "user.home", "set fs.s3a.s3e.cache.dirs to absolute paths");

    haveAHome(directory("home"));
    assertThat(choose(Scope.HOST)).containsExactly(temp.resolve("home/.cache"));
    assertThat(permissions(temp.resolve("home/.cache"))).isEqualTo("rwx------");

    variables.put("XDG_CACHE_HOME", "relative");
    assertThat(choose(Scope.HOST)).containsExactly(temp.resolve("home/.cache"));

    variables.put("XDG_CACHE_HOME", temp.resolve("xdg/cache").toString());
    assertThat(choose(Scope.HOST)).containsExactly(temp.resolve("xdg/cache"));
    assertThat(permissions(temp.resolve("xdg/cache"))).isEqualTo("rwx------");

    Path mine = directory("mine");
    assertThat(choose(Scope.HOST, mine)).containsExactly(mine);
  }

  @Test
  void aHomeDirectoryThatIsMissingOrSomebodyElsesIsNotUsed() throws IOException {
    haveAHome(temp.resolve("none"));
    assertNone(Scope.HOST, temp.resolve("none/.cache").toString());
    assertThat(temp.resolve("none")).doesNotExist();

    haveAHome(directory("home/.cache").getParent());
    properties.put("user.name", "somebody-else");
    assertNone(Scope.HOST, "home/.cache is not in a directory of the user");

    properties.put("user.home", "?");
    assertNone(Scope.HOST, "?/.cache is not absolute");
  }

  private void assertNone(Scope scope, String... said) {
    Throwable none = catchThrowable(() -> choose(scope));
    assertThat(none).isInstanceOf(IOException.class);
    assertThat(none.getMessage()).contains("has no directory that can be used").contains(said);
  }

  @Test
  void s3asOwnDirectoriesAreMadeAsS3AWouldAndVariablesAreReplaced() throws IOException {
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
      assertThat(log.lines("WARN CacheDirectories"))
          .hasSize(1)
          .first()
          .asString()
          .contains("fs.s3a.s3e.cache.dirs", "missing does not exist", "file is not a directory");
    }
    assertThat(temp.resolve("missing")).as("the user's own are not made").doesNotExist();
  }

  @Test
  void withoutAnyTheErrorSaysWhyAndWhatToDo() {
    assertThatThrownBy(() -> choose(Scope.PRIVATE, temp.resolve("missing")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("fs.s3a.s3e.cache.dirs has no directory that can be used")
        .hasMessageContaining("missing does not exist")
        .hasMessageContaining("set fs.s3a.s3e.cache.dirs");
  }

  @Test
  void nothingAtAllToChooseFromIsToldLikewise() {
    properties.clear();
    assertNone(Scope.PRIVATE, "java.io.tmpdir");
    assertNone(Scope.HOST, "user.home");
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
    assertNone(Scope.PRIVATE, "target is not absolute");
  }
}
