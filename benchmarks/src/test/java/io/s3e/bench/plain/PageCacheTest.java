package io.s3e.bench.plain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
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

    PageCache.drop(temp);

    assertThat(PageCache.residentShare(files)).isZero();
    assertThat(files.get(0)).hasBinaryContent(content);
    assertThat(files.get(1)).hasSize(10);
  }

  @Test
  void whereThereIsNothingNothingIsDropped() throws Exception {
    PageCache.drop(temp.resolve("missing"));
    PageCache.drop(temp);

    assertThat(PageCache.residentShare(List.of(temp.resolve("missing")))).isZero();
    assertThat(temp).isEmptyDirectory();
  }
}
