package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.metrics.DiskMetrics;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Seed;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Four JVMs write to one directory, read what the others write, and are killed: 50 kills. Nobody
 * may ever read a wrong byte, and nothing may be left behind.
 */
class KilledWritersTest {
  private static final int WRITERS = 4;
  private static final int KILLS = 50;
  private static final long CAPACITY = 24L << 20;

  @TempDir Path directory;

  private final DiskIo disk = new NioDiskIo();
  private final long seed = Seed.draw();
  private final Random random = new Random(seed);
  private final List<ForkedJvm> writers = new ArrayList<>();
  private final List<String> wrong = new ArrayList<>();
  private long written;
  private long read;
  private int started;

  @Test
  void fiftyKillsLeaveNoWrongByteAndNoLeavings() throws Exception {
    long most = 0;
    try (CacheRoot root =
        CacheRoot.open(directory, CacheTenant.config(directory, Scope.HOST, CAPACITY))) {
      for (int i = 0; i < WRITERS; i++) {
        writers.add(start());
      }
      for (int kill = 0; kill < KILLS; kill++) {
        int victim = random.nextInt(WRITERS);
        writers.get(victim).await("begins");
        Thread.sleep(random.nextInt(150));
        most = Math.max(most, held(root));
        ForkedJvm killed = writers.get(victim);
        killed.kill();
        listen(killed);
        writers.set(victim, start());
      }
      for (ForkedJvm writer : writers) {
        writer.await("counts");
        writer.kill();
        listen(writer);
      }
      assertThat(wrong).as("seed %d", seed).isEmpty();
      assertThat(written).as("files that were written").isGreaterThan(KILLS);
      assertThat(read).as("chunks that were read").isGreaterThan(KILLS);
      assertThat(most).as("seed %d", seed).isLessThanOrEqualTo(CAPACITY);
      verifyWhatIsLeft(root);
    } finally {
      for (ForkedJvm writer : writers) {
        writer.close();
      }
    }
  }

  private ForkedJvm start() throws IOException {
    started++;
    return ForkedJvm.start(
        CacheWriter.class,
        directory.toString(),
        String.valueOf(CAPACITY),
        String.valueOf(seed + started));
  }

  private void listen(ForkedJvm ended) throws InterruptedException {
    long lastWritten = 0;
    long lastRead = 0;
    for (String line : ended.rest()) {
      if (line.startsWith("counts ")) {
        String[] words = line.split(" ");
        lastWritten = Long.parseLong(words[1]);
        lastRead = words.length > 2 ? Long.parseLong(words[2]) : 0;
      } else if (!line.equals("begins")) {
        wrong.add(line);
      }
    }
    written += lastWritten;
    read += lastRead;
  }

  private long held(CacheRoot root) throws IOException {
    long bytes = 0;
    for (DiskIo.Entry directory : disk.list(root.blocks())) {
      for (DiskIo.Entry file : disk.list(directory.path())) {
        bytes += file.bytes();
      }
    }
    for (DiskIo.Entry file : disk.list(root.tmp())) {
      bytes += file.bytes();
    }
    return bytes;
  }

  private void verifyWhatIsLeft(CacheRoot root) throws IOException {
    DiskCacheConfig config = CacheTenant.config(directory, Scope.HOST, CAPACITY);
    Publication publication =
        new Housekeeping(
                disk, root, new CacheSpace(disk, root.instance(), config), new DiskMetrics())
            .pass(new Grants());
    assertThat(disk.list(root.tmp())).isEmpty();
    assertThat(disk.list(root.claims())).isEmpty();
    assertThat(disk.list(root.owners())).hasSize(1);
    assertThat(publication.bytes()).isEqualTo(held(root)).isBetween(1L, CAPACITY);

    BlockFiles files = new BlockFiles(disk, root.instance(), root.ownerId(), null);
    ByteBuffer scratch = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
    long found = 0;
    for (int i = 0; i < CacheWriter.blocks(); i++) {
      DiskBlockId id = CacheWriter.block(i);
      for (int chunk = 0; chunk < id.chunks(); chunk++) {
        Chunks chunks = Chunks.all(id);
        try {
          files.read(id, chunk, chunk + 1, scratch, chunks);
          found += Integer.bitCount(chunks.received());
        } catch (NoSuchFileException e) {
          assertThat(files.pathOf(id)).doesNotExist();
        }
      }
    }
    assertThat(found).as("chunks that verify").isPositive();
    assertThat(held(root)).as("nothing was found wrong and deleted").isEqualTo(publication.bytes());
  }
}
