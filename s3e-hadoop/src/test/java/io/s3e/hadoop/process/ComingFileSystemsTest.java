// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * File systems that come and go, each of another user, in a JVM of their own: one engine serves all
 * of them, and resident memory does not grow with their number, by glibc's defaults.
 *
 * <p>{@value #COUNT} set to a number opens so many, one after the other and two at once, holds
 * memory, processor time and latency to those of S3A's classic stream, and prints the figures: for
 * a quiet machine.
 */
@Slow
@Tag("any-hadoop")
class ComingFileSystemsTest {
  private static final String COUNT = "s3e.test.filesystems";
  private static final int COUNT_OF_A_BUILD = 60;
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** An eighth of a heap of 256 MiB, which is the least that there is. */
  private static final long BUDGET_KIB = 64 << 10;

  /** What S3E may take beside its budget. */
  private static final long MARGIN_KIB = 64 << 10;

  /** When all classes are loaded and the budget is used. */
  private static final int WARM = 20;

  /** A heap that was not collected yet, and the work of compilers. */
  private static final long GROWTH_KIB = 48 << 10;

  private record Figures(
      Map<Integer, Long> residentKib, int engines, long p99Micros, long processorMillis) {
    long mostKib() {
      return residentKib.values().stream().mapToLong(Long::longValue).max().orElseThrow();
    }
  }

  @BeforeAll
  static void put() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/status")), "a look at resident memory");
    S3AServer.createBucket(ComingReader.BUCKET);
    URI root = URI.create("s3a://" + ComingReader.BUCKET);
    try (FileSystem fileSystem = FileSystem.newInstance(root, S3AServer.s3a(S3AServer.endpoint()));
        OutputStream out =
            fileSystem.create(new org.apache.hadoop.fs.Path("/" + ComingReader.OBJECT))) {
      out.write(new byte[ComingReader.SIZE]);
    }
  }

  private static Figures run(Class<? extends FileSystem> type, int count, int atOnce)
      throws Exception {
    try (ForkedJvm jvm =
        ForkedJvm.of(ComingReader.class.getName())
            .unverified()
            .options("-Xmx256m", "-XX:TieredStopAtLevel=4")
            .start(
                S3AServer.endpoint().toString(),
                type.getName(),
                Integer.toString(count),
                Integer.toString(atOnce))) {
      List<String> before = new ArrayList<>();
      int engines = Integer.parseInt(jvm.await(ComingReader.ENGINES, before, PATIENCE));
      long p99 = Long.parseLong(jvm.await(ComingReader.P99));
      long processor = Long.parseLong(jvm.await(ComingReader.PROCESSOR));
      jvm.awaitEnd();
      assertThat(jvm.exitCode()).isZero();
      Map<Integer, Long> resident = new TreeMap<>();
      for (String line : before) {
        if (line.startsWith(ComingReader.RESIDENT)) {
          String[] words = line.split(" ");
          resident.put(Integer.valueOf(words[1]), Long.valueOf(words[2]));
        }
      }
      return new Figures(resident, engines, p99, processor);
    }
  }

  @Test
  void oneEngineServesThemAllAndMemoryDoesNotGrow() throws Exception {
    Figures figures = run(S3EFileSystem.class, COUNT_OF_A_BUILD, 1);
    assertThat(figures.engines()).as("engines").isEqualTo(1);
    long warm = figures.residentKib().get(WARM);
    assertThat(figures.mostKib() - warm)
        .as("growth of resident memory, in KiB: %s", figures.residentKib())
        .isLessThan(GROWTH_KIB);
  }

  @Test
  void theyTakeLittleMoreThanClassic() throws Exception {
    int count = Integer.getInteger(COUNT, 0);
    assumeTrue(count > 0, COUNT + " is not set");
    for (int atOnce : new int[] {1, 2}) {
      Figures classic = run(S3AFileSystem.class, count, atOnce);
      Figures s3e = run(S3EFileSystem.class, count, atOnce);
      System.out.printf(
          "%d file systems, %d at once: classic %s%nS3E %s%n", count, atOnce, classic, s3e);
      assertThat(s3e.mostKib()).isLessThan(classic.mostKib() + BUDGET_KIB + MARGIN_KIB);
      assertThat(s3e.processorMillis()).isLessThan(classic.processorMillis() * 6 / 5);
      assertThat(s3e.p99Micros()).isLessThan(classic.p99Micros() * 13 / 10);
    }
  }
}
