// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.testing.Stranger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a cache may lie, and who may have a hand in it. */
class DirectoryGuardTest {
  private static final String USER = System.getProperty("user.name");

  @TempDir Path temp;

  /** An ancestor of the directory that the user names. */
  private Path above;

  private Path named;

  @BeforeEach
  void makeDirectories() throws IOException {
    above = temp.toRealPath().resolve("above");
    named = Files.createDirectories(above.resolve("named"));
    setMode(above, 0755);
    setMode(named, 0755);
  }

  private static void setMode(Path path, int mode) throws IOException {
    Files.setAttribute(path, "unix:mode", mode);
  }

  private Path top() {
    return named.resolve("s3e-cache-" + USER);
  }

  private void assertRefused(Path path, String found, String expected) {
    assertThatThrownBy(() -> DirectoryGuard.shared(named))
        .isInstanceOf(RefusedDirectoryException.class)
        .hasMessageContainingAll(path + ":", found, "expected", expected);
  }

  private void assertDoubted(Path path, String found, String expected) throws IOException {
    assertThat(DirectoryGuard.shared(named).doubt())
        .isNotNull()
        .hasMessageContainingAll(path + ":", found, "expected", expected);
  }

  @Test
  void makesDirectoriesForTheUserAlone() throws IOException {
    DirectoryGuard guard = DirectoryGuard.shared(named);
    assertThat(guard.top()).isEqualTo(top());
    Path deep = guard.top().resolve("v3/host");
    assertThat(guard.require(deep)).isNotNull();
    for (Path each : List.of(guard.top(), deep.getParent(), deep)) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(each)))
          .as(each.toString())
          .isEqualTo("rwx------");
    }
    assertThat(DirectoryGuard.shared(named).top()).as("entered again").isEqualTo(top());
    assertThat(top()).as("but for the layout").isDirectoryNotContaining("glob:**.probe*");
  }

  @Test
  void makesTheDirectoryThatWasNamed() throws IOException {
    named = above.resolve("a/b");
    assertThat(DirectoryGuard.shared(named).top()).isEqualTo(top()).isDirectory();
  }

  @Test
  void theDirectoryThatWasNamedMayBeALink() throws IOException {
    Path link = Files.createSymbolicLink(temp.resolve("link"), named);
    assertThat(DirectoryGuard.shared(link).top()).isEqualTo(top());
  }

  @Test
  void directoriesOfRootAreAccepted() throws IOException {
    assertThat(Files.getAttribute(Path.of("/"), "unix:uid")).isEqualTo(0);
    assertThat(DirectoryGuard.shared(named).doubt()).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {0777, 0775, 0770, 0757, 0720, 0702})
  void anAncestorThatOthersMayWriteIsDoubted(int mode) throws IOException {
    String found = "has mode 0" + Integer.toOctalString(mode);
    for (Path each : List.of(above, named)) {
      setMode(each, mode);
      assertDoubted(each, found, "sticky bit (chmod +t)");
      setMode(each, mode | 01000);
      assertThat(DirectoryGuard.shared(named).doubt()).as("with sticky bit").isNull();
      setMode(each, 0755);
    }
  }

  @Test
  void aForeignElementBelowAStickyAncestorIsDoubted() throws IOException {
    setMode(above, 01777);
    Stranger.give(named);
    assertDoubted(named, "is owned by '", "root or the user of this process, '" + USER + "'");
  }

  @Test
  void aForeignAncestorIsDoubted() throws IOException {
    Stranger.give(above);
    assertDoubted(above, "is owned by '", "root or the user of this process, '" + USER + "'");
  }

  @Test
  void scopePrivateNeedsNoneOfThis() throws IOException {
    setMode(above, 0777);
    Path deep = above.resolve("deep/er");
    assertThat(DirectoryGuard.realDirectory(deep)).isEqualTo(deep).isDirectory();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(deep)))
        .isEqualTo("rwx------");
    assertThat(deep).isEmptyDirectory();
  }

  @Test
  void aFileInPlaceOfTheDirectoryIsRefused() throws IOException {
    Files.delete(named);
    Files.createFile(named);
    assertRefused(named, "is not a directory", "a directory");
  }

  @Test
  void aLinkInPlaceOfTheUsersOwnIsRefused() throws IOException {
    Path elsewhere = Files.createDirectory(temp.resolve("elsewhere"));
    Files.createSymbolicLink(top(), elsewhere);
    assertRefused(top(), "is a symbolic link to " + elsewhere, "a directory, not a link");
    assertThat(elsewhere).isEmptyDirectory();
  }

  @Test
  void aFileInPlaceOfTheUsersOwnIsRefused() throws IOException {
    Files.createFile(top());
    assertRefused(top(), "is not a directory", "a directory");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rwxr-x---", "rwx---r-x", "rwx--x--x", "rwx-w----", "rwxrwxrwx"})
  void whatOthersMayEnterIsRefused(String permissions) throws IOException {
    DirectoryGuard guard = DirectoryGuard.shared(named);
    Path deep = top().resolve("deep");
    assertThat(guard.require(deep)).isNotNull();
    Files.setPosixFilePermissions(deep, PosixFilePermissions.fromString(permissions));
    assertThatThrownBy(() -> guard.require(deep))
        .isInstanceOf(RefusedDirectoryException.class)
        .hasMessageContainingAll(deep + ":", "has the permissions " + permissions, "chmod 700");
    Files.setPosixFilePermissions(top(), PosixFilePermissions.fromString(permissions));
    assertRefused(top(), "has the permissions " + permissions, "rwx------ (chmod 700)");
  }

  @Test
  void whatSomebodyElseMadeIsRefused() throws IOException {
    DirectoryGuard guard = DirectoryGuard.shared(named);
    Path deep = top().resolve("deep");
    assertThat(guard.require(deep)).isNotNull();
    Stranger.give(deep);
    assertThatThrownBy(() -> guard.require(deep))
        .isInstanceOf(RefusedDirectoryException.class)
        .hasMessageContainingAll(deep + ":", "is owned by '", "'" + USER + "'");
    Stranger.give(top());
    assertRefused(top(), "is owned by '", "the user of this process, '" + USER + "'");
  }

  @Test
  void linksDeeperInsideAreRefused() throws IOException {
    DirectoryGuard guard = DirectoryGuard.shared(named);
    Path link = Files.createSymbolicLink(top().resolve("deep"), temp);
    assertThatThrownBy(() -> guard.require(link.resolve("er")))
        .isInstanceOf(RefusedDirectoryException.class)
        .hasMessageContainingAll(link + ":", "is a symbolic link to " + temp);
    assertThat(temp.resolve("er")).doesNotExist();
  }
}
