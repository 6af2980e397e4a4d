// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static io.s3e.disk.StoreRig.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.DiskIo.OpenFile;
import io.s3e.disk.Region.Place;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * 10,000 random faults of the bytes of regions, half of them encrypted, and as many of the reads
 * and writes on their way: right bytes or a miss, always, and every fault that is found is counted.
 */
@Timeout(180)
@Slow
class SeededRegionFaultsTest {
  private static final int CHUNK = StoredObject.CHUNK_BYTES;

  private static final int FAULTS = 5_000;

  /**
   * Where chunks are encrypted each costs 10 ms, because the first compiler knows no GHASH: {@code
   * -Ds3e.test.encrypted.faults=5000}, as each night, makes as many as of others.
   */
  private static int faults(boolean encrypted) {
    return encrypted ? Integer.getInteger("s3e.test.encrypted.faults", FAULTS / 5) : FAULTS;
  }

  /** A fault in the bytes of a region. */
  private enum Fault {
    FLIP,
    ZERO,
    NOISE,
    SWAP_RANGES,
    COPY_OF_OTHER_REGION,
    TRUNCATE
  }

  @TempDir Path directory;

  private final long seed = Seed.draw();
  private final Random random = new Random(seed);

  /** A chunk that was written, and where. */
  private record Victim(StoredObject object, int chunk, Place place, byte[] stored) {}

  private static @Nullable CacheKey key(boolean encrypted) {
    return encrypted ? CacheKey.random() : null;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyFaultOfARegionIsRightBytesOrAMiss(boolean encrypted) throws Exception {
    int faults = faults(encrypted);
    try (StoreRig rig = new StoreRig(directory, 16 * MIB, key(encrypted))) {
      List<Victim> victims = victims(rig);
      long found = 0;
      for (int i = 0; i < faults; i++) {
        Fault fault = Fault.values()[random.nextInt(Fault.values().length)];
        String what = "seed " + seed + ", fault " + i + ": " + fault;
        Victim victim = victims.get(random.nextInt(victims.size()));
        Victim other = victims.get(random.nextInt(victims.size()));
        damage(rig, fault, victim, other);
        long before = rig.counted(Counter.CORRUPTIONS);
        int missing = 0;
        int changed = 0;
        for (Victim each : new HashSet<>(List.of(victim, other))) {
          changed += isAsWritten(rig, each) ? 0 : 1;
          missing += requireRightOrMissing(rig, each, what) ? 0 : 1;
        }
        assertThat(missing).as(what).isEqualTo(changed);
        assertThat(rig.counted(Counter.CORRUPTIONS) - before).as(what).isEqualTo(changed);
        found += changed;
        restore(rig, fault == Fault.TRUNCATE ? victims : List.of(victim, other));
      }
      assertThat(found).as("seed %d: faults found", seed).isBetween(faults / 2L, 2L * faults);
      assertThat(rig.counted(Counter.READ_ERRORS)).isZero();
    }
  }

  /** Two regions of objects of many lengths. */
  private List<Victim> victims(StoreRig rig) throws Exception {
    long[] sizes = {1, 100, 1000, 4096, 4097, 20_000, CHUNK, CHUNK + 1, 2 * CHUNK + 5};
    List<Victim> victims = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      StoredObject object = StoredBytes.object("victim " + i, sizes[i % sizes.length]);
      rig.write(TestWriteBack.all(object));
      for (int chunk = 0; chunk < object.chunks(); chunk++) {
        Place place = rig.index.place(object, chunk);
        byte[] stored = new byte[object.chunkLength(chunk)];
        readFully(file(rig, place), stored, position(place));
        victims.add(new Victim(object, chunk, place, stored));
      }
    }
    assertThat(rig.files.opened()).as("regions").isEqualTo(2);
    return victims;
  }

  private static OpenFile file(StoreRig rig, Place place) {
    return rig.files.file(place.region().header.number());
  }

  private static long position(Place place) {
    return place.position();
  }

  /** As many bytes as there are; how many. */
  private static int readFully(OpenFile file, byte[] into, long position) throws IOException {
    ByteBuffer target = ByteBuffer.wrap(into);
    int count = 0;
    while (target.hasRemaining() && count >= 0) {
      count = file.read(target, position + target.position());
    }
    return target.position();
  }

  private static boolean isAsWritten(StoreRig rig, Victim victim) throws IOException {
    byte[] now = new byte[victim.stored().length];
    int length = readFully(file(rig, victim.place()), now, position(victim.place()));
    return length == now.length && Arrays.equals(now, victim.stored());
  }

  private static boolean requireRightOrMissing(StoreRig rig, Victim victim, String what)
      throws IOException {
    int[] received = new int[1];
    int end =
        rig.reader.read(
            victim.object(),
            victim.chunk(),
            victim.chunk() + 1,
            (chunk, bytes) -> {
              try {
                StoredBytes.require(victim.object(), chunk, bytes);
              } catch (AssertionError e) {
                throw new AssertionError(what, e);
              }
              received[0]++;
              return true;
            });
    boolean isRight = end == victim.chunk() + 1;
    assertThat(received[0]).as(what).isEqualTo(isRight ? 1 : 0);
    boolean isKnown = rig.index.place(victim.object(), victim.chunk()) != null;
    assertThat(isKnown).as("known after the read; %s", what).isEqualTo(isRight);
    return isRight;
  }

  private void damage(StoreRig rig, Fault fault, Victim victim, Victim other) throws IOException {
    OpenFile file = file(rig, victim.place());
    long begin = position(victim.place());
    int at = random.nextInt(victim.stored().length);
    byte[] bytes = victim.stored().clone();
    int length = 1 + random.nextInt(bytes.length - at);
    switch (fault) {
      case FLIP -> {
        bytes[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        file.write(ByteBuffer.wrap(bytes), begin);
      }
      case ZERO -> {
        Arrays.fill(bytes, at, at + length, (byte) 0);
        file.write(ByteBuffer.wrap(bytes), begin);
      }
      case NOISE -> {
        byte[] noise = new byte[length];
        random.nextBytes(noise);
        file.write(ByteBuffer.wrap(noise), begin + at);
      }
      case SWAP_RANGES -> {
        int swapped = Math.min(victim.stored().length, other.stored().length);
        file.write(ByteBuffer.wrap(other.stored(), 0, swapped), begin);
        file(rig, other.place())
            .write(ByteBuffer.wrap(victim.stored(), 0, swapped), position(other.place()));
      }
      case COPY_OF_OTHER_REGION -> {
        byte[] copy = new byte[bytes.length];
        int count =
            readFully(rig.files.file(1 - victim.place().region().header.number()), copy, begin);
        file.write(ByteBuffer.wrap(copy, 0, count), begin);
      }
      case TRUNCATE -> WatchedFiles.truncate(file, begin + at);
    }
  }

  /** Writes all bytes again, and enters again what was dropped. */
  private static void restore(StoreRig rig, List<Victim> victims) throws IOException {
    for (Victim victim : victims) {
      Place place = victim.place();
      if (!isAsWritten(rig, victim)) {
        file(rig, place).write(ByteBuffer.wrap(victim.stored()), position(place));
      }
      if (rig.index.place(victim.object(), victim.chunk()) == null) {
        rig.index.add(place);
      }
    }
  }

  /** A disk that damages what is read and written, one operation in three. */
  private final class DamagingFile implements OpenFile {
    private final OpenFile file;

    DamagingFile(OpenFile file) {
      this.file = file;
    }

    private boolean strikes() {
      boolean strikes = random.nextInt(3) == 0;
      struck += strikes ? 1 : 0;
      return strikes;
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      int from = target.position();
      if (!strikes()) {
        return file.read(target, position);
      }
      switch (random.nextInt(4)) {
        case 0 -> {
          return -1;
        }
        case 1 -> {
          int elsewhere = random.nextInt(64) * Region.SLOT_BYTES;
          return file.read(target, elsewhere);
        }
        case 2 -> {
          // A part of what is asked for, as a read may bring; the rest is asked for again.
          int limit = target.limit();
          target.limit(from + 1 + random.nextInt(limit - from));
          int count = file.read(target, position);
          target.limit(limit);
          return count;
        }
        default -> {
          int count = file.read(target, position);
          if (count > 0) {
            int at = from + random.nextInt(count);
            target.put(at, (byte) (target.get(at) ^ 1 << random.nextInt(Byte.SIZE)));
          }
          return count;
        }
      }
    }

    @Override
    public void write(ByteBuffer source, long position) throws IOException {
      if (!strikes()) {
        file.write(source, position);
        return;
      }
      int length = source.remaining();
      byte[] bytes = new byte[length];
      source.get(bytes);
      int at = random.nextInt(length);
      switch (random.nextInt(4)) {
        case 0 -> {
          // Said to be written, and lost.
        }
        case 1 -> file.write(ByteBuffer.wrap(bytes, 0, at), position);
        case 2 -> file.write(ByteBuffer.wrap(bytes), (long) random.nextInt(64) * Region.SLOT_BYTES);
        default -> {
          bytes[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
          file.write(ByteBuffer.wrap(bytes), position);
        }
      }
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }

  /** How many operations were damaged; the disk is used by one thread at a time here. */
  private volatile int struck;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyFaultOnTheWayIsRightBytesOrAMiss(boolean encrypted) throws Exception {
    int faults = faults(encrypted);
    List<StoredObject> objects = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      objects.add(StoredBytes.object("object " + i, 1 + random.nextInt(300_000)));
    }
    try (StoreRig rig =
        new StoreRig(directory, 16 * MIB, key(encrypted), 64 * MIB, DamagingFile::new)) {
      int right = 0;
      while (struck < faults) {
        StoredObject object = objects.get(random.nextInt(objects.size()));
        if (rig.known(object) == 0 || random.nextInt(10) == 0) {
          rig.write(TestWriteBack.all(object));
        }
        right += rig.requireRight(object);
      }
      assertThat(right).as("seed %d: chunks that were read", seed).isGreaterThan(faults / 4);
      assertThat(rig.counted(Counter.CORRUPTIONS))
          .as("seed %d: corruptions found", seed)
          .isBetween(faults / 4L, 4L * faults);
      assertThat(rig.counted(Counter.READ_ERRORS)).isZero();
      rig.requireSums();
    }
  }
}
