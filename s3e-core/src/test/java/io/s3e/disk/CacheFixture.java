// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.Region.Place;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A cache of scope HOST in use by this process, and chunks in it, for tests of those who look into
 * it.
 */
public final class CacheFixture implements AutoCloseable {
  private static final String STORE = "http://127.0.0.1:9000";

  private final Path directory;
  private final SharedRegionsRig rig;

  public CacheFixture(Path directory, @Nullable CacheKey key) throws IOException {
    this.directory = directory;
    this.rig = new SharedRegionsRig(new DiskIo(), directory, SharedRegionsRig.CAPACITY, key);
  }

  /** The directory of the instance. */
  public Path instance() throws IOException {
    return SharedRegionsRig.instance(directory);
  }

  /** Caches all of an object of {@code size} bytes; returns the file of the last chunk's region. */
  public Path write(String bucket, String key, long size) throws IOException {
    StoredObject object =
        StoredObject.of(
            STORE,
            ObjectVersion.identified(
                new ObjectRef(bucket, key), size, "\"etag of " + key + "\"", null));
    for (int chunk = 0; chunk < object.chunks(); chunk++) {
      if (!rig.append(object, chunk)) {
        throw new IOException("no region for chunk " + chunk);
      }
    }
    Place last = rig.index.place(object, object.chunks() - 1);
    if (last == null) {
      throw new IOException("not in the index");
    }
    return SharedRegionsRig.fileOf(instance(), last.region().header.number());
  }

  /** Leaves the instance. */
  @Override
  public void close() {
    rig.close();
  }
}
