package io.s3e.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The files of one instance directory, a file for each disk block. {@code docs/CACHE-FORMAT.md}
 * says what is in them.
 *
 * <p>A file never changes: it is written under a temporary name, and renamed when it is whole. To
 * add chunks to a disk block is to write a new file with all of them over the old one. So readers
 * need no locks: the file that they have opened stays what it is, whoever replaces or deletes its
 * name. Nothing is forced to disk: what a crash leaves behind is found by whoever reads it, because
 * everything is verified before it is served.
 *
 * <p>Of two that write the same disk block at once the last one wins, and chunks that only the
 * other one had are lost to the cache. That is cheaper than a lock.
 *
 * <p>Holds no state, descriptor or buffer between calls. Any thread, any number of processes; every
 * call may block for as long as the disk likes.
 */
final class BlockFiles {
  /** Length of the direct buffer that reading and writing need, in bytes. */
  static final int READ_SCRATCH_BYTES = BlockScratch.BYTES;

  /** Stands between the owner and the number in the name of a temporary file. */
  private static final char OWNER_END = '.';

  /** Digits of the hash that name the directory: 256 directories of a few thousand files each. */
  private static final int PREFIX_DIGITS = 2;

  /** Space is given to files in pages of this many bytes on every common file system. */
  private static final int PAGE_BYTES = 4096;

  private static final AtomicLong TEMPORARIES = new AtomicLong();

  private final DiskIo io;
  private final Path blocks;
  private final Path temporary;
  private final String ownerId;
  private final @Nullable CacheKey key;

  /**
   * @param instance has the directories {@value Membership#BLOCKS} and {@value Membership#TMP}
   * @param ownerId by which the names of temporary files tell who writes them
   * @param key what files are encrypted with; null leaves them as they are
   */
  BlockFiles(DiskIo io, Path instance, String ownerId, @Nullable CacheKey key) {
    this.io = io;
    this.blocks = instance.resolve(Membership.BLOCKS);
    this.temporary = instance.resolve(Membership.TMP);
    this.ownerId = ownerId;
    this.key = key;
  }

  /** Name of a disk block's file: 40 hexadecimal digits. */
  static String nameOf(DiskBlockId id) {
    return BlockIdentity.of(id).name();
  }

  /** Who writes or wrote the temporary file of this name: the {@code ownerId} it was made with. */
  static String ownerOfTemporary(String name) {
    int end = name.lastIndexOf(OWNER_END);
    return end < 0 ? name : name.substring(0, end);
  }

  /** Where a disk block's file stands or would stand. */
  Path pathOf(DiskBlockId id) {
    return pathOf(BlockIdentity.of(id));
  }

  private Path pathOf(BlockIdentity identity) {
    return blocks.resolve(placeOf(identity));
  }

  /** Where a disk block's file stands, below the directory of all of them. */
  static Path placeOf(BlockIdentity identity) {
    String name = identity.name();
    return Path.of(name.substring(0, PREFIX_DIGITS), name);
  }

  /**
   * Reads chunks {@code [first, end)} in order, until one is not there or the sink has enough. Each
   * is verified before it is handed on; what was handed on stays good if a later one fails.
   *
   * @param scratch direct, at least {@link #READ_SCRATCH_BYTES} long; one thread's
   * @return which chunks the file says it has, bit {@code i} for chunk {@code i}
   * @throws NoSuchFileException if there is no file
   * @throws InvalidBlockException if there is anything else than this disk block's intact file; it
   *     has been deleted if it could be
   * @throws IOException if the disk fails, or the sink
   */
  int read(DiskBlockId id, int first, int end, ByteBuffer scratch, ChunkSink sink)
      throws IOException {
    BlockIdentity identity = BlockIdentity.of(id);
    Path path = pathOf(identity);
    try (StoredBlock block =
        StoredBlock.open(io, path, identity, key, BlockScratch.of(scratch), first == 0)) {
      int mask = block.mask();
      int chunk = first;
      while (chunk < end && has(mask, chunk) && sink.accept(chunk, block.chunk(chunk))) {
        chunk++;
      }
      return mask;
    } catch (InvalidBlockException e) {
      throw deleted(path, e);
    }
  }

  /**
   * Writes a disk block's file, with the chunks given and those that its present file has. On any
   * failure nothing is left behind, and what was there before is still there.
   *
   * @param chunks at least one
   * @param scratch direct, at least {@link #READ_SCRATCH_BYTES} long; one thread's
   * @return what the file holds now; {@link Written#NOTHING} if the names of the object are too
   *     long for the header, or not Unicode: it cannot be cached
   * @throws InvalidBlockException if what stood there was not this disk block's intact file: it has
   *     been deleted if it could be, and nothing was written
   */
  Written write(DiskBlockId id, ChunkSource chunks, ByteBuffer scratch) throws IOException {
    BlockIdentity identity = BlockIdentity.of(id);
    if (!BlockHeader.canHold(identity)) {
      return Written.NOTHING;
    }
    Path path = pathOf(identity);
    BlockScratch parts = BlockScratch.of(scratch);
    try (StoredBlock present = present(path, identity, parts)) {
      int there = present == null ? 0 : present.mask();
      int all = there | chunks.mask();
      if (all != there) {
        replace(path, identity, all, chunks, present, parts);
      }
      return new Written(all, bytesOnDisk(id, all));
    } catch (InvalidBlockException e) {
      throw deleted(path, e);
    }
  }

  /** Deletes a disk block's file, if there is one. */
  void delete(DiskBlockId id) throws IOException {
    io.delete(pathOf(id));
  }

  /** What a file with these chunks takes on disk, in bytes. */
  static long bytesOnDisk(DiskBlockId id, int mask) {
    long bytes = BlockHeader.BYTES;
    for (int chunk = 0; chunk < id.chunks(); chunk++) {
      if (has(mask, chunk)) {
        bytes += (id.chunkLength(chunk) + PAGE_BYTES - 1L) / PAGE_BYTES * PAGE_BYTES;
      }
    }
    return bytes;
  }

  private @Nullable StoredBlock present(Path path, BlockIdentity identity, BlockScratch parts)
      throws IOException {
    try {
      return StoredBlock.open(io, path, identity, key, parts, false);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  private void replace(
      Path path,
      BlockIdentity identity,
      int mask,
      ChunkSource chunks,
      @Nullable StoredBlock present,
      BlockScratch parts)
      throws IOException {
    Path unfinished =
        temporary.resolve(ownerId + OWNER_END + Long.toHexString(TEMPORARIES.incrementAndGet()));
    try {
      try (DiskIo.OpenFile file = io.create(unfinished)) {
        fill(file, identity, mask, chunks, present, parts);
      }
      moveIntoPlace(unfinished, path);
    } catch (Throwable e) {
      try {
        io.delete(unfinished);
      } catch (IOException alsoFailed) {
        e.addSuppressed(alsoFailed);
      }
      throw e;
    }
  }

  private void fill(
      DiskIo.OpenFile file,
      BlockIdentity identity,
      int mask,
      ChunkSource chunks,
      @Nullable StoredBlock present,
      BlockScratch parts)
      throws IOException {
    BlockHeader header = BlockHeader.begin(parts.newHeader(), identity, key);
    for (int chunk = 0; chunk < identity.id().chunks(); chunk++) {
      ByteBuffer bytes;
      if (has(chunks.mask(), chunk)) {
        bytes = chunks.chunk(chunk);
      } else if (present != null && has(mask, chunk)) {
        bytes = present.chunk(chunk);
      } else {
        continue;
      }
      // A chunk that was decrypted lies in the work part; its place on disk is free by now.
      ByteBuffer free = present == null ? parts.work() : parts.stored();
      file.write(header.add(chunk, bytes, free), BlockHeader.chunkAt(chunk));
    }
    file.write(header.seal(), 0);
  }

  private void moveIntoPlace(Path unfinished, Path path) throws IOException {
    try {
      io.rename(unfinished, path);
    } catch (NoSuchFileException e) {
      // The first file in its directory; or the whole instance was removed meanwhile, which must
      // not be laid out again by a writer that is late.
      Path directory = path.getParent();
      if (directory != null) {
        io.open(unfinished).close();
        io.makeDirectory(directory);
      }
      io.rename(unfinished, path);
    }
  }

  private InvalidBlockException deleted(Path path, InvalidBlockException invalid) {
    try {
      io.delete(path);
    } catch (IOException e) {
      invalid.addSuppressed(e);
    }
    return invalid;
  }

  private static boolean has(int mask, int chunk) {
    return (mask >> chunk & 1) != 0;
  }

  /**
   * What a file holds after it was written.
   *
   * @param mask bit per chunk; 0 if nothing was written
   * @param bytesOnDisk what it takes, header and unused ends of pages included
   */
  record Written(int mask, long bytesOnDisk) {
    /** No file. */
    static final Written NOTHING = new Written(0, 0);
  }
}
