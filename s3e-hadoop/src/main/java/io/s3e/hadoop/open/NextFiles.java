// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.open;

import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;

/**
 * Which file a task opens after another one, as the engine knows it that runs in this JVM. A file
 * system asks whenever it opens a file, on the thread that opens it, so the next file is announced
 * to the very file system that will read it.
 */
public final class NextFiles {
  /**
   * A file that will be opened.
   *
   * @param path as it will be opened
   * @param length in bytes, as a listing told it
   */
  public record NextFile(Path path, long length) {}

  /** The order of files of the tasks of an engine. Any thread; does not wait. */
  @FunctionalInterface
  public interface Order {
    /**
     * @param opened as the task opened it
     * @return null if nothing is known to follow, or it has been told
     */
    @Nullable NextFile after(Path opened);
  }

  private static volatile Order order = opened -> null;

  private NextFiles() {}

  /** Asks this engine from now on. */
  public static void tellBy(Order engine) {
    order = engine;
  }

  /** As {@link Order#after}. */
  public static @Nullable NextFile after(Path opened) {
    return order.after(opened);
  }
}
