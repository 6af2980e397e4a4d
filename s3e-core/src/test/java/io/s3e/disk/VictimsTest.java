package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.Seed;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Who goes when a shared directory is too full. */
class VictimsTest {
  private final List<DiskIo.Entry> files = new ArrayList<>();

  private void unread(String name, long bytes, long writtenMillis) {
    files.add(
        new DiskIo.Entry(Path.of(name), true, false, bytes, writtenMillis, writtenMillis - 1));
  }

  private void used(String name, long bytes, long writtenMillis, long usedMillis) {
    files.add(new DiskIo.Entry(Path.of(name), true, false, bytes, writtenMillis, usedMillis));
  }

  private List<String> victims(long bytes, long capacity) {
    Victims.Census census = new Victims.Census();
    files.forEach(census::count);
    Victims victims = census.victims(bytes, capacity);
    files.forEach(victims::offer);
    return victims.chosen().stream().map(victim -> victim.path().toString()).toList();
  }

  @Test
  void whatWasNeverReadGoesFirstInFirstOut() {
    used("used long ago", 10, 1, 2);
    unread("third", 10, 30);
    unread("first", 10, 10);
    unread("second", 10, 20);
    assertThat(victims(15, 20)).containsExactly("first", "second");
    assertThat(victims(0, 20)).isEmpty();
  }

  @Test
  void whatWasUsedGoesByItsLastUseOnceTheUnreadTakeNoMoreThanAFifth() {
    unread("unread", 20, 5);
    used("a", 30, 1, 300);
    used("b", 30, 2, 100);
    used("c", 30, 3, 200);
    assertThat(victims(10, 100)).containsExactly("b");
    assertThat(victims(50, 100)).containsExactly("b", "c");
    assertThat(victims(10, 99)).containsExactly("unread", "b");
  }

  @Test
  void ifNothingElseIsThereTheUnreadGo() {
    unread("a", 20, 5);
    assertThat(victims(10, 100)).containsExactly("a");
    assertThat(victims(1000, 100)).containsExactly("a");
  }

  @Test
  void aScanLeavesWhatIsUsed() {
    for (int i = 0; i < 80; i++) {
      used("used " + i, 1, i, 1000 + i);
    }
    for (int i = 0; i < 1000; i++) {
      unread("scan " + i, 1, 5000 + i);
    }
    assertThat(victims(980, 100))
        .hasSize(980)
        .allMatch(name -> name.startsWith("scan "))
        .doesNotContain("scan 999", "scan 980")
        .contains("scan 979");
  }

  @Test
  void takesTheOldestThatSuffice() {
    long seed = Seed.draw();
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      files.clear();
      long total = 0;
      for (int i = 0; i < 50; i++) {
        long bytes = 1 + random.nextInt(10);
        total += bytes;
        unread(String.valueOf(i), bytes, random.nextInt(100));
      }
      long wanted = random.nextInt((int) total) + 1L;
      Victims.Census census = new Victims.Census();
      files.forEach(census::count);
      Victims victims = census.victims(wanted, 0);
      files.forEach(victims::offer);
      List<Victims.Victim> chosen = victims.chosen();
      long freed = chosen.stream().mapToLong(Victims.Victim::bytes).sum();
      long last = written(chosen.get(chosen.size() - 1).path());
      assertThat(freed).as("seed %d", seed).isBetween(wanted, wanted + 9);
      assertThat(files)
          .as("seed %d", seed)
          .allMatch(
              file ->
                  file.writtenMillis() >= last
                      || chosen.contains(new Victims.Victim(file.path(), file.bytes())));
    }
  }

  private long written(Path path) {
    return files.stream()
        .filter(file -> file.path().equals(path))
        .findAny()
        .orElseThrow()
        .writtenMillis();
  }

  @Test
  void watermarks() {
    long gib = 1L << 30;
    assertThat(Housekeeping.excess(gib * 95 / 100, gib, 1)).isZero();
    assertThat(Housekeeping.excess(gib * 95 / 100 + 2, gib, 1)).isBetween(gib / 20, gib / 20 + 4);
    assertThat(Housekeeping.excess(gib, gib, 1)).isBetween(gib / 10, gib / 10 + 1);
    assertThat(Housekeeping.excess(0, 0, 1)).isZero();
    assertThat(Housekeeping.excess(5, 0, 1)).isEqualTo(5);
  }

  @Test
  void manyProcessesInASmallCacheGetRoomForAFileEach() {
    long mib = 1L << 20;
    assertThat(Housekeeping.excess(160 * mib, 200 * mib, 9)).isZero();
    assertThat(Housekeeping.excess(161 * mib, 200 * mib, 9)).isEqualTo(41 * mib);
    assertThat(Housekeeping.excess(101 * mib, 200 * mib, 1000)).isEqualTo(mib);
    assertThat(Housekeeping.excess(100 * mib, 200 * mib, 1000)).isZero();
  }
}
