// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.disk.SharedRegionsRig.Found;
import io.s3e.metrics.DiskMetrics;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Stranger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Directories as YARN and Kubernetes make them: somebody else could put another one in the place of
 * the cache's own.
 */
class ExchangeableDirectoryTest {
  private static final long CAPACITY = SharedRegionsRig.CAPACITY;

  /** Who could exchange the cache. */
  private enum Host {
    /** {@code usercache/<user>/appcache/<app>}, of the user, below directories of the user yarn. */
    YARN,
    /** An emptyDir, of root, with mode 0777. */
    KUBERNETES;

    Path make(Path above) throws IOException {
      Path made = Files.createDirectories(above.resolve("usercache/user/appcache/app"));
      if (this == KUBERNETES) {
        Files.setAttribute(made, "unix:mode", 0777);
      } else {
        Stranger.give(above.resolve("usercache"));
        Files.setAttribute(made, "unix:mode", 0710);
      }
      return made;
    }
  }

  @TempDir Path temp;
  private final CacheKey key = CacheKey.random();
  private final StoredObject object = SharedRegionsRig.unknown("object", 2);
  private Path above;

  @BeforeEach
  void makeAbove() throws IOException {
    above = temp.toRealPath();
  }

  private SharedRegionsRig encrypted(Path directory) throws IOException {
    return new SharedRegionsRig(new DiskIo(), directory, CAPACITY, key);
  }

  @ParameterizedTest
  @EnumSource
  void encryptedCachesAreShared(Host host) throws IOException {
    Path directory = host.make(above);
    try (SharedRegionsRig one = encrypted(directory);
        SharedRegionsRig other = encrypted(directory)) {
      assertThat(one.append(object, 0)).isTrue();
      other.refresh();
      assertThat(other.read(object, 0)).isEqualTo(Found.RIGHT);
    }
    try (SharedRegionsRig later = encrypted(directory)) {
      assertThat(later.read(object, 0)).isEqualTo(Found.RIGHT);
    }
  }

  @ParameterizedTest
  @EnumSource
  void encryptedCachesAreListedAndNotCleared(Host host) throws IOException {
    Path directory = host.make(above);
    CacheInspector inspector = new CacheInspector(directory);
    try (SharedRegionsRig one = encrypted(directory)) {
      assertThat(one.append(object, 0)).isTrue();
      CacheInspector.Instance instance = inspector.instances().get(0);
      assertThat(instance.encrypted()).isTrue();
      assertThatThrownBy(() -> inspector.clear(instance))
          .isInstanceOf(RefusedDirectoryException.class)
          .hasMessageContaining("could exchange the cache below it");
      assertThat(one.read(object, 0)).isEqualTo(Found.RIGHT);
    }
  }

  @ParameterizedTest
  @EnumSource
  void withoutEncryptionThereIsACacheOfTheProcessAlone(Host host) throws IOException {
    Path directory = host.make(above);
    DiskCacheConfig config =
        SharedRegionsRig.config(directory, null).toBuilder().capacityBytes(CAPACITY).build();
    try (CapturedLog log = new CapturedLog();
        DiskCache cache = DiskCache.open(config, new DiskMetrics(), CAPACITY)) {
      assertThat(cache.isShared()).isFalse();
      assertThat(cache.capacityBytes()).isEqualTo(CAPACITY);
      assertThat(log.lines("is of this process alone")).hasSize(1);
    }
    assertThat(directory).isEmptyDirectory();
    assertThatThrownBy(() -> new SharedRegionsRig(directory))
        .isInstanceOf(RefusedDirectoryException.class);
    DiskCacheConfig encrypted = config.toBuilder().key(key).build();
    try (DiskCache cache = DiskCache.open(encrypted, new DiskMetrics(), CAPACITY)) {
      assertThat(cache.isShared()).isTrue();
    }
  }

  @Test
  void whatIsPutInPlaceOfTheCacheIsNotWrittenTo() throws IOException {
    Path directory = Host.KUBERNETES.make(above);
    Path elsewhere = Files.createDirectories(above.resolve("elsewhere/v5/host"));
    Path theirs = Files.writeString(elsewhere.resolve("00.region"), "theirs");
    Path top = DirectoryGuard.topIn(directory);
    try (SharedRegionsRig rig = encrypted(directory)) {
      Files.move(top, directory.resolve("away"));
      Files.createSymbolicLink(top, above.resolve("elsewhere"));
      assertThatThrownBy(() -> rig.append(object, 0))
          .isInstanceOf(RefusedDirectoryException.class)
          .hasMessageContaining("is a symbolic link");
    }
    assertThat(theirs).hasContent("theirs");
    assertThat(elsewhere).isDirectoryNotContaining("glob:**01.region");
  }

  /** The exchange comes between the look at the directory and the opening of the file. */
  @Test
  void aFileOfAnotherDirectoryIsNotOpened() throws IOException {
    Path directory = Host.KUBERNETES.make(above);
    DirectoryGuard guard = DirectoryGuard.shared(directory);
    Path own = guard.top().resolve("v5");
    Object identity = guard.require(own);
    Path file = own.resolve("00.region");
    DiskIo io = new DiskIo();
    io.createIn(file, identity).close();
    assertThat(file).isRegularFile();

    Files.move(own, guard.top().resolve("away"));
    Path theirs = Files.createDirectory(above.resolve("theirs"));
    for (boolean isLink : List.of(true, false)) {
      if (isLink) {
        Files.createSymbolicLink(own, theirs);
      } else {
        Files.delete(own);
        Files.createDirectory(own);
      }
      assertThatThrownBy(() -> io.createIn(file, identity))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is another directory now");
      assertThat(theirs).isEmptyDirectory();
    }
    assertThat(own).isEmptyDirectory();
  }
}
