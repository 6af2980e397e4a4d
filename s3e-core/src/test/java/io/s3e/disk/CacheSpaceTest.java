package io.s3e.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.disk.FaultyDiskIo.Failure;
import io.s3e.disk.FaultyDiskIo.Operation;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How much a directory may hold. */
class CacheSpaceTest {
  @TempDir Path directory;

  private final FaultyDiskIo disk = new FaultyDiskIo(new NioDiskIo());
  private long total;
  private long inodes = FreeInodes.UNKNOWN;

  private CacheSpace space(long capacity) {
    DiskCacheConfig config = CacheTenant.config(directory, DiskCacheConfig.Scope.HOST, capacity);
    return new CacheSpace(disk, directory, config, () -> total, () -> inodes);
  }

  private long usable() throws IOException {
    return disk.usableBytes(directory);
  }

  @Test
  void theCapHolds() throws IOException {
    CacheSpace space = space(4096);
    assertThat(space.mayWrite()).as("before it was asked").isFalse();
    assertThat(space.refresh(0)).isEqualTo(4096);
    assertThat(space.capacity()).isEqualTo(4096);
    assertThat(space.mayWrite()).isTrue();
  }

  @Test
  void freeInodesBound() throws IOException {
    inodes = 1000;
    assertThat(space(0).refresh(0)).isEqualTo(1000 * CacheSpace.BYTES_PER_INODE);
    inodes = 0;
    CacheSpace space = space(0);
    assertThat(space.refresh(0)).isZero();
    assertThat(space.mayWrite()).isFalse();
  }

  @Test
  void nothingIsWrittenWhereLessThanATwentiethIsUsable() throws IOException {
    CacheSpace space = space(4096);
    total = usable() * 25;
    space.refresh(0);
    assertThat(space.mayWrite()).isFalse();
    total = usable() * 15;
    space.refresh(0);
    assertThat(space.mayWrite()).isTrue();
  }

  @Test
  void nothingIsWrittenWhereTheFileSystemDoesNotAnswer() throws IOException {
    CacheSpace space = space(4096);
    space.refresh(0);
    disk.failEvery(Operation.USABLE_BYTES, Failure.EIO);
    assertThatThrownBy(() -> space.refresh(0)).hasMessageContaining("Input/output error");
    assertThat(space.mayWrite()).isFalse();
    disk.heal();
    space.refresh(0);
    assertThat(space.mayWrite()).isTrue();
  }

  @Test
  void inodesAreCountedWhereTheFileSystemHasACount() {
    assertThat(FreeInodes.parse("100 40\n")).isEqualTo(40);
    assertThat(FreeInodes.parse("100 0\n")).isZero();
    assertThat(FreeInodes.parse("0 0\n")).isEqualTo(FreeInodes.UNKNOWN);
    assertThat(FreeInodes.parse("")).isEqualTo(FreeInodes.UNKNOWN);
    assertThat(FreeInodes.parse("stat: what?\n")).isEqualTo(FreeInodes.UNKNOWN);
    assertThat(new FreeInodes(directory).getAsLong()).isGreaterThanOrEqualTo(FreeInodes.UNKNOWN);
    assertThat(new FreeInodes(directory.resolve("nothing")).getAsLong())
        .isEqualTo(FreeInodes.UNKNOWN);
  }
}
