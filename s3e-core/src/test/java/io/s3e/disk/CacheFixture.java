package io.s3e.disk;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A cache directory in use by this process, and files in it, for tests of those who look into it.
 */
public final class CacheFixture implements AutoCloseable {
  private static final String STORE = "http://127.0.0.1:9000";

  private final CacheRoot root;
  private final BlockFiles files;

  public CacheFixture(Path directory, DiskCacheConfig.Scope scope, @Nullable CacheKey key)
      throws IOException {
    DiskCacheConfig config =
        DiskCacheConfig.DEFAULTS.toBuilder()
            .mode(DiskCacheConfig.Mode.DISK)
            .scope(scope)
            .application("application")
            .directories(List.of(directory))
            .build();
    root = CacheRoot.open(directory, config);
    files = new BlockFiles(new NioDiskIo(), root.instance(), root.ownerId(), key);
  }

  /** The directory of the instance. */
  public Path instance() {
    return root.instance();
  }

  /** Caches all of a disk block of an object of {@code size} bytes; returns its file. */
  public Path write(String bucket, String key, long size, long index) throws IOException {
    DiskBlockId id =
        new DiskBlockId(
            STORE,
            ObjectVersion.identified(
                new ObjectRef(bucket, key), size, "\"etag of " + key + "\"", null),
            index);
    ByteBuffer scratch = ByteBuffer.allocateDirect(BlockFiles.READ_SCRATCH_BYTES);
    files.write(id, Chunks.all(id), scratch);
    return files.pathOf(id);
  }

  /** Leaves the instance. */
  @Override
  public void close() {
    root.close();
  }
}
