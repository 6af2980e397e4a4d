// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Options of {@code bench} about what is read again: memory, the disk, and JVMs that share it. */
final class CacheOptions {

  private static final String MEMORY_BUDGET = "fs.s3a.s3e.memory.budget";

  @Option(
      names = "--memory-budget",
      paramLabel = "MIB",
      showDefaultValue = Visibility.NEVER,
      description = {
        "S3E's memory budget, instead of an eighth of the heap. Passes over more than that",
        "are about the disk, over less about memory."
      })
  private @Nullable Long memoryMebibytes;

  @Option(
      names = "--drop-page-cache",
      description = {
        "Drop what is on disk from the page cache before every pass, so that it is read from the"
            + " device. Needs dd and sync of GNU coreutils."
      })
  private boolean pageCacheDropped;

  @Option(
      names = "--stagger",
      paramLabel = "S",
      defaultValue = "0",
      description = "How much later each JVM of share-N begins than the one before.")
  private double staggerSeconds;

  boolean pageCacheDropped() {
    return pageCacheDropped;
  }

  /**
   * @throws IllegalArgumentException when it is negative
   */
  Duration stagger() {
    if (staggerSeconds < 0) {
      throw new IllegalArgumentException("--stagger must not be negative");
    }
    return Duration.ofMillis(Math.round(staggerSeconds * 1e3));
  }

  /**
   * Configuration entries for every engine; a user's own come on top.
   *
   * @throws IllegalArgumentException when the budget is not positive
   */
  Map<String, String> hadoop() {
    if (memoryMebibytes == null) {
      return Map.of();
    }
    if (memoryMebibytes < 1) {
      throw new IllegalArgumentException("--memory-budget must be positive");
    }
    return Map.of(MEMORY_BUDGET, memoryMebibytes + "M");
  }
}
