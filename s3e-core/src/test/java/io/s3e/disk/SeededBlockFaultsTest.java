package io.s3e.disk;

import static io.s3e.disk.DiskBlockId.CHUNK_BYTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Seed;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** 10,000 random faults of real files, half of them encrypted: right bytes or a miss, always. */
@Timeout(180)
class SeededBlockFaultsTest {
  private static final int FAULTS = 5_000;
  private static final int HEADER = BlockHeader.BYTES;

  /** What happens to a file. */
  private enum Fault {
    FLIP,
    TRUNCATE,
    EXTEND,
    ZERO,
    NOISE,
    SWAP_FILES,
    SWAP_HEADERS,
    MOVE_CHUNK,
    DELETE,
    DIRECTORY,
    FULL_DIRECTORY,
    LINK_TO_OTHER,
    LINK_TO_ITSELF_OUTSIDE,
    LINK_TO_NOTHING,
    HARD_LINK_TO_OTHER,
    PIPE
  }

  @TempDir Path directory;

  private final DiskIo disk = new NioDiskIo();
  private final ByteBuffer scratch = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
  private final long seed = Seed.draw();
  private final Random random = new Random(seed);
  private final List<Victim> victims = new ArrayList<>();

  /** A disk block's file and what was written to it. */
  private record Victim(DiskBlockId id, Path path, byte[] bytes, int mask, Chunks chunks) {}

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyFaultIsRightBytesOrAMiss(boolean encrypted) throws Exception {
    Path instance = directory.resolve("instance");
    disk.makeDirectory(instance.resolve(Membership.BLOCKS));
    disk.makeDirectory(instance.resolve(Membership.TMP));
    BlockFiles files = new BlockFiles(disk, instance, "1-a", encrypted ? CacheKey.random() : null);
    writeVictims(files);
    Path outside = Files.write(directory.resolve("outside"), victims.get(0).bytes());
    Path pipe = pipe();

    int served = 0;
    for (int i = 0; i < FAULTS; i++) {
      Victim victim = victims.get(random.nextInt(victims.size()));
      Victim other = victims.get(random.nextInt(victims.size()));
      Fault fault = Fault.values()[random.nextInt(Fault.values().length)];
      String what = "seed " + seed + ", fault " + i + ": " + fault + " of " + victim.id();
      apply(fault, victim, other, outside, pipe);
      served += check(files, victim, what) ? 1 : 0;
      served += check(files, other, what) ? 1 : 0;
      restore(victim);
      restore(other);
    }

    assertThat(served).as("reads that the disk answered").isBetween(FAULTS / 4, 2 * FAULTS - 1);
    assertThat(outside).as("what links lead to").hasBinaryContent(victims.get(0).bytes());
  }

  private void writeVictims(BlockFiles files) throws IOException {
    long[] sizes = {100, 1000, CHUNK_BYTES, CHUNK_BYTES + 1, 100_000, 150_000, 2 * CHUNK_BYTES + 5};
    for (int i = 0; i < sizes.length; i++) {
      DiskBlockId id = Chunks.block("victim " + i, sizes[i], 0);
      int all = (1 << id.chunks()) - 1;
      int mask = i % 2 == 0 ? all : Math.max(1, random.nextInt(all + 1));
      files.write(id, Chunks.of(id, mask), scratch);
      Path path = files.pathOf(id);
      victims.add(new Victim(id, path, Files.readAllBytes(path), mask, Chunks.all(id)));
    }
  }

  /** A pipe that nobody writes to; what is no pipe where there is no {@code mkfifo}. */
  private Path pipe() throws Exception {
    Path pipe = directory.resolve("pipe");
    try {
      Process process = new ProcessBuilder("mkfifo", pipe.toString()).start();
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    } catch (IOException e) {
      System.out.println("no mkfifo here: " + e.getMessage());
    }
    return Files.exists(pipe) ? pipe : Files.createFile(pipe);
  }

  /** Whether the disk answered the read; it asserts that the answer was right. */
  private boolean check(BlockFiles files, Victim victim, String what) throws IOException {
    int first = random.nextInt(victim.id().chunks());
    int end = first + 1 + random.nextInt(victim.id().chunks() - first);
    Chunks received = victim.chunks().again();
    try {
      int mask = files.read(victim.id(), first, end, scratch, received);
      assertThat(mask).as(what).isEqualTo(victim.mask());
      return received.received() != 0;
    } catch (NoSuchFileException e) {
      assertThat(received.received()).as(what).isZero();
      return false;
    } catch (InvalidBlockException e) {
      assertThat(
              Files.isRegularFile(victim.path(), LinkOption.NOFOLLOW_LINKS)
                  || Files.isSymbolicLink(victim.path()))
          .as(what)
          .isFalse();
      return false;
    } catch (AssertionError e) {
      throw new AssertionError(what, e);
    }
  }

  private void apply(Fault fault, Victim victim, Victim other, Path outside, Path pipe)
      throws IOException {
    byte[] bytes = victim.bytes().clone();
    int at = random.nextInt(bytes.length);
    int length = 1 + random.nextInt(Math.min(bytes.length - at, 9000));
    Path path = victim.path();
    switch (fault) {
      case FLIP -> {
        bytes[at] ^= (byte) (1 << random.nextInt(8));
        rewrite(path, bytes);
      }
      case TRUNCATE -> setLength(path, at);
      case EXTEND -> setLength(path, bytes.length + length);
      case ZERO -> {
        Arrays.fill(bytes, at, at + length, (byte) 0);
        rewrite(path, bytes);
      }
      case NOISE -> {
        byte[] noise = new byte[length];
        random.nextBytes(noise);
        System.arraycopy(noise, 0, bytes, at, length);
        rewrite(path, bytes);
      }
      case SWAP_FILES -> {
        rewrite(path, other.bytes());
        rewrite(other.path(), victim.bytes());
      }
      case SWAP_HEADERS -> {
        System.arraycopy(other.bytes(), 0, bytes, 0, HEADER);
        rewrite(path, bytes);
      }
      case MOVE_CHUNK -> {
        int from = HEADER + random.nextInt(victim.id().chunks()) * CHUNK_BYTES;
        int to = HEADER + random.nextInt(victim.id().chunks()) * CHUNK_BYTES;
        int moved = Math.min(CHUNK_BYTES, bytes.length - Math.max(from, to));
        if (moved > 0) {
          System.arraycopy(victim.bytes(), from, bytes, to, moved);
        }
        rewrite(path, bytes);
      }
      case DELETE -> Files.delete(path);
      case DIRECTORY -> {
        Files.delete(path);
        Files.createDirectory(path);
      }
      case FULL_DIRECTORY -> {
        Files.delete(path);
        Files.createDirectories(path.resolve("inside"));
      }
      case LINK_TO_OTHER -> link(path, other.path());
      case LINK_TO_ITSELF_OUTSIDE -> link(path, outside);
      case LINK_TO_NOTHING -> link(path, directory.resolve("nothing"));
      case HARD_LINK_TO_OTHER -> {
        if (other != victim) {
          Files.delete(path);
          Files.createLink(path, other.path());
        }
      }
      case PIPE -> {
        Files.delete(path);
        Files.createLink(path, pipe);
      }
    }
  }

  private static void link(Path path, Path target) throws IOException {
    Files.delete(path);
    Files.createSymbolicLink(path, target);
  }

  private static void rewrite(Path path, byte[] bytes) throws IOException {
    // A file that is cut to nothing and written anew is flushed to disk by ext4, which is slow.
    Files.delete(path);
    Files.write(path, bytes);
  }

  private static void setLength(Path path, int length) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.setLength(length);
    }
  }

  private static void restore(Victim victim) throws IOException {
    if (Files.isDirectory(victim.path(), LinkOption.NOFOLLOW_LINKS)) {
      Files.deleteIfExists(victim.path().resolve("inside"));
    }
    Files.deleteIfExists(victim.path());
    Files.write(victim.path(), victim.bytes());
  }
}
