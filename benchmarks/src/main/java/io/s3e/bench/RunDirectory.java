// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * The directory of everything that a run needs and nobody wants afterwards: data, the server's
 * objects, logs, temporary files. {@link #close} deletes it; so does the end of the JVM, unless it
 * is killed without a chance to.
 */
final class RunDirectory implements AutoCloseable {

  private final Path path;
  private final Thread atExit;

  /**
   * @param parent where to create it; null for the system's temporary directory
   */
  RunDirectory(@Nullable Path parent) throws IOException {
    // S3Proxy loses the parts of uploads where it is given a path that is not absolute.
    path =
        parent == null
            ? createWhereAttributesWork()
            : create(Files.createDirectories(parent.toAbsolutePath()));
    for (String name : new String[] {"data", "objects", "cache", "tmp", "logs"}) {
      Files.createDirectory(path.resolve(name));
    }
    atExit = new Thread(this::deleteAtExit, "delete-run-directory");
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  private static Path create(Path parent) throws IOException {
    return Files.createTempDirectory(parent, "s3e-bench-");
  }

  /**
   * In the temporary directory, or, where that cannot hold the attributes in which S3Proxy keeps
   * ETags (tmpfs before Linux 6.6), in the working directory.
   */
  private static Path createWhereAttributesWork() throws IOException {
    Path temporary = Files.createTempDirectory("s3e-bench-");
    try {
      Files.setAttribute(temporary, "user:s3e", ByteBuffer.wrap(new byte[1]));
      return temporary;
    } catch (IOException | UnsupportedOperationException noAttributes) {
      Files.delete(temporary);
      return create(Path.of("").toAbsolutePath());
    }
  }

  /** The data as it was generated, or as it was first read: what is compared with. */
  Path data() {
    return path.resolve("data");
  }

  /** The server's objects. */
  Path objects() {
    return path.resolve("objects");
  }

  /** Caches on disk, one a run, and what they are measured against. */
  Path cache() {
    return path.resolve("cache");
  }

  /** Temporary files of all processes. */
  Path tmp() {
    return path.resolve("tmp");
  }

  /** Standard error of the child processes. */
  Path logs() {
    return path.resolve("logs");
  }

  private void deleteAtExit() {
    try {
      delete(path);
    } catch (IOException e) {
      System.err.println("Could not delete " + path + ": " + e);
    }
  }

  /** Deletes a directory and what is in it, if it is there. */
  static void delete(Path path) throws IOException {
    if (!Files.exists(path)) {
      return;
    }
    Files.walkFileTree(
        path,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException gone) {
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e)
              throws IOException {
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  @Override
  public void close() throws IOException {
    Runtime.getRuntime().removeShutdownHook(atExit);
    delete(path);
  }
}
