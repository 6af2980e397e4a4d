// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.SharedRegionsRig.Found;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Pause;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Four JVMs append to one directory, give its regions up, read what the others write, and are
 * killed, again and again. Nobody may ever take a byte of another region, and the cap is kept.
 */
@Slow
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class KilledWritersTest {
  private static final int WRITERS = 4;

  /** {@code -Ds3e.test.kills=200} for a long run, as at night. */
  private static final int KILLS = Integer.getInteger("s3e.test.kills", 12);

  @TempDir Path directory;

  private final long seed = Seed.draw();
  private final Random random = new Random(seed);
  private final List<ForkedJvm> writers = new ArrayList<>();
  private final List<String> wrong = new ArrayList<>();
  private long written;
  private long read;
  private int started;

  @Test
  void killsLeaveNoWrongByteAndNoLocks() throws Exception {
    long most = 0;
    try {
      for (int i = 0; i < WRITERS; i++) {
        writers.add(start());
      }
      for (int kill = 0; kill < KILLS; kill++) {
        int victim = random.nextInt(WRITERS);
        writers.get(victim).await("begins");
        Pause.millis(random.nextInt(150), "a moment by chance of what it writes");
        ForkedJvm killed = writers.get(victim);
        killed.kill();
        listen(killed);
        most = Math.max(most, held());
        everyChunkReadsBackRight();
        writers.set(victim, start());
      }
      for (ForkedJvm writer : writers) {
        writer.await("counts");
        writer.kill();
        listen(writer);
      }
    } finally {
      for (ForkedJvm writer : writers) {
        writer.close();
      }
    }
    assertThat(wrong).as("seed %d", seed).isEmpty();
    assertThat(written).as("chunks that were written").isGreaterThan(KILLS);
    assertThat(read).as("chunks that were read").isGreaterThan(KILLS);
    assertThat(most).as("seed %d", seed).isBetween(1L, SharedRegionsRig.CAPACITY);
    assertThat(everyChunkReadsBackRight()).as("chunks that are there at the end").isPositive();
    allRegionsAreToBeHad();
  }

  private ForkedJvm start() throws IOException {
    started++;
    return ForkedJvm.start(
        SharedWriter.class, directory.toString(), String.valueOf(seed + started));
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

  private long held() throws IOException {
    return SharedRegionsRig.bytesOnDisk(SharedRegionsRig.instance(directory));
  }

  /** While others go on: a chunk may vanish, but not be another's. */
  private int everyChunkReadsBackRight() throws IOException {
    int right = 0;
    try (SharedRegionsRig rig = new SharedRegionsRig(directory)) {
      for (int number = 0; number < SharedWriter.OBJECTS; number++) {
        StoredObject object = SharedWriter.object(rig, number);
        for (int chunk = 0; chunk < SharedWriter.CHUNKS; chunk++) {
          Found found = rig.read(object, chunk);
          assertThat(found).as("seed %d", seed).isIn(Found.RIGHT, Found.ABSENT);
          right += found == Found.RIGHT ? 1 : 0;
        }
      }
    }
    return right;
  }

  private void allRegionsAreToBeHad() throws IOException {
    try (SharedRegionsRig rig = new SharedRegionsRig(directory)) {
      for (int i = 0; i < SharedRegionsRig.REGIONS; i++) {
        assertThat(rig.regions.next()).isNotNull();
      }
    }
  }
}
