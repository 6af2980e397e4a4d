package io.s3e.disk;

import static io.s3e.disk.TestBlocks.block;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.testing.Seed;
import io.s3e.testing.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

class PrivateShelfTest {
  private static final long FILE = DiskBlockId.BLOCK_BYTES;
  private static final int FULL = 0xFFFF;

  private final List<DiskBlockId> evicted = new ArrayList<>();
  private final DiskMetrics metrics = new DiskMetrics();

  @Test
  void capacityHoldsAndEveryVictimIsDeleted() {
    PrivateShelf shelf = new PrivateShelf(10 * FILE, metrics, evicted::add);
    for (int i = 0; i < 100; i++) {
      shelf.written(block(i), FULL, FILE);
      assertThat(shelf.bytes()).isLessThanOrEqualTo(10 * FILE);
    }
    assertThat(shelf.bytes()).isEqualTo(10 * FILE);
    assertThat(evicted).hasSize(90).doesNotHaveDuplicates();
    assertThat(metrics.get(Counter.EVICTIONS)).isEqualTo(90);
    assertThat(metrics.get(Counter.EVICTED_BYTES)).isEqualTo(90 * FILE);
    assertThat(evicted).allSatisfy(id -> assertThat(shelf.believed(id)).isZero());
  }

  @Test
  void weighsWhatFilesTakeOnDisk() {
    PrivateShelf shelf = new PrivateShelf(10 * FILE, metrics, evicted::add);
    for (int i = 0; i < 100; i++) {
      shelf.written(block(i), 0b1, FILE / 10);
    }
    assertThat(evicted).isEmpty();
    assertThat(shelf.bytes()).isEqualTo(100 * (FILE / 10));
    shelf.written(block(0), FULL, FILE);
    assertThat(shelf.bytes()).as("room for what grew").isLessThanOrEqualTo(10 * FILE);
  }

  @Test
  void aScanDoesNotFlushWhatIsUsed() {
    PrivateShelf shelf = new PrivateShelf(100 * FILE, metrics, evicted::add);
    for (int i = 0; i < 50; i++) {
      shelf.written(block(i), FULL, FILE);
    }
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 50; i++) {
        shelf.used(block(i));
      }
    }
    for (int i = 1000; i < 3000; i++) {
      shelf.written(block(i), FULL, FILE);
    }
    long kept = 0;
    for (int i = 0; i < 50; i++) {
      kept += shelf.believed(block(i)) == FULL ? 1 : 0;
    }
    assertThat(kept).as("of 50 that were used").isGreaterThanOrEqualTo(45);
  }

  @Test
  void askingIsNoUse() {
    PrivateShelf asked = new PrivateShelf(100 * FILE, metrics, evicted::add);
    for (int i = 0; i < 100; i++) {
      asked.written(block(i), FULL, FILE);
    }
    for (int round = 0; round < 50; round++) {
      assertThat(asked.believed(block(0))).isEqualTo(FULL);
    }
    for (int i = 1; i < 100; i++) {
      asked.used(block(i));
      asked.used(block(i));
    }
    for (int i = 200; i < 260; i++) {
      asked.written(block(i), FULL, FILE);
      asked.used(block(i));
      asked.used(block(i));
    }
    assertThat(asked.believed(block(0))).as("asked for only").isZero();
  }

  @Test
  void aSmallerCapacityEvictsAtOnce() {
    PrivateShelf shelf = new PrivateShelf(100 * FILE, metrics, evicted::add);
    for (int i = 0; i < 100; i++) {
      shelf.written(block(i), FULL, FILE);
    }
    shelf.setCapacity(20 * FILE);
    assertThat(shelf.bytes()).isLessThanOrEqualTo(20 * FILE);
    assertThat(evicted).hasSize(80);
    assertThat(shelf.hasRoomFor(21 * FILE)).isFalse();
  }

  @Test
  void noCapacityHasNoRoom() {
    PrivateShelf shelf = new PrivateShelf(0, metrics, evicted::add);
    assertThat(shelf.hasRoomFor(1)).isFalse();
  }

  @Test
  void victimsAreDeletedOutsideOfAllLocks() {
    List<Integer> seen = new ArrayList<>();
    PrivateShelf[] shelf = new PrivateShelf[1];
    shelf[0] =
        new PrivateShelf(
            2 * FILE,
            metrics,
            id -> {
              seen.add(shelf[0].believed(id));
              shelf[0].gone(id);
            });
    for (int i = 0; i < 10; i++) {
      shelf[0].written(block(i), FULL, FILE);
    }
    assertThat(seen).hasSize(8).containsOnly(0);
  }

  @Test
  void whatIsGoneIsNoVictim() {
    PrivateShelf shelf = new PrivateShelf(10 * FILE, metrics, evicted::add);
    shelf.written(block(0), FULL, FILE);
    shelf.gone(block(0));
    shelf.close();
    assertThat(evicted).isEmpty();
    assertThat(shelf.bytes()).isZero();
  }

  @Test
  void inARaceEveryFileIsEitherBelievedOrDeleted() throws Exception {
    Map<DiskBlockId, Boolean> onDisk = new ConcurrentHashMap<>();
    PrivateShelf shelf = new PrivateShelf(20 * FILE, metrics, onDisk::remove);
    long seed = Seed.draw();
    Threads.run(
        4,
        seed,
        (thread, random) -> {
          for (int i = 0; i < 5_000; i++) {
            // Each block is written by one thread, as the queue hands it to one writer.
            DiskBlockId id = block(random.nextInt(100) * 4L + thread);
            if (random.nextInt(3) == 0) {
              shelf.used(block(random.nextInt(400)));
            } else if (shelf.believed(id) == 0 && onDisk.put(id, true) == null) {
              shelf.written(id, FULL, FILE);
            }
          }
        });
    shelf.setCapacity(20 * FILE);
    assertThat(shelf.bytes()).isLessThanOrEqualTo(20 * FILE);
    for (long i = 0; i < 400; i++) {
      assertThat(shelf.believed(block(i)) == FULL)
          .as("block %d, seed %d", i, seed)
          .isEqualTo(onDisk.containsKey(block(i)));
    }
  }
}
