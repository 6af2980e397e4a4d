// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.DiskCacheConfig.Scope;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Directories that outlive applications do not fill with what those have left. */
class EndedApplicationsTest {
  private static final String OTHER = SharedInstance.APP + "0123456789abcdef0123";

  @TempDir Path directory;
  private Path version;

  @BeforeEach
  void enterFirst() throws IOException {
    version = enter("first").getParent();
  }

  /** The directory of an application's cache, entered as a process of the application does. */
  private Path enter(String application) throws IOException {
    return instance(application).path();
  }

  private SharedInstance instance(String application) throws IOException {
    DiskCacheConfig config =
        SharedRegionsRig.config(directory, null).toBuilder()
            .scope(Scope.APP)
            .application(application)
            .build();
    return SharedInstance.enter(new DiskIo(), directory, config, SharedRegionsRig.CAPACITY);
  }

  /** A cache in which a region was made so many hours ago. */
  private Path left(String name, int hours) throws IOException {
    Path cache = Files.createDirectory(version.resolve(name));
    Path unused = Files.writeString(SharedRegionsRig.fileOf(cache, 0), "bytes");
    return Files.setLastModifiedTime(cache, hoursAgo(hours));
  }

  private static FileTime hoursAgo(int hours) {
    return FileTime.from(Instant.now().minus(Duration.ofHours(hours)));
  }

  @Test
  void whatAnApplicationHasLeftGoesAfterADay() throws IOException {
    Path ended = left(OTHER, 25);
    Path next = enter("next");
    assertThat(ended).doesNotExist();
    assertThat(version).isDirectoryContaining(next::equals);
  }

  /** Its date would keep it for ever. */
  @Test
  void whatAClockThatWasAheadHasLeftGoesAsWell() throws IOException {
    Path ended = left(OTHER, -25);
    Path recent = left(OTHER.replace('0', 'f'), -23);
    Path unused = enter("next");
    assertThat(ended).doesNotExist();
    assertThat(recent).isNotEmptyDirectory();
  }

  @Test
  void whatIsInUseIsOfTodayAfterAClockThatWasAhead() throws IOException {
    SharedInstance used = instance("used");
    Path unused = Files.setLastModifiedTime(used.path(), hoursAgo(-100));
    assertThat(used.look(0, null)).as("no region yet").isNull();
    assertThat(Files.getLastModifiedTime(used.path())).isLessThan(hoursAgo(-1));
  }

  /** Each process looks once a second at what others have written. */
  @Test
  void whatIsInUseStays() throws IOException {
    SharedInstance used = instance("used");
    Path unused = Files.setLastModifiedTime(used.path(), hoursAgo(100));
    assertThat(used.look(0, null)).as("no region yet").isNull();
    unused = enter("next");
    assertThat(used.path()).isNotEmptyDirectory();
  }

  /** Scope host is for files that outlive applications. */
  @Test
  void otherCachesStay() throws IOException {
    Path host = left(SharedInstance.HOST, 1_000);
    Path unused = enter("next");
    assertThat(SharedRegionsRig.fileOf(host, 0)).hasContent("bytes");
  }

  @Test
  void anApplicationFindsItsOwnHoweverOld() throws IOException {
    Path own = enter("own");
    Files.setLastModifiedTime(own, hoursAgo(1_000));
    assertThat(enter("own")).isEqualTo(own).isNotEmptyDirectory();
  }
}
