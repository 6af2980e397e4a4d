package io.s3e.disk;

import io.s3e.disk.CacheInspector.Block;
import io.s3e.disk.CacheInspector.Check;
import io.s3e.disk.CacheInspector.Finding;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;

/**
 * Looks at files without knowing which disk blocks they are of. Leaves their times as they were.
 * Any thread, each with a scratch of its own.
 */
final class BlockCheck {
  private final DiskIo io;
  private final @Nullable CacheKey key;

  BlockCheck(DiskIo io, @Nullable CacheKey key) {
    this.io = io;
    this.key = key;
  }

  /** What the header of a file says; null if it says nothing that could be right. */
  @Nullable Block describe(DiskIo.Entry entry, ByteBuffer scratch) throws IOException {
    if (!entry.isFile()) {
      return null;
    }
    try {
      ByteBuffer header = header(entry.path(), BlockScratch.of(scratch));
      BlockIdentity identity = BlockHeader.decode(header);
      if (identity == null || !isPlaceOf(entry.path(), identity)) {
        return null;
      }
      boolean encrypted = BlockHeader.claimsEncryption(header);
      int mask = encrypted ? BlockHeader.mask(header) : verifiedMask(header, identity);
      return new Block(
          entry.path(),
          identity.id(),
          Integer.bitCount(mask),
          BlockFiles.bytesOnDisk(identity.id(), mask),
          encrypted,
          entry.writtenMillis(),
          entry.usedMillis());
    } catch (NoSuchFileException | InvalidBlockException | NotRegularFileException e) {
      return null;
    } finally {
      restoreTimes(entry);
    }
  }

  private static int verifiedMask(ByteBuffer header, BlockIdentity identity)
      throws InvalidBlockException {
    try {
      return BlockHeader.verify(header, identity, null).mask();
    } catch (ChunkSeal.BrokenSealException e) {
      throw new InvalidBlockException(Path.of(identity.name()), e.reason());
    }
  }

  /**
   * Checks every byte of a file.
   *
   * @param keyed whether the key, if there is one, may be that of the file
   * @return null if it has vanished
   */
  @Nullable Check check(DiskIo.Entry entry, boolean keyed, ByteBuffer scratch) {
    try {
      if (!entry.isFile()) {
        return corrupt(entry, "not a regular file");
      }
      BlockScratch parts = BlockScratch.of(scratch);
      boolean encrypted = BlockHeader.claimsEncryption(header(entry.path(), parts));
      if (encrypted && (key == null || !keyed)) {
        return new Check(
            entry.path(), Finding.UNCHECKED, entry.bytes(), "encrypted, without its key", false);
      }
      return checkAll(entry, encrypted ? key : null, parts);
    } catch (NoSuchFileException e) {
      return null;
    } catch (InvalidBlockException e) {
      return corrupt(entry, e.reason());
    } catch (IOException e) {
      return new Check(
          entry.path(), Finding.UNREADABLE, entry.bytes(), String.valueOf(e.getMessage()), false);
    } finally {
      restoreTimes(entry);
    }
  }

  private Check checkAll(DiskIo.Entry entry, @Nullable CacheKey fileKey, BlockScratch parts)
      throws IOException {
    try (StoredBlock block = StoredBlock.open(io, entry.path(), null, fileKey, parts, false)) {
      if (!isPlaceOf(entry.path(), BlockIdentity.of(block.id()))) {
        return corrupt(entry, "the file of another disk block");
      }
      for (int chunk = 0; chunk < block.id().chunks(); chunk++) {
        if ((block.mask() >> chunk & 1) != 0) {
          block.chunk(chunk);
        }
      }
      return new Check(entry.path(), Finding.GOOD, entry.bytes(), "", false);
    }
  }

  private static Check corrupt(DiskIo.Entry entry, String reason) {
    return new Check(entry.path(), Finding.CORRUPT, entry.bytes(), reason, false);
  }

  private static boolean isPlaceOf(Path path, BlockIdentity identity) {
    return path.endsWith(BlockFiles.placeOf(identity));
  }

  /** The header, not verified. */
  private ByteBuffer header(Path path, BlockScratch parts) throws IOException {
    ByteBuffer header = parts.header().clear();
    try (DiskIo.OpenFile file = io.open(path)) {
      while (header.hasRemaining()) {
        if (file.read(header, header.position()) < 0) {
          throw new InvalidBlockException(path, "shorter than a header");
        }
      }
    }
    return header.clear();
  }

  /** A file system notes who reads a file; for the janitor that would be a use of it. */
  private static void restoreTimes(DiskIo.Entry entry) {
    if (!entry.isFile()) {
      return;
    }
    try {
      Files.getFileAttributeView(
              entry.path(), BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
          .setTimes(null, FileTime.fromMillis(entry.usedMillis()), null);
    } catch (IOException e) {
      // It is gone, or no longer ours to touch: then it has no time that matters.
      return;
    }
  }
}
