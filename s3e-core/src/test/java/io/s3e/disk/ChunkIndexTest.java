// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.disk.Region.Place;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import io.s3e.testing.Threads;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ChunkIndexTest {
  private static final int CHUNK = StoredObject.CHUNK_BYTES;
  private static final int CHUNK_SLOTS = CHUNK / Region.SLOT_BYTES;

  private final ChunkIndex index = new ChunkIndex();
  private final StoredObject object = StoredBytes.object("key", 10L * CHUNK);

  private Region region(int number) {
    return StoredBytes.region(index, number, Region.MOST_BYTES >> 4, 1 << Region.SLOT_BITS);
  }

  private static Place at(
      Region region, StoredObject object, int chunk, int slot, long high, long low) {
    return new Place(object, chunk, region, slot, high, low);
  }

  private void add(Region region, int chunk, int slot) {
    assertThat(index.add(at(region, object, chunk, slot, 100 + slot, 200 + slot))).isTrue();
  }

  private Place place(int chunk) {
    Place place = index.place(object, chunk);
    assertThat(place).as("place of chunk %d", chunk).isNotNull();
    return place;
  }

  /** More entries than are forgotten at once. */
  @Test
  void longRegionsAreForgottenWhole() {
    int chunks = 10_000;
    StoredObject other = StoredBytes.object("other", (long) chunks * CHUNK);
    Region region = region(0);
    Region stays = region(1);
    for (int chunk = 0; chunk < chunks; chunk++) {
      Region in = chunk % 3 == 0 ? stays : region;
      assertThat(index.add(at(in, other, chunk, chunk * CHUNK_SLOTS, 0, 0))).isTrue();
    }
    index.forget(region);

    for (int chunk = 0; chunk < chunks; chunk++) {
      assertThat(index.place(other, chunk) != null).as("%d", chunk).isEqualTo(chunk % 3 == 0);
    }
    assertThat(region.entries).isZero();
  }

  @Test
  void aChunkIsWhereItWasAdded() {
    Region region = region(0);
    add(region, 3, 32);

    assertThat(place(3)).isEqualTo(at(region, object, 3, 32, 132, 232));
    assertThat(index.place(object, 2)).isNull();
    assertThat(index.place(StoredBytes.object("other", 10L * CHUNK), 3)).isNull();
    assertThat(region.nextSlot).isEqualTo(32 + CHUNK_SLOTS);
  }

  @Test
  void presentEndsAtTheFirstThatIsNot() {
    Region region = region(0);
    for (int chunk : new int[] {0, 1, 2, 5, 9}) {
      add(region, chunk, chunk * CHUNK_SLOTS);
    }

    assertThat(index.presentFrom(object, 0, 10)).isEqualTo(3);
    assertThat(index.presentFrom(object, 1, 2)).isEqualTo(1);
    assertThat(index.presentFrom(object, 3, 10)).isZero();
    assertThat(index.presentFrom(object, 3, 10)).isZero();
  }

  @Test
  void theLastPlaceReplacesTheOneBefore() {
    Region first = region(0);
    Region second = region(1);
    add(first, 0, 0);
    Place before = place(0);
    add(second, 0, 16);

    assertThat(place(0).region()).isSameAs(second);
    index.drop(before);
    assertThat(place(0).region()).as("place after the old one was dropped").isSameAs(second);
    index.forget(first);
    assertThat(place(0).region()).as("place after the old one's region").isSameAs(second);
  }

  @Test
  void whatIsDroppedIsGoneOnce() {
    Region region = region(0);
    add(region, 0, 0);
    add(region, 1, 16);
    Place dropped = place(0);
    assertThat(index.drop(dropped)).isTrue();
    assertThat(index.drop(dropped)).as("dropped again").isFalse();

    assertThat(index.place(object, 0)).isNull();
    assertThat(place(1).slot()).isEqualTo(16);
  }

  @Test
  void aRegionTakesItsEntriesWithIt() {
    Region region = region(0);
    add(region, 0, 0);
    add(region, 1, 16);
    Place old = place(0);
    index.forget(region);

    assertThat(index.presentFrom(object, 0, 10)).isZero();
    assertThat(index.add(old)).as("of a region that is forgotten").isFalse();
    assertThat(index.place(object, 0)).isNull();

    // Places in the region before say nothing of this one.
    Region next = region(0);
    add(next, 4, 0);
    index.drop(old);
    index.forget(region);
    assertThat(place(4).region()).isSameAs(next);
  }

  @Test
  void aNumberIsOneRegions() {
    region(2);
    assertThatThrownBy(() -> region(2)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> region(512)).isInstanceOf(IllegalArgumentException.class);
    region(0);
  }

  @Test
  @Slow
  void aRegionHasAsManyEntriesAsItMay() {
    Region region = StoredBytes.region(index, 0, Region.MOST_BYTES >> 4, 1 << Region.SLOT_BITS - 4);
    StoredObject large = StoredBytes.object("large", 1L << 40);
    for (int chunk = 0; chunk < region.slotCount(); chunk++) {
      assertThat(index.add(at(region, large, chunk, chunk, 1, 0))).isTrue();
    }

    assertThat(index.add(at(region, large, region.slotCount(), 0, 1, 0))).isFalse();
    assertThat(index.place(large, region.slotCount())).isNull();
    assertThat(index.presentFrom(large, 0, Integer.MAX_VALUE)).isEqualTo(region.slotCount());
  }

  /** Whatever is done in whatever order, the index says what a map would say. */
  @Test
  @Slow
  void randomWorkIsThatOfAMap() {
    for (int round = 0; round < 20; round++) {
      long seed = round == 0 ? SEED : SEED * 31 + round;
      new Model(seed).run(6_000);
    }
  }

  private static final long SEED = Seed.draw();

  /** A chunk with its object. */
  private record Chunk(StoredObject object, int number) {}

  /** An index beside a map. */
  private static final class Model {
    private final String what;
    private final Random random;
    private final ChunkIndex index = new ChunkIndex();
    private final List<Region> regions = new ArrayList<>();
    private final List<StoredObject> objects = new ArrayList<>();
    private final Map<Chunk, Place> places = new HashMap<>();
    private final List<Place> known = new ArrayList<>();

    Model(long seed) {
      what = "seed " + seed;
      random = new Random(seed);
      int count = 1 + random.nextInt(6);
      for (int i = 0; i < count; i++) {
        Region region = StoredBytes.region(index, i, Region.MOST_BYTES, 1 << Region.SLOT_BITS);
        regions.add(region);
      }
      for (int i = 0; i < 30; i++) {
        objects.add(StoredBytes.object("key " + i, 1 + random.nextInt(300 * CHUNK)));
      }
    }

    void run(int steps) {
      for (int step = 0; step < steps; step++) {
        switch (random.nextInt(40)) {
          case 0 -> {
            if (random.nextInt(20) == 0) {
              begin();
            }
          }
          case 1, 2, 3, 4 -> drop();
          case 10, 11, 12, 13, 14 -> look();
          default -> add();
        }
      }
      for (StoredObject object : objects) {
        for (int chunk = 0; chunk < object.chunks(); chunk++) {
          assertThat(index.place(object, chunk))
              .as(what)
              .isEqualTo(places.get(new Chunk(object, chunk)));
        }
      }
    }

    private StoredObject object() {
      return objects.get(random.nextInt(objects.size()));
    }

    private void add() {
      Region region = regions.get(random.nextInt(regions.size()));
      StoredObject object = object();
      Chunk chunk = new Chunk(object, random.nextInt(object.chunks()));
      int slot = region.nextSlot;
      // Words of 0 are as good as others.
      long high = random.nextInt(3) == 0 ? 0 : random.nextLong();
      long low = random.nextInt(3) == 0 ? 0 : random.nextLong();
      Place place = at(region, object, chunk.number(), slot, high, low);
      assertThat(index.add(place)).as(what).isTrue();
      places.put(chunk, place);
      known.add(place);
    }

    private void drop() {
      if (known.isEmpty()) {
        return;
      }
      Place place = known.get(random.nextInt(known.size()));
      index.drop(place);
      places.values().removeIf(each -> each.equals(place));
    }

    private void begin() {
      int number = random.nextInt(regions.size());
      Region region = regions.get(number);
      index.forget(region);
      places.values().removeIf(place -> place.region() == region);
      regions.set(
          number, StoredBytes.region(index, number, Region.MOST_BYTES, 1 << Region.SLOT_BITS));
    }

    private void look() {
      StoredObject object = object();
      int first = random.nextInt(object.chunks());
      int end = first + random.nextInt(object.chunks() - first + 1);
      int present = first;
      while (present < end && places.containsKey(new Chunk(object, present))) {
        present++;
      }
      assertThat(index.presentFrom(object, first, end)).as(what).isEqualTo(present - first);
    }
  }

  /**
   * Readers beside a writer that adds and gives up regions: what a reader finds at a place is what
   * was written there for that chunk.
   */
  @Test
  @Slow
  void aPlaceIsThatOfItsChunkWhateverIsForgotten() throws Exception {
    int regionCount = 4;
    int slots = 32 * CHUNK_SLOTS;
    List<Region> regions = new ArrayList<>();
    Map<Region, AtomicLongArray> disks = new ConcurrentHashMap<>();
    for (int i = 0; i < regionCount; i++) {
      regions.add(region(i));
      disks.put(regions.get(i), new AtomicLongArray(slots));
    }
    StoredObject[] objects = new StoredObject[4];
    for (int i = 0; i < objects.length; i++) {
      objects[i] = StoredBytes.object("key " + i, 50L * CHUNK);
    }
    AtomicBoolean done = new AtomicBoolean();
    AtomicLong verified = new AtomicLong();

    Threads.run(
        3,
        SEED,
        (thread, random) -> {
          if (thread > 0) {
            while (!done.get()) {
              StoredObject wanted = objects[random.nextInt(objects.length)];
              int chunk = random.nextInt(wanted.chunks());
              Place place = index.place(wanted, chunk);
              if (place != null) {
                Region region = place.region();
                if (random.nextInt(8) == 0) {
                  Thread.yield();
                }
                long found = disks.get(region).get(place.slot());
                assertThat(found).isEqualTo(place.sealHigh());
                assertThat(place.sealLow()).isEqualTo(name(wanted, chunk));
                if (random.nextInt(50) == 0) {
                  index.drop(place);
                }
                verified.incrementAndGet();
              }
            }
            return;
          }
          try {
            write(regions, disks, slots, objects, random);
          } finally {
            done.set(true);
          }
        });

    assertThat(verified).as("places that were verified").hasPositiveValue();
  }

  private void write(
      List<Region> regions,
      Map<Region, AtomicLongArray> disks,
      int slots,
      StoredObject[] objects,
      SplittableRandom random) {
    long written = 0;
    for (int step = 0; step < 200_000; step++) {
      if (step % 16 == 0) {
        Thread.yield();
      }
      Region region = regions.get(random.nextInt(regions.size()));
      int slot = region.nextSlot;
      if (slot + CHUNK_SLOTS > slots) {
        index.forget(region);
        Region next = region(region.header.number());
        disks.put(next, new AtomicLongArray(slots));
        regions.set(region.header.number(), next);
        continue;
      }
      StoredObject to = objects[random.nextInt(objects.length)];
      int chunk = random.nextInt(to.chunks());
      disks.get(region).set(slot, ++written);
      assertThat(index.add(at(region, to, chunk, slot, written, name(to, chunk)))).isTrue();
    }
  }

  private static long name(StoredObject object, int chunk) {
    return ((long) object.hashCode() << 32 | chunk) + 1;
  }
}
