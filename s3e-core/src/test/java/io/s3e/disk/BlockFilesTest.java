package io.s3e.disk;

import static io.s3e.disk.DiskBlockId.BLOCK_BYTES;
import static io.s3e.disk.DiskBlockId.CHUNK_BYTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.BlockFiles.Written;
import io.s3e.disk.FaultyDiskIo.Failure;
import io.s3e.disk.FaultyDiskIo.Operation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is written is read, whole or in parts, and nothing else is. */
class BlockFilesTest {
  private static final String OWNER = "1234-abcd";

  @TempDir Path instance;

  private final FaultyDiskIo disk = new FaultyDiskIo(new NioDiskIo());
  private final ByteBuffer scratch = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
  private final DiskBlockId whole = Chunks.block("whole", 3L * BLOCK_BYTES, 1);

  @BeforeEach
  void makeDirectories() throws IOException {
    disk.makeDirectory(instance.resolve(Membership.BLOCKS));
    disk.makeDirectory(instance.resolve(Membership.TMP));
  }

  private BlockFiles files(boolean encrypted) {
    return new BlockFiles(
        disk, instance, OWNER, encrypted ? CacheKey.of(new byte[CacheKey.BYTES]) : null);
  }

  private int read(BlockFiles files, DiskBlockId id, int first, int end) throws IOException {
    Chunks chunks = Chunks.all(id);
    files.read(id, first, end, scratch, chunks);
    return chunks.received();
  }

  private static List<Path> filesIn(Path directory) throws IOException {
    try (Stream<Path> found = Files.walk(directory)) {
      return found.filter(Files::isRegularFile).toList();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void readsWhatWasWritten(boolean encrypted) throws IOException {
    BlockFiles files = files(encrypted);

    Written written = files.write(whole, Chunks.all(whole), scratch);

    assertThat(written).isEqualTo(new Written(0xFFFF, 4096 + BLOCK_BYTES));
    assertThat(Files.size(files.pathOf(whole))).isEqualTo(4096 + BLOCK_BYTES);
    assertThat(read(files, whole, 0, 16)).isEqualTo(0xFFFF);
    assertThat(read(files, whole, 5, 7)).isEqualTo(0b110_0000);
    assertThat(read(files, whole, 15, 16)).isEqualTo(0x8000);
    assertThat(filesIn(instance)).containsExactly(files.pathOf(whole));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void stopsAtTheFirstChunkThatIsNotThereAndSaysWhichAre(boolean encrypted) throws IOException {
    BlockFiles files = files(encrypted);
    int mask = 0b1100_0000_0011_0110;
    assertThat(files.write(whole, Chunks.of(whole, mask), scratch))
        .isEqualTo(new Written(mask, 4096 + 6L * CHUNK_BYTES));

    Chunks none = Chunks.all(whole);
    assertThat(files.read(whole, 0, 16, scratch, none)).isEqualTo(mask);
    assertThat(none.received()).isZero();
    assertThat(read(files, whole, 1, 16)).isEqualTo(0b110);
    assertThat(read(files, whole, 4, 16)).isEqualTo(0b11_0000);
    assertThat(read(files, whole, 14, 16)).isEqualTo(0xC000);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void readsTheShortLastBlockOfAnObject(boolean encrypted) throws IOException {
    BlockFiles files = files(encrypted);
    for (long tail : new long[] {1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 1_000_000}) {
      DiskBlockId last = Chunks.block("tail" + tail, BLOCK_BYTES + tail, 1);
      int mask = files.write(last, Chunks.all(last), scratch).mask();

      assertThat(mask).isEqualTo((1 << last.chunks()) - 1);
      assertThat(Files.size(files.pathOf(last))).isEqualTo(4096 + tail);
      assertThat(read(files, last, 0, 16)).isEqualTo(mask);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void joinsWhatIsThere(boolean encrypted) throws IOException {
    BlockFiles files = files(encrypted);
    files.write(whole, Chunks.of(whole, 0b0011), scratch);
    assertThat(files.write(whole, Chunks.of(whole, 0b1010), scratch))
        .isEqualTo(new Written(0b1011, 4096 + 3L * CHUNK_BYTES));

    assertThat(read(files, whole, 0, 16)).isEqualTo(0b0011);
    assertThat(read(files, whole, 3, 16)).isEqualTo(0b1000);
    long created = disk.count(Operation.CREATE);
    assertThat(files.write(whole, Chunks.of(whole, 0b0001), scratch).mask()).isEqualTo(0b1011);
    assertThat(disk.count(Operation.CREATE)).as("nothing new to write").isEqualTo(created);
    assertThat(filesIn(instance)).containsExactly(files.pathOf(whole));
  }

  @Test
  void endsTheReadWhenTheSinkHasEnough() throws IOException {
    BlockFiles files = files(false);
    files.write(whole, Chunks.all(whole), scratch);
    long before = disk.count(Operation.READ);

    assertThat(files.read(whole, 0, 16, scratch, (chunk, bytes) -> false)).isEqualTo(0xFFFF);

    assertThat(disk.count(Operation.READ) - before).as("header and first chunk").isEqualTo(1);
  }

  @Test
  void isReadAndWrittenByItsOwnerOnly() throws IOException {
    BlockFiles files = files(false);
    files.write(whole, Chunks.all(whole), scratch);
    Path file = files.pathOf(whole);

    assertThat(Files.getPosixFilePermissions(file))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    assertThat(Files.getPosixFilePermissions(file.getParent()))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  void namesSayNothingOfTheObject() {
    DiskBlockId id = Chunks.block("../../etc/passwd\0", 100, 0);
    assertThat(BlockFiles.nameOf(id)).matches("[0-9a-f]{40}");
    assertThat(files(false).pathOf(id).getParent().getParent())
        .isEqualTo(instance.resolve(Membership.BLOCKS));
  }

  @Test
  void everyPartOfTheIdentityMakesAnotherName() {
    ObjectRef object = new ObjectRef("bucket", "key");
    Set<DiskBlockId> ids =
        Set.of(
            new DiskBlockId("s", ObjectVersion.identified(object, 1 << 22, "e", null), 0),
            new DiskBlockId("s", ObjectVersion.identified(object, 1 << 22, "e", null), 1),
            new DiskBlockId("s", ObjectVersion.identified(object, 1 << 22, "e", ""), 0),
            new DiskBlockId("s", ObjectVersion.identified(object, 1 << 22, "e", "v"), 0),
            new DiskBlockId("s", ObjectVersion.identified(object, 1 << 22, "ev", null), 0),
            new DiskBlockId("s", ObjectVersion.identified(object, 1 << 23, "e", null), 0),
            new DiskBlockId("t", ObjectVersion.identified(object, 1 << 22, "e", null), 0),
            new DiskBlockId(
                "s",
                ObjectVersion.identified(new ObjectRef("bucketk", "ey"), 1 << 22, "e", null),
                0));
    assertThat(ids.stream().map(BlockFiles::nameOf)).doesNotHaveDuplicates();
  }

  @Test
  void doesNotCacheWhatTheHeaderCannotHold() throws IOException {
    BlockFiles files = files(false);
    DiskBlockId fits = Chunks.block("k".repeat(3600), 100, 0);
    DiskBlockId tooLong = Chunks.block("k".repeat(3800), 100, 0);
    DiskBlockId notUnicode = Chunks.block("half of a pair: \uD800", 100, 0);

    assertThat(files.write(fits, Chunks.all(fits), scratch).mask()).isEqualTo(1);
    for (DiskBlockId id : List.of(tooLong, notUnicode)) {
      assertThat(files.write(id, Chunks.all(id), scratch)).isEqualTo(Written.NOTHING);
      assertThatThrownBy(() -> read(files, id, 0, 1)).isInstanceOf(NoSuchFileException.class);
    }
    assertThat(read(files, fits, 0, 1)).isEqualTo(1);
  }

  @Test
  void deletesOne() throws IOException {
    BlockFiles files = files(false);
    files.write(whole, Chunks.all(whole), scratch);
    files.delete(whole);
    files.delete(whole);

    assertThatThrownBy(() -> read(files, whole, 0, 1)).isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void aLateWriterDoesNotLayOutWhatWasRemoved() throws IOException {
    BlockFiles files = files(false);
    Path removed = instance.resolveSibling("removed");
    ChunkSource removing =
        new ChunkSource() {
          @Override
          public int mask() {
            return 1;
          }

          @Override
          public ByteBuffer chunk(int index) {
            try {
              Files.move(instance, removed);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
            return Chunks.all(whole).chunk(index);
          }
        };

    assertThatThrownBy(() -> files.write(whole, removing, scratch))
        .isInstanceOf(NoSuchFileException.class);

    assertThat(instance).doesNotExist();
    Files.move(removed, instance);
  }

  @Test
  void temporariesTellTheirOwner() throws IOException {
    disk.failEvery(Operation.RENAME, Failure.EIO);
    disk.failEvery(Operation.DELETE, Failure.EIO);
    assertThatThrownBy(() -> files(false).write(whole, Chunks.all(whole), scratch))
        .isInstanceOf(IOException.class)
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));

    assertThat(filesIn(instance))
        .singleElement()
        .satisfies(
            file -> {
              assertThat(file.getParent()).isEqualTo(instance.resolve(Membership.TMP));
              assertThat(BlockFiles.ownerOfTemporary(file.getFileName().toString()))
                  .isEqualTo(OWNER);
            });
  }

  @ParameterizedTest
  @EnumSource(
      value = Operation.class,
      names = {"CREATE", "WRITE", "CLOSE", "RENAME", "OPEN", "READ", "SIZE"})
  void failedWritesLeaveWhatWasThere(Operation operation) throws IOException {
    BlockFiles files = files(false);
    files.write(whole, Chunks.of(whole, 0b0011), scratch);
    for (Failure failure : EnumSet.allOf(Failure.class)) {
      for (int n = 1; n <= 3; n++) {
        disk.failNth(operation, n, failure);
        try {
          files.write(whole, Chunks.of(whole, 0b1100), scratch);
        } catch (IOException e) {
          assertThat(e).hasMessageContaining(failure.exception(instance).getReason());
        }
        disk.heal();
        assertThat(filesIn(instance)).containsExactly(files.pathOf(whole));
        assertThat(read(files, whole, 0, 16) & 0b0011).isEqualTo(0b0011);
        files.delete(whole);
        files.write(whole, Chunks.of(whole, 0b0011), scratch);
      }
    }
  }
}
