// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.plain;

import io.s3e.bench.data.ObjectSlice;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Copies of objects in local files, for {@link PlainFileSystem}: made once of each slice, out of
 * the reference file that the objects' bytes are compared with. They are files of their own, for
 * that one is mapped by the processes that compare, and pages that are mapped cannot be dropped.
 * One thread.
 */
public final class LocalCopies {

  private final Path directory;
  private final Set<ObjectSlice> made = new HashSet<>();

  /**
   * @param directory where the files go; created if need be
   */
  public LocalCopies(Path directory) {
    this.directory = directory;
  }

  /** Where they are. */
  public Path directory() {
    return directory;
  }

  /** The file of an object. */
  static Path file(Path directory, URI object) {
    return directory.resolve(object.getPath().substring(1));
  }

  /** Copies those of the slices that are not there yet. */
  public void add(List<ObjectSlice> slices, Path reference) throws IOException {
    try (FileChannel from = FileChannel.open(reference)) {
      for (ObjectSlice slice : slices) {
        if (made.add(slice)) {
          copy(from, slice);
        }
      }
    }
  }

  private void copy(FileChannel from, ObjectSlice slice) throws IOException {
    URI object = new org.apache.hadoop.fs.Path(slice.uri()).toUri();
    Path file = file(directory, object);
    Files.createDirectories(file.resolveSibling(""));
    try (FileChannel to =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (long done = 0; done < slice.length(); ) {
        to.position(slice.position() + done);
        long piece = from.transferTo(slice.reference() + done, slice.length() - done, to);
        if (piece <= 0) {
          throw new IOException("The reference file ends within " + slice);
        }
        done += piece;
      }
      // So that the kernel does not write them while others are measured.
      to.force(false);
    }
  }
}
