// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.plain;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Drops files from the kernel's page cache, so that the next reads come from the device. Java
 * cannot call {@code posix_fadvise}; {@code dd iflag=nocache count=0} of GNU coreutils does nothing
 * else, and {@code sync -d} writes what is dirty first, for dirty pages are not dropped. Nobody
 * needs to be root. Whether pages have gone is looked up afterwards ({@code mincore}, through
 * {@link java.nio.MappedByteBuffer#isLoaded}): a kernel may keep them, and does while a process
 * maps them.
 */
public final class PageCache {

  /** Pages in the cache are looked for once in so many bytes. */
  private static final long SAMPLE_DISTANCE = 1 << 20;

  private static final long SAMPLE_BYTES = 4 << 10;

  /** The share of pages that may stay, for somebody may have written while pages were dropped. */
  private static final double MOST_LEFT = 0.05;

  /** A cache still writes for a moment what the pass before has brought. */
  private static final int ATTEMPTS = 3;

  /** The kernel's word behind the former path of an open file without a name. */
  private static final String NAMELESS = " (deleted)";

  private static final int FILES_A_COMMAND = 256;
  private static final long PATIENCE_SECONDS = 120;

  private PageCache() {}

  /**
   * Finds out whether pages can be dropped here at all, before anybody relies on it.
   *
   * @param directory of the file system in question; a file comes and goes in it
   * @throws IOException if they stay, which says what dropping needs
   */
  public static void check(Path directory) throws IOException, InterruptedException {
    Path probe = Files.createTempDirectory(directory, "page-cache-");
    Path file = probe.resolve("probe");
    try {
      Files.write(file, new byte[1 << 20]);
      drop(probe, List.of());
    } finally {
      Files.deleteIfExists(file);
      Files.delete(probe);
    }
  }

  /**
   * Drops all files below a directory, those without a name among them: a private cache has only
   * such.
   *
   * @param processes by their ids, whose open files may lie there without a name
   * @throws IOException if more than a twentieth of the pages stay, which says what dropping needs
   */
  public static void drop(Path directory, List<Long> processes)
      throws IOException, InterruptedException {
    List<Path> files = files(directory);
    for (long process : processes) {
      files.addAll(nameless(directory, process));
    }
    double left = 1;
    for (int attempt = 0; attempt < ATTEMPTS && left > MOST_LEFT; attempt++) {
      for (int first = 0; first < files.size(); first += FILES_A_COMMAND) {
        drop(files.subList(first, Math.min(files.size(), first + FILES_A_COMMAND)));
      }
      left = residentShare(files);
    }
    if (left > MOST_LEFT) {
      throw new IOException(
          "%.0f %% of the pages of %s stay in the page cache: dropping them needs sync and dd of GNU coreutils, and a file system and kernel that heed posix_fadvise"
              .formatted(100 * left, directory));
    }
  }

  /** The regular files below a directory; those that vanish meanwhile may be among them. */
  private static List<Path> files(Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    if (!Files.isDirectory(directory)) {
      return files;
    }
    try (Stream<Path> tree =
        Files.find(directory, Integer.MAX_VALUE, (p, a) -> a.isRegularFile())) {
      tree.forEach(files::add);
    } catch (java.io.UncheckedIOException vanished) {
      throw vanished.getCause();
    }
    return files;
  }

  /**
   * The descriptors of a process's files that had their names in a directory; they open as files.
   */
  private static List<Path> nameless(Path directory, long process) throws IOException {
    Path descriptors = Path.of("/proc", Long.toString(process), "fd");
    if (!Files.isDirectory(directory) || !Files.isDirectory(descriptors)) {
      return List.of();
    }
    Path real = directory.toRealPath();
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> open = Files.newDirectoryStream(descriptors)) {
      for (Path descriptor : open) {
        if (isNamelessIn(real, descriptor)) {
          files.add(descriptor);
        }
      }
    }
    return files;
  }

  private static boolean isNamelessIn(Path directory, Path descriptor) throws IOException {
    try {
      Path former = Files.readSymbolicLink(descriptor);
      return former.startsWith(directory) && former.toString().endsWith(NAMELESS);
    } catch (NoSuchFileException closed) {
      return false;
    }
  }

  /** A file that has vanished is no failure; what has not been dropped is found out afterwards. */
  private static void drop(List<Path> files) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("sh", "-c", SCRIPT, "sh"));
    files.forEach(file -> command.add(file.toString()));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .start();
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException("Dropping pages took more than " + PATIENCE_SECONDS + " s");
    }
  }

  private static final String SCRIPT =
      "sync -d \"$@\"; for f in \"$@\"; do dd if=\"$f\" iflag=nocache count=0; done";

  /** How much of the files is in the page cache, by samples. */
  static double residentShare(List<Path> files) throws IOException {
    long samples = 0;
    long resident = 0;
    for (Path file : files) {
      try (FileChannel channel = FileChannel.open(file)) {
        long size = channel.size();
        for (long at = 0; at < size; at += SAMPLE_DISTANCE) {
          long bytes = Math.min(SAMPLE_BYTES, size - at);
          samples++;
          if (channel.map(FileChannel.MapMode.READ_ONLY, at, bytes).isLoaded()) {
            resident++;
          }
        }
      } catch (NoSuchFileException vanished) {
        // Evicted or replaced meanwhile: nothing of it is left to be read.
        continue;
      }
    }
    return samples == 0 ? 0 : (double) resident / samples;
  }
}
