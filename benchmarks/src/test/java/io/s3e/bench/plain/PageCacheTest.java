// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.plain;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageCacheTest {

  @TempDir private Path temp;

  private static boolean canDrop(Path directory) throws InterruptedException {
    try {
      PageCache.check(directory);
      return true;
    } catch (IOException noTools) {
      return false;
    }
  }

  @Test
  void pagesAreGoneAndTheBytesAreNot() throws Exception {
    assumeTrue(canDrop(temp), "a file system with a page cache, and dd and sync of GNU coreutils");
    byte[] content = new byte[3_000_000];
    content[2_999_999] = 7;
    Path below = Files.createDirectories(temp.resolve("a name with spaces/and 'quotes'"));
    List<Path> files =
        List.of(
            Files.write(below.resolve("one"), content),
            Files.write(temp.resolve("two"), new byte[10]));
    assertThat(PageCache.residentShare(files)).as("just written").isEqualTo(1);

    PageCache.drop(temp, List.of());

    assertThat(PageCache.residentShare(files)).isZero();
    assertThat(files.get(0)).hasBinaryContent(content);
    assertThat(files.get(1)).hasSize(10);
  }

  /** A private cache has files without a name, which other processes reach by its descriptors. */
  @Test
  void pagesOfFilesWithoutANameAreGoneToo() throws Exception {
    assumeTrue(canDrop(temp), "a file system with a page cache, and dd and sync of GNU coreutils");
    Path file = temp.resolve("a name with spaces");
    try (FileChannel channel = FileChannel.open(file, CREATE_NEW, READ, WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[3_000_000]));
      Files.delete(file);
      assertThat(isFirstPageLoaded(channel)).as("just written").isTrue();

      PageCache.drop(temp, List.of());
      assertThat(isFirstPageLoaded(channel)).as("not known by a name").isTrue();
      PageCache.drop(temp, List.of(ProcessHandle.current().pid()));
      assertThat(isFirstPageLoaded(channel)).isFalse();
    }
  }

  private static boolean isFirstPageLoaded(FileChannel channel) throws IOException {
    return channel.map(FileChannel.MapMode.READ_ONLY, 0, 4096).isLoaded();
  }

  @Test
  void whereThereIsNothingNothingIsDropped() throws Exception {
    List<Long> processes = List.of(ProcessHandle.current().pid());
    PageCache.drop(temp.resolve("missing"), processes);
    PageCache.drop(temp, processes);

    assertThat(PageCache.residentShare(List.of(temp.resolve("missing")))).isZero();
    assertThat(temp).isEmptyDirectory();
  }
}
