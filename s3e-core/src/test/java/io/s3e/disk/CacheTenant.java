package io.s3e.disk;

import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A process that uses an instance: it writes a disk block, leaves a temporary and holds a claim,
 * and is the janitor if nobody else is. Arguments: the directory and the scope.
 */
final class CacheTenant {
  static final DiskBlockId CLAIMED = Chunks.block("claimed", 1 << 20, 0);

  private CacheTenant() {}

  static DiskCacheConfig config(Path directory, DiskCacheConfig.Scope scope, long capacity) {
    return DiskCacheConfig.DEFAULTS.toBuilder()
        .mode(DiskCacheConfig.Mode.DISK)
        .scope(scope)
        .application("application")
        .directories(List.of(directory))
        .capacityBytes(capacity)
        .build();
  }

  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    DiskCacheConfig.Scope scope = DiskCacheConfig.Scope.valueOf(arguments[1]);
    DiskCacheConfig config = config(directory, scope, 64 << 20);
    DiskIo io = new NioDiskIo();
    CacheRoot root = CacheRoot.open(directory, config);
    SharedShelf shelf =
        scope == DiskCacheConfig.Scope.PRIVATE
            ? null
            : new SharedShelf(io, root, config, new DiskMetrics());
    System.out.println(
        "claim " + (new Claims(io, root).tryClaim(CLAIMED) == null ? "refused" : "taken"));
    Files.writeString(root.tmp().resolve(root.ownerId() + ".abc"), "unfinished");
    DiskBlockId id = Chunks.block("by " + root.ownerId(), 1 << 20, 0);
    new BlockFiles(io, root.instance(), root.ownerId(), null)
        .write(id, Chunks.all(id), ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES));
    System.out.println("instance " + root.instance());
    System.out.println("owner " + root.ownerId());
    exitAtTheEndOfInput();
    sayWhenInCharge(shelf);
  }

  /** A test that dies takes its processes with it. */
  static void exitAtTheEndOfInput() {
    Thread watch =
        new Thread(
            () -> {
              try {
                System.in.transferTo(OutputStream.nullOutputStream());
              } catch (IOException e) {
                System.out.println("no input: " + e);
              }
              System.exit(0);
            });
    watch.start();
  }

  private static void sayWhenInCharge(@Nullable SharedShelf shelf) throws InterruptedException {
    while (shelf != null && !shelf.janitor().isInCharge()) {
      Thread.sleep(20);
    }
    System.out.println("in charge");
  }
}
