// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.disk.Region.Place;
import io.s3e.disk.SharedRegionsRig.Found;
import io.s3e.testing.Pause;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Damage to the files of shared regions costs hits, and nothing else. */
@Slow
class SharedDamageTest {
  private static final int OBJECTS = 3;
  private static final int CHUNKS = 20;

  @TempDir Path directory;

  private final Random random = new Random(Seed.draw());
  private Path instance = Path.of("");

  @FunctionalInterface
  private interface Damage {
    void to(Path instance, Random random) throws IOException;
  }

  @BeforeEach
  void fill() throws IOException {
    try (SharedRegionsRig rig = new SharedRegionsRig(directory)) {
      append(rig);
      assertThat(readAll(rig)).isEqualTo(OBJECTS * CHUNKS);
    }
    instance = SharedRegionsRig.instance(directory);
  }

  private static void append(SharedRegionsRig rig) throws IOException {
    for (int number = 0; number < OBJECTS; number++) {
      for (int chunk = 0; chunk < CHUNKS; chunk++) {
        assertThat(rig.append(object(rig, number), chunk)).isTrue();
      }
    }
  }

  private static StoredObject object(SharedRegionsRig rig, int number) {
    return rig.object("object " + number, CHUNKS);
  }

  /** How many chunks are there; none may be wrong. */
  private static int readAll(SharedRegionsRig rig) throws IOException {
    int right = 0;
    for (int number = 0; number < OBJECTS; number++) {
      for (int chunk = 0; chunk < CHUNKS; chunk++) {
        Found found = rig.read(object(rig, number), chunk);
        assertThat(found).isNotEqualTo(Found.WRONG);
        right += found == Found.RIGHT ? 1 : 0;
      }
    }
    return right;
  }

  @Test
  void everyBitOfAHeaderAndOfARecordCounts() throws IOException {
    Path file = SharedRegionsRig.fileOf(instance, 0);
    for (int from : new int[] {0, 2 * RegionTable.RECORD_BYTES}) {
      for (int bit = 0; bit < RegionTable.RECORD_BYTES * Byte.SIZE; bit++) {
        flip(file, from + bit / Byte.SIZE, bit % Byte.SIZE);
        try (SharedRegionsRig rig = new SharedRegionsRig(directory)) {
          int others = OBJECTS * CHUNKS - SharedRegionsRig.CHUNKS_OF_REGION;
          int known = 0;
          for (int number = 0; number < OBJECTS; number++) {
            known +=
                SharedRegionsRig.known(
                    rig.index, SharedRegionsRig.unknown("object " + number, CHUNKS));
          }
          assertThat(known)
              .as("bit %d from %d", bit, from)
              .isEqualTo(from == 0 ? others : others + 1);
        }
        flip(file, from + bit / Byte.SIZE, bit % Byte.SIZE);
      }
    }
    try (SharedRegionsRig rig = new SharedRegionsRig(directory)) {
      assertThat(readAll(rig)).isEqualTo(OBJECTS * CHUNKS);
    }
  }

  @Test
  void everyFlipInTheBytesOfAChunkIsFound() throws IOException {
    try (SharedRegionsRig rig = new SharedRegionsRig(directory)) {
      StoredObject object = object(rig, 0);
      for (int i = 0; i < 2_000; i++) {
        int chunk = random.nextInt(10);
        Place place = rig.index.place(object, chunk);
        assertThat(place).isNotNull();
        long at = place.position() + random.nextInt(StoredObject.CHUNK_BYTES);
        int bit = random.nextInt(Byte.SIZE);
        Path data = SharedRegionsRig.fileOf(instance, place.region().header.number());
        flip(data, at, bit);
        assertThat(rig.read(object, chunk)).isEqualTo(Found.BROKEN);
        assertThat(rig.read(object, chunk)).as("forgotten").isEqualTo(Found.ABSENT);
        flip(data, at, bit);
        assertThat(rig.index.add(place)).isTrue();
      }
      assertThat(readAll(rig)).isEqualTo(OBJECTS * CHUNKS);
    }
  }

  private static void flip(Path file, long at, int bit) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      open.seek(at);
      int before = open.read();
      open.seek(at);
      open.write(before ^ 1 << bit);
    }
  }

  static List<String> kinds() {
    return List.copyOf(damages().keySet());
  }

  private static Map<String, Damage> damages() {
    Map<String, Damage> damages = new LinkedHashMap<>();
    for (String end : new String[] {"region"}) {
      damages.put(
          "truncate " + end,
          (in, random) -> {
            Path file = in.resolve("00." + end);
            truncate(file, random.nextInt((int) Files.size(file)));
          });
      damages.put("empty " + end, (in, random) -> truncate(in.resolve("01." + end), 0));
      damages.put("delete " + end, (in, random) -> Files.delete(in.resolve("01." + end)));
      damages.put(
          "garbage in " + end,
          (in, random) -> {
            byte[] garbage = new byte[100_000];
            random.nextBytes(garbage);
            Files.write(in.resolve("00." + end), garbage);
          });
      damages.put(
          "zeros in the middle of " + end,
          (in, random) -> {
            Path file = in.resolve("00." + end);
            try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
              open.seek(random.nextInt((int) (Files.size(file) - 100)));
              open.write(new byte[100]);
            }
          });
      damages.put(
          "garbage behind " + end,
          (in, random) -> {
            byte[] garbage = new byte[1000];
            random.nextBytes(garbage);
            Files.write(in.resolve("02." + end), garbage, java.nio.file.StandardOpenOption.APPEND);
          });
      damages.put(
          "replace " + end + " by another's",
          (in, random) -> {
            Files.delete(in.resolve("00." + end));
            Files.copy(in.resolve("01." + end), in.resolve("00." + end));
          });
      damages.put(
          "overwrite " + end + " with another's",
          (in, random) ->
              Files.write(in.resolve("00." + end), Files.readAllBytes(in.resolve("01." + end))));
      damages.put("swap " + end, (in, random) -> swap(in, end));
      damages.put(
          "directory for " + end,
          (in, random) -> {
            Files.deleteIfExists(in.resolve("09." + end));
            Files.createDirectory(in.resolve("09." + end));
          });
    }
    damages.put(
        "garbage in the table",
        (in, random) -> {
          byte[] garbage = new byte[10 * RegionTable.RECORD_BYTES];
          random.nextBytes(garbage);
          try (RandomAccessFile open =
              new RandomAccessFile(in.resolve("00.region").toFile(), "rw")) {
            open.seek(random.nextInt(8 * RegionTable.RECORD_BYTES));
            open.write(garbage);
          }
        });
    damages.put(
        "another's table",
        (in, random) -> {
          byte[] theirs = Files.readAllBytes(in.resolve("01.region"));
          try (RandomAccessFile open =
              new RandomAccessFile(in.resolve("00.region").toFile(), "rw")) {
            int header = RegionTable.RECORD_BYTES;
            open.seek(header);
            open.write(theirs, header, (int) SharedRegionsRig.tableBytes() - header);
          }
        });
    damages.put("delete the layout", (in, random) -> Files.delete(in.resolve("layout")));
    damages.put("break the layout", (in, random) -> flip(in.resolve("layout"), 9, 3));
    damages.put("empty the layout", (in, random) -> truncate(in.resolve("layout"), 0));
    damages.put("delete the regions", (in, random) -> deleteAll(in, ".region"));
    damages.put("delete all files", (in, random) -> deleteAll(in, ""));
    damages.put(
        "delete the directory",
        (in, random) -> {
          deleteAll(in, "");
          Files.delete(in);
        });
    return damages;
  }

  private static void truncate(Path file, long length) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      open.setLength(length);
    }
  }

  private static void swap(Path in, String end) throws IOException {
    Path aside = in.resolve("aside");
    Files.move(in.resolve("00." + end), aside);
    Files.move(in.resolve("01." + end), in.resolve("00." + end));
    Files.move(aside, in.resolve("01." + end));
  }

  private static void deleteAll(Path in, String end) throws IOException {
    try (var files = Files.list(in)) {
      for (Path file : files.filter(each -> each.toString().endsWith(end)).toList()) {
        Files.delete(file);
      }
    }
  }

  /** Under way for one process, and before another opens. */
  @ParameterizedTest
  @MethodSource("kinds")
  void noWrongByteAndItGoesOn(String kind) throws IOException {
    try (SharedRegionsRig living = new SharedRegionsRig(directory)) {
      living.refresh();
      damages().get(kind).to(instance, random);
      for (int round = 0; round < 3; round++) {
        readAll(living);
        tolerant(living::refresh);
      }
      try (SharedRegionsRig fresh = new SharedRegionsRig(directory)) {
        readAll(fresh);
        append(fresh);
        assertThat(readAll(fresh)).isEqualTo(OBJECTS * CHUNKS);
        tolerant(living::refresh);
        readAll(living);
      }
      tolerant(() -> append(living));
      readAll(living);
    }
  }

  @FunctionalInterface
  private interface Step {
    void run() throws IOException;
  }

  /** A failure is what a breaker counts; this test is about bytes. */
  private static void tolerant(Step step) {
    try {
      step.run();
    } catch (IOException e) {
      System.out.println("as the disk is damaged: " + e);
    }
  }

  @Test
  void aReaderTakesNoByteOfAnotherRegion() throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    AtomicInteger appended = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(3);
    try (SharedRegionsRig writer = new SharedRegionsRig(directory);
        SharedRegionsRig one = new SharedRegionsRig(directory);
        SharedRegionsRig other = new SharedRegionsRig(directory)) {
      Future<Integer> recycling =
          threads.submit(
              () -> {
                while (!stop.get()) {
                  int next = appended.getAndIncrement();
                  assertThat(writer.append(writer.object("o" + next % 500 / 50, 50), next % 50))
                      .isTrue();
                }
                return appended.get();
              });
      List<Future<Integer>> readers = new ArrayList<>();
      for (SharedRegionsRig rig : List.of(one, other)) {
        readers.add(threads.submit(() -> readUntil(stop, rig)));
      }
      int several = 5 * SharedRegionsRig.REGIONS * SharedRegionsRig.CHUNKS_OF_REGION;
      Pause.millis(1_000, "in which a reader may take a wrong byte");
      awaitTrue("each region several times", () -> appended.get() > several || recycling.isDone());
      stop.set(true);
      assertThat(recycling.get(30, TimeUnit.SECONDS)).isGreaterThan(several);
      for (Future<Integer> reader : readers) {
        assertThat(reader.get(30, TimeUnit.SECONDS)).as("chunks taken").isPositive();
      }
    } finally {
      stop.set(true);
      threads.shutdown();
    }
  }

  private static int readUntil(AtomicBoolean stop, SharedRegionsRig rig) throws IOException {
    Random which = new Random(1);
    int right = 0;
    while (!stop.get()) {
      rig.refresh();
      Found found = rig.read(rig.object("o" + which.nextInt(10), 50), which.nextInt(50));
      // A seal that does not fit would mean that a region was written again.
      assertThat(found).isIn(Found.RIGHT, Found.ABSENT);
      right += found == Found.RIGHT ? 1 : 0;
    }
    return right;
  }
}
