package io.s3e.disk;

import static io.s3e.disk.DiskBlockId.BLOCK_BYTES;
import static io.s3e.disk.DiskBlockId.CHUNK_BYTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.disk.CacheInspector.Block;
import io.s3e.disk.CacheInspector.Check;
import io.s3e.disk.CacheInspector.Finding;
import io.s3e.disk.CacheInspector.Instance;
import io.s3e.disk.CacheInspector.Kind;
import io.s3e.disk.DiskCacheConfig.Scope;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is seen from outside of a cache directory, and what is done to it. */
class CacheInspectorTest {
  private static final long SIZE = BLOCK_BYTES + 3L * CHUNK_BYTES;

  @TempDir Path directory;

  private CacheInspector inspector() {
    return new CacheInspector(directory, null);
  }

  private Instance only() throws IOException {
    List<Instance> instances = inspector().instances();
    assertThat(instances).hasSize(1);
    return instances.get(0);
  }

  private static Map<Finding, Integer> verify(
      CacheInspector inspector, Instance instance, boolean delete) throws IOException {
    Map<Finding, Integer> counts = new EnumMap<>(Finding.class);
    List<Check> checks = new ArrayList<>();
    inspector.verify(instance, delete, checks::add);
    checks.forEach(check -> counts.merge(check.finding(), 1, Integer::sum));
    return counts;
  }

  private static List<Path> everything(Path top) throws IOException {
    try (Stream<Path> all = Files.walk(top)) {
      return all.toList();
    }
  }

  @Test
  void thereIsNothingWhereNoCacheIs() throws IOException {
    assertThat(inspector().instances()).isEmpty();
    assertThat(new CacheInspector(directory.resolve("none"), null).instances()).isEmpty();
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void showsInstancesAndWhoUsesThem() throws IOException {
    try (CacheFixture host = new CacheFixture(directory, Scope.HOST, null);
        CacheFixture own = new CacheFixture(directory, Scope.PRIVATE, null)) {
      Path file = host.write("bucket", "key", SIZE, 0);
      host.write("bucket", "key", SIZE, 1);

      List<Instance> instances = inspector().instances();

      assertThat(instances).extracting(Instance::kind).containsExactly(Kind.HOST, Kind.PRIVATE);
      assertThat(instances)
          .allSatisfy(
              instance ->
                  assertThat(instance.processes()).containsExactly(ProcessHandle.current().pid()));
      assertThat(instances.get(0).path()).isEqualTo(host.instance());
      assertThat(instances.get(0).files()).isEqualTo(2);
      assertThat(instances.get(0).bytes()).isEqualTo(2 * BlockHeader.BYTES + SIZE);
      assertThat(instances.get(1).path()).isEqualTo(own.instance());
      assertThat(file).exists();
    }
    assertThat(only().isInUse()).isFalse();
  }

  @Test
  void showsTheBlocksThatAreThere() throws IOException {
    Path file;
    Path damaged;
    try (CacheFixture host = new CacheFixture(directory, Scope.HOST, null)) {
      file = host.write("bucket", "key", SIZE, 1);
      damaged = host.write("bucket", "other", SIZE, 0);
    }
    Files.write(damaged, new byte[10_000]);
    List<Block> blocks = new ArrayList<>();
    inspector().blocks(only(), blocks::add);

    assertThat(blocks).hasSize(1);
    Block block = blocks.get(0);
    assertThat(block.path()).isEqualTo(file);
    assertThat(block.id().index()).isEqualTo(1);
    assertThat(block.id().version().object()).hasToString("s3://bucket/key");
    assertThat(block.id().version().etag()).isEqualTo("\"etag of key\"");
    assertThat(block.chunks()).isEqualTo(3);
    assertThat(block.bytes()).isEqualTo(BlockHeader.BYTES + 3L * CHUNK_BYTES);
    assertThat(block.encrypted()).isFalse();
    assertThat(block.wasUsed()).isFalse();
  }

  @Test
  void lookingIsNotUsing() throws IOException {
    Path file;
    try (CacheFixture host = new CacheFixture(directory, Scope.HOST, null)) {
      file = host.write("bucket", "key", SIZE, 0);
    }
    FileTime before = FileTime.from(1_600_000_000, TimeUnit.SECONDS);
    Files.setAttribute(file, "lastAccessTime", before);
    FileTime written = Files.getLastModifiedTime(file);

    inspector().blocks(only(), block -> {});
    assertThat(verify(inspector(), only(), false)).containsOnly(Map.entry(Finding.GOOD, 1));

    assertThat(Files.getAttribute(file, "lastAccessTime")).isEqualTo(before);
    assertThat(Files.getLastModifiedTime(file).toMillis()).isEqualTo(written.toMillis());
    new NioDiskIo().markUsed(file);
    inspector().blocks(only(), block -> assertThat(block.wasUsed()).isTrue());
  }

  @Test
  void findsWhatIsCorruptAndDeletesItOnlyIfTold() throws IOException {
    List<Path> files = new ArrayList<>();
    Path blocks;
    try (CacheFixture host = new CacheFixture(directory, Scope.HOST, null)) {
      blocks = host.instance().resolve(Membership.BLOCKS);
      for (int i = 0; i < 6; i++) {
        files.add(host.write("bucket", "key" + i, CHUNK_BYTES, 0));
      }
    }
    byte[] bytes = Files.readAllBytes(files.get(0));
    bytes[bytes.length - 1] ^= 1;
    Files.write(files.get(0), bytes);
    Files.write(files.get(1), Files.readAllBytes(files.get(5)));
    Files.write(files.get(2), new byte[100]);
    Files.delete(files.get(3));
    Files.createSymbolicLink(files.get(3), files.get(5));
    Files.delete(files.get(4));
    Files.createDirectory(files.get(4));
    Path stray = Files.createFile(blocks.resolve("stray"));

    assertThat(verify(inspector(), only(), false))
        .containsOnly(Map.entry(Finding.GOOD, 1), Map.entry(Finding.CORRUPT, 6));
    assertThat(stray).exists();
    assertThat(verify(inspector(), only(), true)).containsEntry(Finding.CORRUPT, 6);
    assertThat(verify(inspector(), only(), true)).containsOnly(Map.entry(Finding.GOOD, 1));
    assertThat(files.get(5)).exists();
  }

  @Test
  void encryptedFilesAreCheckedWithTheirKeyOnly() throws IOException {
    CacheKey key = CacheKey.random();
    try (CacheFixture app = new CacheFixture(directory, Scope.APP, key)) {
      Path file = app.write("bucket", "key", SIZE, 0);
      CacheInspector keyed = new CacheInspector(directory, key);

      assertThat(verify(inspector(), only(), true)).containsOnly(Map.entry(Finding.UNCHECKED, 1));
      assertThat(verify(keyed, only(), true)).containsOnly(Map.entry(Finding.GOOD, 1));
      inspector().blocks(only(), block -> assertThat(block.encrypted()).isTrue());
      byte[] bytes = Files.readAllBytes(file);
      bytes[bytes.length - 1] ^= 1;
      Files.write(file, bytes);
      assertThat(verify(keyed, only(), true)).containsOnly(Map.entry(Finding.CORRUPT, 1));
      assertThat(file).doesNotExist();
    }
  }

  @Test
  void theKeyOfAPrivateInstanceIsNobodysGuess() throws IOException {
    try (CacheFixture own = new CacheFixture(directory, Scope.PRIVATE, CacheKey.random())) {
      Path file = own.write("bucket", "key", SIZE, 0);
      CacheInspector keyed = new CacheInspector(directory, CacheKey.random());

      assertThat(verify(keyed, only(), true)).containsOnly(Map.entry(Finding.UNCHECKED, 1));
      assertThat(file).exists();
    }
  }

  @Test
  void clearsWhatNobodyUses() throws IOException {
    try (CacheFixture host = new CacheFixture(directory, Scope.HOST, null)) {
      Path file = host.write("bucket", "key", SIZE, 0);

      assertThat(inspector().clear(only(), false)).isFalse();
      assertThat(file).exists();
      assertThat(inspector().clear(only(), true)).isTrue();
      assertThat(file).doesNotExist();
      assertThat(only().isInUse()).as("its process still has its place").isTrue();
      assertThat(host.write("bucket", "key", SIZE, 0)).exists();
    }
    assertThat(inspector().clear(only(), false)).isTrue();
    assertThat(inspector().instances()).isEmpty();
  }

  @Test
  void clearsWhatAnInterruptedRemovalLeft() throws IOException {
    try (CacheFixture host = new CacheFixture(directory, Scope.HOST, null)) {
      host.write("bucket", "key", SIZE, 0);
    }
    Path left = only().path().resolveSibling("removed-0123");
    Files.move(only().path(), left);

    assertThat(only().kind()).isEqualTo(Kind.REMOVED);
    assertThat(inspector().clear(only(), false)).isTrue();
    assertThat(left).doesNotExist();
  }

  @Test
  void refusesWhatIsNotCertainlyTheUsers() throws IOException {
    try (CacheFixture host = new CacheFixture(directory, Scope.HOST, null)) {
      host.write("bucket", "key", SIZE, 0);
    }
    Path top = only().path().getParent().getParent();
    Files.setPosixFilePermissions(top, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(() -> inspector().instances())
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(top.toString());
    Files.setPosixFilePermissions(top, PosixFilePermissions.fromString("rwx------"));

    Path elsewhere = Files.move(top, directory.resolve("elsewhere"));
    Files.createSymbolicLink(top, elsewhere);
    List<Path> before = everything(elsewhere);
    assertThatThrownBy(() -> inspector().instances()).isInstanceOf(FileSystemException.class);
    assertThat(everything(elsewhere)).isEqualTo(before);
  }
}
