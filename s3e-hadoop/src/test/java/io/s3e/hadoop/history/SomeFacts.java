// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.history;

import io.s3e.hadoop.history.JobFacts.Run;
import io.s3e.hadoop.history.TableFacts.Scan;
import io.s3e.hadoop.history.TableFacts.Shape;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/** Facts by chance. */
final class SomeFacts {
  private SomeFacts() {}

  static JobFacts of(Random random, String job) {
    List<TableFacts> tables = new ArrayList<>();
    for (int i = 0; i < random.nextInt(4); i++) {
      tables.add(table(random, "bucket/t" + i));
    }
    return new JobFacts(job, "", runs(random, 1 + random.nextInt(20)), tables);
  }

  static List<Run> runs(Random random, int parts) {
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < parts; i++) {
      int id = random.nextInt(13);
      runs.add(new Run("run-" + id, "part-" + i, id * 100L + i, blocked(random), blocked(random)));
    }
    return runs;
  }

  private static Blocked blocked(Random random) {
    Blocked sum = Blocked.NONE;
    for (int i = 0; i < random.nextInt(5); i++) {
      sum = sum.plus(Blocked.task(random.nextInt(64) / 16.0));
    }
    return sum;
  }

  static TableFacts table(Random random, String place) {
    List<Shape> files = new ArrayList<>();
    for (int i = 0; i < random.nextInt(4); i++) {
      long start = random.nextInt(1000);
      files.add(new Shape(5000, 4000, List.of(start, start + 1000, start + 1001, start + 2000)));
    }
    List<Scan> scans = new ArrayList<>();
    for (int i = 0; i < random.nextInt(4); i++) {
      scans.add(new Scan(random.nextLong(), columns(random, 4)));
    }
    return new TableFacts(place, random.nextInt(), 1 + random.nextInt(9999), files, scans);
  }

  private static String columns(Random random, int bytes) {
    byte[] bits = new byte[bytes];
    random.nextBytes(bits);
    bits[bytes - 1] |= 1;
    return HexFormat.of().formatHex(bits);
  }

  /** As much as one table may have. */
  static TableFacts widest(Random random, String place, long millis) {
    List<Shape> files = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      List<Long> bounds = new ArrayList<>();
      for (int range = 0; range < 16; range++) {
        bounds.add((1L << 60) + 2 * range);
        bounds.add((1L << 60) + 2 * range + 1);
      }
      files.add(new Shape((1L << 61) + i, 1L << 61, bounds));
    }
    List<Scan> scans = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      scans.add(new Scan(random.nextLong(), columns(random, 1024)));
    }
    return new TableFacts(place, millis, 1 << 20, files, scans);
  }
}
