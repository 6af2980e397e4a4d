package io.s3e.disk;

import static io.s3e.disk.DiskBlockId.BLOCK_BYTES;
import static io.s3e.disk.DiskBlockId.CHUNK_BYTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is not exactly the file that was written is deleted, and nothing of it is served. */
@Timeout(120)
class BlockFaultsTest {
  private static final int HEADER = BlockHeader.BYTES;

  @TempDir Path instance;

  private final DiskIo disk = new NioDiskIo();
  private final ByteBuffer scratch = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
  private final CacheKey key = CacheKey.random();

  @BeforeEach
  void makeDirectories() throws IOException {
    disk.makeDirectory(instance.resolve(Membership.BLOCKS));
    disk.makeDirectory(instance.resolve(Membership.TMP));
  }

  private BlockFiles files(boolean encrypted) {
    return new BlockFiles(disk, instance, "1-a", encrypted ? key : null);
  }

  /** Without the help of AssertJ, which takes longer than the read. */
  private void assertInvalid(BlockFiles files, DiskBlockId id, String what) throws IOException {
    Chunks received = Chunks.all(id);
    try {
      files.read(id, 0, 16, scratch, received);
    } catch (InvalidBlockException e) {
      if (received.received() == 0 && !Files.exists(files.pathOf(id), LinkOption.NOFOLLOW_LINKS)) {
        return;
      }
      throw new AssertionError("served or still there: " + what, e);
    }
    throw new AssertionError("not found invalid: " + what);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyBitOfTheHeaderCounts(boolean encrypted) throws IOException {
    BlockFiles files = files(encrypted);
    DiskBlockId id = Chunks.block("small", 100, 0);
    files.write(id, Chunks.all(id), scratch);
    Path file = files.pathOf(id);
    byte[] bytes = Files.readAllBytes(file);
    for (int bit = 0; bit < HEADER * Byte.SIZE; bit++) {
      bytes[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      Files.write(file, bytes);
      bytes[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      assertInvalid(files, id, "bit " + bit);
    }
    Files.write(file, bytes);
    assertThat(files.read(id, 0, 1, scratch, Chunks.all(id))).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyBitOfTheDataCounts(boolean encrypted) throws IOException {
    BlockFiles files = files(encrypted);
    DiskBlockId id = Chunks.block("small", 300, 0);
    files.write(id, Chunks.all(id), scratch);
    Path file = files.pathOf(id);
    byte[] bytes = Files.readAllBytes(file);
    for (int bit = HEADER * Byte.SIZE; bit < bytes.length * Byte.SIZE; bit++) {
      bytes[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      Files.write(file, bytes);
      bytes[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      assertInvalid(files, id, "bit " + bit);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyOtherLengthIsRefused(boolean encrypted) throws IOException {
    BlockFiles files = files(encrypted);
    DiskBlockId id = Chunks.block("small", 100, 0);
    files.write(id, Chunks.all(id), scratch);
    Path file = files.pathOf(id);
    byte[] bytes = Files.readAllBytes(file);
    for (int length = 0; length < bytes.length + 100; length++) {
      if (length != bytes.length) {
        Files.write(file, Arrays.copyOf(bytes, length));
        assertInvalid(files, id, length + " bytes");
      }
    }
  }

  /** A sum that is right does not make a header right. */
  @Test
  void refusesHeadersThatNobodyWrites() throws IOException {
    BlockFiles files = files(false);
    DiskBlockId id = Chunks.block("small", 2 * CHUNK_BYTES, 0);
    files.write(id, Chunks.of(id, 0b01), scratch);
    byte[] bytes = Files.readAllBytes(files.pathOf(id));
    int[][] changes = {
      {0, 'X'},
      {9, 2},
      {11, 2},
      {12, 0x80},
      {15, 0b101},
      {15, 0},
      {32, 1},
      {48 + 16, 1},
      {304, 1},
      {HEADER - 1, 1},
    };
    for (int[] change : changes) {
      byte[] changed = bytes.clone();
      changed[change[0]] = (byte) change[1];
      new CrcSeal().sealHeader(ByteBuffer.wrap(changed, 0, HEADER).slice(), 16);
      Files.write(files.pathOf(id), changed);
      assertInvalid(files, id, "byte " + change[0]);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void neverServesAnotherIdentity(boolean encrypted) throws IOException {
    BlockFiles files = files(encrypted);
    long size = 2L * BLOCK_BYTES;
    DiskBlockId wanted = Chunks.block("wanted", size, 0);
    for (DiskBlockId other :
        new DiskBlockId[] {
          Chunks.block("wanted", size, 1),
          Chunks.block("wanteD", size, 0),
          Chunks.block("wanted", size + 1, 0),
          new DiskBlockId("http://127.0.0.1:9001", wanted.version(), 0),
        }) {
      files.write(other, Chunks.all(other), scratch);
      Files.createDirectories(files.pathOf(wanted).getParent());
      Files.copy(files.pathOf(other), files.pathOf(wanted));
      assertInvalid(files, wanted, other.toString());
    }
  }

  @Test
  void refusesOtherKeysAndPlainFiles() throws IOException {
    DiskBlockId id = Chunks.block("small", 100, 0);
    BlockFiles encrypted = files(true);
    BlockFiles plain = files(false);
    BlockFiles otherKey = new BlockFiles(disk, instance, "1-a", CacheKey.random());

    encrypted.write(id, Chunks.all(id), scratch);
    assertInvalid(otherKey, id, "another key");
    encrypted.write(id, Chunks.all(id), scratch);
    assertInvalid(plain, id, "no key");
    plain.write(id, Chunks.all(id), scratch);
    assertInvalid(encrypted, id, "a plain file");
  }

  @Test
  void encryptedChunksStayInTheirPlaceAndFile() throws IOException {
    BlockFiles files = files(true);
    DiskBlockId id = Chunks.block("two chunks", 2 * CHUNK_BYTES, 0);
    files.write(id, Chunks.all(id), scratch);
    byte[] one = Files.readAllBytes(files.pathOf(id));
    files.delete(id);
    files.write(id, Chunks.all(id), scratch);
    byte[] two = Files.readAllBytes(files.pathOf(id));
    assertThat(one).as("another salt, so other bytes throughout").isNotEqualTo(two);

    byte[] swappedHeader = two.clone();
    System.arraycopy(one, 0, swappedHeader, 0, HEADER);
    Files.write(files.pathOf(id), swappedHeader);
    assertInvalid(files, id, "header of another file of the same block");

    byte[] movedChunk = two.clone();
    System.arraycopy(two, HEADER + CHUNK_BYTES, movedChunk, HEADER, CHUNK_BYTES);
    Files.write(files.pathOf(id), movedChunk);
    assertInvalid(files, id, "second chunk in the place of the first");

    byte[] movedSeal = movedChunk.clone();
    System.arraycopy(two, 48 + 16, movedSeal, 48, 16);
    Files.write(files.pathOf(id), movedSeal);
    assertInvalid(files, id, "second chunk with its seal in the place of the first");
  }

  @Test
  void nothingOfTheDataIsReadableInAnEncryptedFile() throws IOException {
    BlockFiles files = files(true);
    DiskBlockId id = Chunks.block("key", 4 * CHUNK_BYTES, 0);
    files.write(id, Chunks.of(id, 0b0011), scratch);
    files.write(id, Chunks.of(id, 0b1100), scratch);
    ByteBuffer stored = ByteBuffer.wrap(Files.readAllBytes(files.pathOf(id)));
    for (int chunk = 0; chunk < 4; chunk++) {
      ByteBuffer plain = Chunks.all(id).chunk(chunk);
      for (int at = 0; at < CHUNK_BYTES; at += 16) {
        assertThat(stored.slice(HEADER + chunk * CHUNK_BYTES + at, 16))
            .isNotEqualTo(plain.slice(at, 16));
      }
    }
    assertThat(files.read(id, 0, 4, scratch, Chunks.all(id))).isEqualTo(0b1111);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aDamagedFileIsNotJoined(boolean encrypted) throws IOException {
    BlockFiles files = files(encrypted);
    DiskBlockId id = Chunks.block("two chunks", 2 * CHUNK_BYTES, 0);
    files.write(id, Chunks.of(id, 0b01), scratch);
    byte[] bytes = Files.readAllBytes(files.pathOf(id));
    bytes[HEADER + 100] ^= 1;
    Files.write(files.pathOf(id), bytes);

    assertThatThrownBy(() -> files.write(id, Chunks.of(id, 0b10), scratch))
        .isInstanceOf(InvalidBlockException.class);
    assertThat(files.pathOf(id)).doesNotExist();
    assertThat(disk.list(instance.resolve(Membership.TMP))).isEmpty();
    assertThat(files.write(id, Chunks.of(id, 0b10), scratch).mask()).isEqualTo(0b10);
    assertThat(files.read(id, 1, 2, scratch, Chunks.all(id))).isEqualTo(0b10);
  }

  @Test
  void aFullDirectoryInTheWayIsLeftAndCounts() throws IOException {
    BlockFiles files = files(false);
    DiskBlockId id = Chunks.block("small", 100, 0);
    Path inTheWay = files.pathOf(id);
    Files.createDirectories(inTheWay.resolve("full"));

    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> files.read(id, 0, 1, scratch, Chunks.all(id)))
          .isInstanceOf(InvalidBlockException.class);
      assertThatThrownBy(() -> files.write(id, Chunks.all(id), scratch))
          .isInstanceOf(InvalidBlockException.class);
    }
    Files.delete(inTheWay.resolve("full"));
    assertInvalid(files, id, "an empty directory");
  }
}
