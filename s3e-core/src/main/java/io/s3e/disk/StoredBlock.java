package io.s3e.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file whose header has been verified, open for reading. The descriptor stays good when the file
 * is deleted or replaced. Uses the header and chunk parts of the scratch for as long as it is open.
 * One thread.
 */
final class StoredBlock implements Closeable {
  private final Path path;
  private final DiskIo.OpenFile file;
  private final BlockHeader header;
  private final BlockScratch scratch;

  /** Whether the first chunk came with the header and has not been overwritten. */
  private boolean firstChunkIsHere;

  private StoredBlock(
      Path path, DiskIo.OpenFile file, BlockHeader header, BlockScratch scratch, boolean first) {
    this.path = path;
    this.file = file;
    this.header = header;
    this.scratch = scratch;
    this.firstChunkIsHere = first;
  }

  /**
   * Opens a file and verifies its header and length.
   *
   * @param identity whose the file must be; null for anyone's
   * @param withFirstChunk whether the first chunk will be wanted: it is read together with the
   *     header
   * @throws InvalidBlockException if it is not that disk block's file; it has not been deleted
   */
  static StoredBlock open(
      DiskIo io,
      Path path,
      @Nullable BlockIdentity identity,
      @Nullable CacheKey key,
      BlockScratch scratch,
      boolean withFirstChunk)
      throws IOException {
    DiskIo.OpenFile file;
    try {
      file = io.open(path);
    } catch (NotRegularFileException e) {
      throw new InvalidBlockException(path, e.getReason());
    }
    try {
      return verified(file, path, identity, key, scratch, withFirstChunk);
    } catch (Throwable e) {
      try {
        file.close();
      } catch (IOException alsoFailed) {
        e.addSuppressed(alsoFailed);
      }
      throw e;
    }
  }

  private static StoredBlock verified(
      DiskIo.OpenFile file,
      Path path,
      @Nullable BlockIdentity identity,
      @Nullable CacheKey key,
      BlockScratch scratch,
      boolean withFirstChunk)
      throws IOException {
    long size = file.size();
    int front =
        BlockHeader.BYTES + (withFirstChunk && identity != null ? identity.id().chunkLength(0) : 0);
    int length = (int) Math.min(size, front);
    if (length <= BlockHeader.BYTES && size <= BlockHeader.BYTES) {
      throw new InvalidBlockException(path, "too short: " + size + " bytes");
    }
    readFully(file, path, scratch.front(), 0, length);
    try {
      BlockHeader header = BlockHeader.verify(scratch.header(), identity, key);
      long expected = BlockHeader.fileBytes(header.id(), header.mask());
      if (size != expected) {
        throw new InvalidBlockException(path, size + " bytes long: expected " + expected);
      }
      return new StoredBlock(
          path, file, header, scratch, length == front && front > BlockHeader.BYTES);
    } catch (ChunkSeal.BrokenSealException e) {
      throw new InvalidBlockException(path, e.reason());
    }
  }

  DiskBlockId id() {
    return header.id();
  }

  /** Which chunks the file has: bit {@code i} for chunk {@code i}. */
  int mask() {
    return header.mask();
  }

  /**
   * Reads and verifies a chunk that the file has.
   *
   * @return its bytes, from position to limit; good until the next call
   * @throws InvalidBlockException if they are not what was written; the file has not been deleted
   */
  ByteBuffer chunk(int chunk) throws IOException {
    ByteBuffer stored = scratch.stored();
    int length = header.id().chunkLength(chunk);
    if (chunk == 0 && firstChunkIsHere) {
      stored.limit(length).position(0);
    } else {
      readFully(file, path, stored, BlockHeader.chunkAt(chunk), length);
    }
    firstChunkIsHere = false;
    try {
      return header.open(chunk, stored, scratch.work());
    } catch (ChunkSeal.BrokenSealException e) {
      throw new InvalidBlockException(path, e.reason());
    }
  }

  /** Reads {@code length} bytes to the beginning of {@code target}, and leaves them in it. */
  private static void readFully(
      DiskIo.OpenFile file, Path path, ByteBuffer target, long position, int length)
      throws IOException {
    target.clear().limit(length);
    while (target.hasRemaining()) {
      if (file.read(target, position + target.position()) < 0) {
        throw new InvalidBlockException(path, "ends before its last byte");
      }
    }
    target.flip();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
