// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The regions that one engine has for itself: files without names. The kernel frees them however
 * the JVM ends, nobody else can open them, and what happens to the directory does not concern them.
 *
 * @param mostEntries that the index has room for, of all of them
 */
record PrivateRegions(
    DiskIo io, Path directory, @Nullable CacheKey key, Layout layout, long mostEntries)
    implements Regions.Maker {

  @Override
  public Region make(int number) throws IOException {
    // Cleaners of temporary files delete directories that look empty.
    OpenFile file = io.createUnlinked(DirectoryGuard.realDirectory(directory));
    int most = (int) Math.min(layout.mostChunks(), mostEntries / layout.regions());
    return new Region(layout.newRegion(number, System.nanoTime()), most, file, 0, null, key);
  }
}
