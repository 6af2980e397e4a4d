package io.s3e.disk;

import static io.s3e.disk.DiskCacheConfig.Scope.APP;
import static io.s3e.disk.DiskCacheConfig.Scope.HOST;
import static io.s3e.disk.DiskCacheConfig.Scope.PRIVATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.testing.Eventually;
import io.s3e.testing.ForkedJvm;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the cache stands, whom it lets in, and what becomes of it when its processes end. */
class CacheRootTest {
  @TempDir Path directory;

  private CacheRoot open(DiskCacheConfig.Scope scope) throws IOException {
    return CacheRoot.open(directory, CacheTenant.config(directory, scope, 64 << 20));
  }

  private Path top() throws IOException {
    try (Stream<Path> found = Files.list(directory)) {
      return found
          .filter(path -> path.getFileName().toString().startsWith("s3e-cache-"))
          .findAny()
          .orElseThrow();
    }
  }

  private static List<String> namesIn(Path directory) throws IOException {
    try (Stream<Path> found = Files.list(directory)) {
      return found.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void laysOutDirectoriesForTheUserAlone() throws IOException {
    try (CacheRoot root = open(HOST)) {
      assertThat(root.instance()).isEqualTo(top().resolve("v1").resolve("host"));
      assertThat(namesIn(root.instance())).containsExactly("blocks", "claims", "owners", "tmp");
      try (Stream<Path> all = Files.walk(top())) {
        for (Path path : all.toList()) {
          assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
              .as(path.toString())
              .isEqualTo(Files.isDirectory(path) ? "rwx------" : "rw-------");
        }
      }
      assertThat(namesIn(root.owners())).containsExactly(root.ownerId() + ".lock");
    }
    assertThat(namesIn(top().resolve("v1/host/owners"))).isEmpty();
  }

  @Test
  void makesTheDirectoryThatWasNamed() throws IOException {
    Path named = directory.resolve("a/b");
    try (CacheRoot root = CacheRoot.open(named, CacheTenant.config(named, HOST, 64 << 20))) {
      assertThat(root.instance()).isDirectory().startsWith(named.toRealPath());
    }
  }

  @Test
  void separatesScopesAndApplications() throws IOException {
    DiskCacheConfig app = CacheTenant.config(directory, APP, 64 << 20);
    try (CacheRoot host = open(HOST);
        CacheRoot one = CacheRoot.open(directory, app);
        CacheRoot same = CacheRoot.open(directory, app);
        CacheRoot other =
            CacheRoot.open(directory, app.toBuilder().application("../../etc").build());
        CacheRoot alone = open(PRIVATE);
        CacheRoot alsoAlone = open(PRIVATE)) {
      assertThat(one.instance()).isEqualTo(same.instance());
      assertThat(one.ownerId()).isEqualTo(same.ownerId());
      assertThat(List.of(host, one, other, alone, alsoAlone).stream().map(CacheRoot::instance))
          .doesNotHaveDuplicates()
          .allMatch(path -> path.getParent().equals(host.instance().getParent()));
    }
  }

  @Test
  void closingOneOfTwoEnginesLeavesTheOtherItsPlace() throws IOException {
    CacheRoot one = open(HOST);
    CacheRoot two = open(HOST);
    one.close();
    one.close();
    assertThat(namesIn(two.owners())).containsExactly(two.ownerId() + ".lock");
    assertThat(new Owners(new NioDiskIo(), two.owners(), System::nanoTime).isAlive(two.ownerId()))
        .isTrue();
    two.close();
    assertThat(namesIn(two.owners())).isEmpty();
    try (CacheRoot again = open(HOST)) {
      assertThat(again.ownerId()).isNotEqualTo(two.ownerId());
    }
  }

  @Test
  void aPrivateInstanceGoesWithItsEngine() throws IOException {
    CacheRoot root = open(PRIVATE);
    Files.createDirectories(root.blocks().resolve("ab"));
    Files.writeString(root.blocks().resolve("ab/file"), "x");
    root.close();
    assertThat(namesIn(top().resolve("v1"))).isEmpty();
  }

  @Test
  void removalDoesNotFollowLinks(@TempDir Path elsewhere) throws IOException {
    Files.writeString(elsewhere.resolve("precious"), "x");
    CacheRoot root = open(PRIVATE);
    Files.createSymbolicLink(root.blocks().resolve("ab"), elsewhere);
    Files.createSymbolicLink(root.tmp().resolve("f"), elsewhere.resolve("precious"));
    root.close();
    assertThat(namesIn(top().resolve("v1"))).isEmpty();
    assertThat(elsewhere.resolve("precious")).hasContent("x");
  }

  @Test
  void refusesALinkInPlaceOfItsDirectory(@TempDir Path elsewhere) throws IOException {
    open(HOST).close();
    Path top = top();
    Files.move(top, elsewhere.resolve("moved"));
    Files.createSymbolicLink(top, elsewhere.resolve("moved"));

    assertThatThrownBy(() -> open(HOST))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContainingAll(
            top.toString(),
            "is a symbolic link to " + elsewhere.resolve("moved"),
            "expected a directory, not a link");
  }

  @Test
  void refusesALinkDeeperInside(@TempDir Path elsewhere) throws IOException {
    Path blocks;
    try (CacheRoot root = open(HOST)) {
      blocks = root.blocks();
    }
    Files.delete(blocks);
    Files.createSymbolicLink(blocks, elsewhere);

    assertThatThrownBy(() -> open(HOST))
        .hasMessageContainingAll(blocks.toString(), "is a symbolic link to " + elsewhere);
    assertThat(namesIn(elsewhere)).isEmpty();
  }

  @Test
  void refusesAFileInPlaceOfADirectory() throws IOException {
    open(HOST).close();
    Path versioned = top().resolve("v1");
    Files.move(versioned, directory.resolve("moved"));
    Files.writeString(versioned, "x");

    assertThatThrownBy(() -> open(HOST))
        .hasMessageContainingAll(versioned.toString(), "is not a directory");
  }

  @Test
  void refusesWhatOthersMayEnter() throws IOException {
    open(HOST).close();
    for (String permissions : List.of("rwxr-x---", "rwx---r-x", "rwx--x--x", "rwx-w----")) {
      Files.setPosixFilePermissions(top(), PosixFilePermissions.fromString(permissions));
      assertThatThrownBy(() -> open(HOST))
          .isInstanceOf(FileSystemException.class)
          .hasMessageContainingAll(
              top().toString(), "has the permissions " + permissions, "expected rwx------");
    }
    Files.setPosixFilePermissions(top(), PosixFilePermissions.fromString("rwx------"));
    open(HOST).close();
  }

  @Test
  void refusesADirectoryOfSomebodyElse() throws IOException {
    open(HOST).close();
    Path versioned = top().resolve("v1");
    for (Path foreign : List.of(versioned, top())) {
      UserPrincipal owner = Files.getOwner(foreign);
      try {
        Files.setAttribute(foreign, "unix:uid", 4242);
      } catch (FileSystemException e) {
        assumeTrue(false, "only root may give files away");
      }
      assertThatThrownBy(() -> open(HOST))
          .isInstanceOf(FileSystemException.class)
          .hasMessageContainingAll(
              foreign.toString(),
              "is owned by '4242'",
              "expected the user of this process, '" + owner.getName() + "'");
      Files.setOwner(foreign, owner);
    }
    open(HOST).close();
  }

  @Test
  void aRefusedEngineLeavesNothingLocked() throws IOException {
    Path claims;
    try (CacheRoot root = open(HOST)) {
      claims = root.claims();
    }
    Files.setPosixFilePermissions(claims, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(() -> open(HOST)).hasMessageContaining(claims.toString());
    Files.setPosixFilePermissions(claims, PosixFilePermissions.fromString("rwx------"));
    open(HOST).close();
    assertThat(namesIn(top().resolve("v1/host/owners"))).isEmpty();
  }

  @Test
  void laysOutAgainWhatWasDeletedUnderItsFeet() throws IOException {
    try (CacheRoot root = open(HOST)) {
      assertThat(root.repair()).isFalse();
      Leavings.remove(root.instance());
      assertThat(root.repair()).isTrue();
      assertThat(namesIn(root.instance())).containsExactly("blocks", "claims", "owners", "tmp");
      assertThat(namesIn(root.owners())).containsExactly(root.ownerId() + ".lock");

      Files.delete(root.owners().resolve(root.ownerId() + ".lock"));
      assertThat(root.repair()).isTrue();
      assertThat(ProcessLock.isHeldHere(root.owners().resolve(root.ownerId() + ".lock"))).isTrue();
      assertThat(root.repair()).isFalse();
    }
  }

  @Test
  void aKilledProcessLeavesAPrivateInstanceThatTheNextOneRemoves() throws Exception {
    try (ForkedJvm killed = ForkedJvm.start(CacheTenant.class, directory.toString(), "PRIVATE");
        ForkedJvm living = ForkedJvm.start(CacheTenant.class, directory.toString(), "PRIVATE")) {
      Path left = Path.of(killed.await("instance"));
      Path used = Path.of(living.await("instance"));
      living.await("in charge");
      killed.kill();
      assertThat(left).isDirectory();

      try (CacheRoot root = open(PRIVATE)) {
        Eventually.awaitTrue("the leavings are removed", () -> !Files.exists(left));
        Eventually.awaitTrue(
            "nothing but the used ones is there",
            () ->
                namesIn(top().resolve("v1")).stream()
                    .allMatch(
                        name ->
                            name.equals(used.getFileName().toString())
                                || name.equals(root.instance().getFileName().toString())));
        assertThat(used.resolve("owners")).isNotEmptyDirectory();
        assertThat(used.resolve("blocks")).isNotEmptyDirectory();
      }

      living.end();
      assertThat(used).as("what the shutdown hook removes").doesNotExist();
    }
  }

  @Test
  void instancesWithoutOwnerAreLeftAloneWhileTheyMayBeNew() throws Exception {
    open(PRIVATE).close();
    Path versioned = top().resolve("v1");
    Path young = Files.createDirectories(versioned.resolve("private-1-0000000000000001"));
    Path old = Files.createDirectories(versioned.resolve("private-1-0000000000000002"));
    Path half = Files.createDirectories(versioned.resolve("removed-12/blocks/ab"));
    Path app = Files.createDirectories(versioned.resolve("app-1"));
    Path oldApp = Files.createDirectories(versioned.resolve("app-2"));
    Path host = Files.createDirectories(versioned.resolve("host"));
    long now = System.currentTimeMillis();
    Files.setLastModifiedTime(old, FileTime.fromMillis(now - 61_000));
    Files.setLastModifiedTime(app, FileTime.fromMillis(now - 61_000));
    Files.setLastModifiedTime(oldApp, FileTime.fromMillis(now - 3_601_000));
    Files.setLastModifiedTime(host, FileTime.fromMillis(0));
    for (Path each : List.of(young, app, host)) {
      Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("rwx------"));
    }
    try (CacheRoot root = open(PRIVATE)) {
      Eventually.awaitTrue(
          "the old ones are removed",
          () -> !Files.exists(old) && !Files.exists(half) && !Files.exists(oldApp));
      assertThat(List.of(young, app, host)).allMatch(Files::isDirectory);
    }
  }

  @Test
  void closingDoesNotWaitForAHungDisk() throws Exception {
    CacheRoot root = open(PRIVATE);
    // Whoever holds this object's monitor is the stand-in for a disk that hangs.
    Thread hung;
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    hung =
        new Thread(
            () -> {
              synchronized (root.membership()) {
                held.countDown();
                try {
                  released.await(30, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              }
            });
    hung.start();
    held.await();
    long begin = System.nanoTime();
    root.close();
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(20));
    assertThat(root.instance()).isDirectory();
    released.countDown();
    Eventually.awaitTrue("the removal goes on", () -> !Files.exists(root.instance()));
    hung.join();
  }
}
