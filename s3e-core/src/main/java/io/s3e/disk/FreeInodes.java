package io.s3e.disk;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How many files may still be made on a file system. Java does not say; {@code stat -f} of GNU and
 * of BusyBox does. Asked as a process, once a minute at most, and given up after {@link #DEADLINE}.
 * One thread.
 */
final class FreeInodes implements LongSupplier {
  /** Where nobody can tell, or the file system has no fixed number. */
  static final long UNKNOWN = -1;

  private static final Duration DEADLINE = Duration.ofSeconds(2);
  private static final long AGAIN_NANOS = Duration.ofMinutes(1).toNanos();
  private static final int MAX_OUTPUT = 64;

  private final Path directory;
  private boolean missing;
  private boolean asked;
  private long askedNanos;
  private long answer = UNKNOWN;

  FreeInodes(Path directory) {
    this.directory = directory;
  }

  @Override
  public long getAsLong() {
    long now = System.nanoTime();
    if (!missing && (!asked || now - askedNanos >= AGAIN_NANOS)) {
      asked = true;
      askedNanos = now;
      answer = ask();
    }
    return answer;
  }

  private long ask() {
    Process process;
    try {
      process =
          new ProcessBuilder(List.of("stat", "-f", "-c", "%c %d", directory.toString()))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      // There is no such program on this host.
      missing = true;
      return UNKNOWN;
    }
    try {
      if (!process.waitFor(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
          || process.exitValue() != 0) {
        return UNKNOWN;
      }
      try (InputStream output = process.getInputStream()) {
        return parse(new String(output.readNBytes(MAX_OUTPUT), StandardCharsets.US_ASCII));
      }
    } catch (IOException e) {
      return UNKNOWN;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return UNKNOWN;
    } finally {
      process.destroyForcibly();
    }
  }

  /** From "all free"; of 0 in all there is no count. */
  static long parse(String output) {
    String[] words = output.trim().split(" ", -1);
    try {
      long all = words.length == 2 ? Long.parseLong(words[0]) : 0;
      return all > 0 ? Math.max(0, Long.parseLong(words[1])) : UNKNOWN;
    } catch (NumberFormatException e) {
      return UNKNOWN;
    }
  }
}
