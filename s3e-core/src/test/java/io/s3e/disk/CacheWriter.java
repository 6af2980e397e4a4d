package io.s3e.disk;

import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * A process that writes to a shared instance as fast as it can, reads what all have written, and
 * says when a byte is wrong. Arguments: the directory, the capacity in bytes, a seed.
 *
 * <p>Each round takes one of a few disk blocks, so that all processes want the same ones: claims
 * it, writes some of its chunks, reads it and releases it; then reads another. While it has a claim
 * its name stands in a file beside the cache: whoever gets the claim and finds the name of a living
 * process there has it together with that one.
 */
final class CacheWriter {
  private static final int OBJECTS = 96;
  private static final int FEW_CHUNKS = 3;

  private final Path directory;
  private final CacheRoot root;
  private final BlockFiles files;
  private final SharedShelf shelf;
  private final Claims claims;
  private final SplittableRandom random;
  private final ByteBuffer scratch = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
  private long written;
  private long read;

  private CacheWriter(Path directory, CacheRoot root, SharedShelf shelf, long seed) {
    DiskIo io = new NioDiskIo();
    this.directory = directory;
    this.root = root;
    this.files = new BlockFiles(io, root.instance(), root.ownerId(), null);
    this.shelf = shelf;
    this.claims = new Claims(io, root);
    this.random = new SplittableRandom(seed);
  }

  /** One of the disk blocks that the processes share; most are short, so that many are written. */
  static DiskBlockId block(int number) {
    long size = number % 4 == 0 ? 1 << 20 : (long) (1 + number % 5) * 50_000;
    return Chunks.block("object " + number, size, 0);
  }

  static int blocks() {
    return OBJECTS;
  }

  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    DiskCacheConfig config =
        CacheTenant.config(directory, DiskCacheConfig.Scope.HOST, Long.parseLong(arguments[1]));
    CacheTenant.exitAtTheEndOfInput();
    CacheRoot root = CacheRoot.open(directory, config);
    SharedShelf shelf = new SharedShelf(new NioDiskIo(), root, config, new DiskMetrics());
    CacheWriter writer = new CacheWriter(directory, root, shelf, Long.parseLong(arguments[2]));
    System.out.println("begins");
    long rounds = 0;
    while (true) {
      try {
        writer.round();
      } catch (AssertionError | IOException e) {
        System.out.println("WRONG " + e);
      }
      rounds++;
      if (rounds % 50 == 0) {
        System.out.println("counts " + writer.written + " " + writer.read);
      }
    }
  }

  private void round() throws IOException, InterruptedException {
    DiskBlockId id = block(random.nextInt(OBJECTS));
    Claim claim = claims.tryClaim(id);
    if (claim != null) {
      Path sign = directory.resolve("claimed " + id.version().object().key());
      putUp(sign, id);
      if (!write(id)) {
        Thread.sleep(1);
      }
      read(id);
      Files.delete(sign);
      claims.release(claim);
    }
    read(block(random.nextInt(OBJECTS)));
  }

  private void putUp(Path sign, DiskBlockId id) throws IOException, InterruptedException {
    if (Files.exists(sign)) {
      String other = Files.readString(sign);
      boolean alive = true;
      // Who asks whether a dead process lives makes it look alive for a moment, to others.
      for (int look = 0; alive && look < 5; look++) {
        alive = new Owners(new NioDiskIo(), root.owners(), System::nanoTime).isAlive(other);
        Thread.sleep(5);
      }
      if (alive) {
        throw new AssertionError(other + " and " + root.ownerId() + " both have a claim of " + id);
      }
    }
    Files.writeString(sign, root.ownerId());
  }

  private boolean write(DiskBlockId id) throws IOException {
    int all = (1 << id.chunks()) - 1;
    int some = random.nextInt(FEW_CHUNKS) == 0 ? all : (1 << random.nextInt(id.chunks()));
    if (!shelf.hasRoomFor(BlockFiles.bytesOnDisk(id, all))) {
      return false;
    }
    BlockFiles.Written result = files.write(id, Chunks.of(id, some), scratch);
    shelf.written(id, result.mask(), result.bytesOnDisk());
    written++;
    return true;
  }

  private void read(DiskBlockId id) throws IOException {
    Chunks chunks = Chunks.all(id);
    try {
      files.read(id, 0, id.chunks(), scratch, chunks);
      read += Integer.bitCount(chunks.received());
      shelf.used(id);
    } catch (NoSuchFileException e) {
      shelf.gone(id);
    }
  }
}
