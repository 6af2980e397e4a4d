// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines.inside;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.util.ShutdownHookManager;

/**
 * The bytes that the streams of this JVM have given to readers. Written to a file named after the
 * process when the JVM ends, after the hooks of the engine. Any thread.
 */
final class GivenBytes {
  private static final LongAdder COUNT = new LongAdder();

  /** Below Hadoop's own hooks, the lowest of which has 10: they run first. */
  private static final int PRIORITY = 1;

  private static boolean reporting;

  private GivenBytes() {}

  static void add(long bytes) {
    COUNT.add(bytes);
  }

  /** Leaves the count in that directory at the end; once, whoever asks first. */
  static synchronized void reportTo(String directory) throws IOException {
    if (directory.isEmpty()) {
      throw new IOException(CountedS3A.DIRECTORY + " is not set: it names the directory of counts");
    }
    if (!reporting) {
      reporting = true;
      Path file = Path.of(directory, Long.toString(ProcessHandle.current().pid()));
      ShutdownHookManager.get().addShutdownHook(() -> write(file), PRIORITY);
    }
  }

  private static void write(Path file) {
    try {
      Files.writeString(file, Long.toString(COUNT.sum()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
