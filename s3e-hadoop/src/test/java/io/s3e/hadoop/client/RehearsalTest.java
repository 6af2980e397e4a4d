// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.ForkedJvm;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In a JVM of its own: the rehearsal is once for a JVM, and other tests load classes too. */
@Slow
class RehearsalTest {
  @TempDir private Path directory;

  /** The program. */
  public static final class Program {
    private Program() {}

    public static void main(String[] args) {
      System.out.println("begun");
      Rehearsal.once();
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().startsWith("s3e-") && !thread.isDaemon()) {
          System.out.println("left " + thread.getName());
        }
      }
      System.out.println("rehearsed");
    }
  }

  @Test
  void theClassesOfAReadAreLoadedAndNothingIsLeft() throws Exception {
    try (ForkedJvm jvm =
        ForkedJvm.of(Program.class.getName())
            .options("-verbose:class", "-Djava.io.tmpdir=" + directory)
            .in(directory)
            .start()) {
      jvm.awaitEnd();
      List<String> said = jvm.rest();
      assertThat(jvm.exitCode()).isZero();
      assertThat(said).contains("rehearsed").noneMatch(line -> line.startsWith("left "));
      for (String name :
          List.of("fetch.RunFetch", "fetch.Landing", "memory.Slab", "prefetch.Windows")) {
        assertThat(said).anyMatch(line -> line.contains("io.s3e." + name + " "));
      }
    }
  }
}
