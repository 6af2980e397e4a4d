// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.disk.Region.Place;
import io.s3e.metrics.DiskMetrics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Shared regions with what stands around them in a process: the index, objects, a thread that
 * appends and one that reads. Bytes of a chunk can be told from its object and number.
 */
final class SharedRegionsRig implements AutoCloseable {
  static final long CAPACITY = 16 << 20;
  static final int REGIONS = 16;

  /** Chunks that fill a region of the least length. */
  static final int CHUNKS_OF_REGION = (int) (Region.LEAST_BYTES / StoredObject.CHUNK_BYTES);

  final ChunkIndex index = new ChunkIndex();
  final Regions regions;
  private final RegionSeal seal = new RegionSeal();
  private final ByteBuffer work =
      ByteBuffer.allocate(StoredObject.CHUNK_BYTES + RegionSeal.WORK_BYTES);

  private boolean closed;

  /** How much of the file system is free, in percent; asked anew each time. */
  long freePercent = 80;

  SharedRegionsRig(Path directory) throws IOException {
    this(new DiskIo(), directory, CAPACITY, null);
  }

  SharedRegionsRig(DiskIo io, Path directory, long capacity, @Nullable CacheKey key)
      throws IOException {
    regions =
        new Regions(
            SharedInstance.enter(io, directory, config(directory, key), capacity),
            index,
            new DiskSpace(() -> freePercent, () -> 100),
            new DiskMetrics());
    refresh();
  }

  static DiskCacheConfig config(Path directory, @Nullable CacheKey key) {
    return DiskCacheConfig.DEFAULTS.toBuilder()
        .mode(Mode.DISK)
        .scope(Scope.HOST)
        .directories(List.of(directory))
        .key(key)
        .build();
  }

  static Path instance(Path directory) throws IOException {
    return DirectoryGuard.topIn(directory.toRealPath())
        .resolve(SharedInstance.VERSION)
        .resolve(SharedInstance.HOST);
  }

  /** The file of a region. */
  static Path fileOf(Path instance, int number) {
    return instance.resolve("%02d.region".formatted(number));
  }

  /** The length of a region's table. */
  static long tableBytes() {
    return RegionTable.bytesFor(Region.mostEntries(REGIONS, Region.LEAST_BYTES));
  }

  /** Bytes that the chunks of all regions take in the files of an instance. */
  static long bytesOnDisk(Path instance) throws IOException {
    long bytes = 0;
    try (var files = Files.list(instance)) {
      for (Path file : files.filter(file -> file.toString().endsWith(".region")).toList()) {
        bytes += Math.max(0, lengthOf(file) - tableBytes());
      }
    }
    return bytes;
  }

  private static long lengthOf(Path file) throws IOException {
    try {
      return Files.size(file);
    } catch (NoSuchFileException e) {
      // Another process has given it up.
      return 0;
    }
  }

  /** An object of so many whole chunks. */
  StoredObject object(String key, int chunks) {
    return unknown(key, chunks);
  }

  /** The same object, as a cache that does not know it yet is asked for it. */
  static StoredObject unknown(String key, int chunks) {
    return StoredObject.of(
        "http://store",
        ObjectVersion.identified(
            new ObjectRef("bucket", key),
            (long) chunks * StoredObject.CHUNK_BYTES,
            "\"etag of " + key + "\"",
            null));
  }

  /** How many chunks of an object are in an index. */
  static int known(ChunkIndex index, StoredObject object) {
    int known = 0;
    for (int chunk = 0; chunk < object.chunks(); chunk++) {
      known += index.place(object, chunk) == null ? 0 : 1;
    }
    return known;
  }

  /** The bytes of a chunk. */
  static ByteBuffer bytes(StoredObject object, int chunk) {
    ByteBuffer bytes = ByteBuffer.allocate(object.chunkLength(chunk));
    SplittableRandom random = new SplittableRandom(object.hashCode() * 31L + chunk);
    while (bytes.remaining() >= Long.BYTES) {
      bytes.putLong(random.nextLong());
    }
    while (bytes.hasRemaining()) {
      bytes.put((byte) random.nextInt());
    }
    return bytes.flip();
  }

  /** Appends a chunk as the appending thread does; false if no region is to be had. */
  boolean append(StoredObject object, int chunk) throws IOException {
    ByteBuffer plain = bytes(object, chunk);
    int slots = Region.slotsOf(plain.remaining());
    Region to = regions.own;
    if (to != null && (to.nextSlot + slots > to.slotCount() || to.isFullWith(0))) {
      finish();
      to = null;
    }
    if (to == null) {
      to = regions.next();
      if (to == null) {
        return false;
      }
    }
    int slot = to.nextSlot;
    Place place = seal.seal(to, object, chunk, slot, plain, work.clear());
    ByteBuffer stored = work.limit(plain.remaining());
    to.takenUntil(slot + slots);
    to.file.write(stored, place.position());
    regions.appended(to, List.of(place));
    return place.equals(index.place(object, chunk));
  }

  /** Gives the region back that was appended to. */
  void finish() throws IOException {
    regions.own = null;
  }

  @Nullable Region current() {
    return regions.own;
  }

  /** The result of reading a chunk. */
  enum Found {
    RIGHT,
    /** It is not in the index, or its region was given up meanwhile. */
    ABSENT,
    /** Its seal does not fit: counted, and not taken. */
    BROKEN,
    /** It was taken, and is not what it should be. */
    WRONG
  }

  /** Reads a chunk as a reading thread does. */
  Found read(StoredObject object, int chunk) throws IOException {
    Place place = index.place(object, chunk);
    if (place == null) {
      return Found.ABSENT;
    }
    ByteBuffer stored = ByteBuffer.allocate(object.chunkLength(chunk));
    if (!place.region().use()) {
      return Found.ABSENT;
    }
    try (Region region = place.region()) {
      if (region.file.readFully(stored, place.position()) < stored.capacity()) {
        index.drop(place);
        return Found.BROKEN;
      }
    }
    ByteBuffer plain =
        new RegionSeal().open(place, stored.flip(), ByteBuffer.allocate(StoredObject.CHUNK_BYTES));
    if (plain == null) {
      index.drop(place);
      return Found.BROKEN;
    }
    return plain.equals(bytes(object, chunk)) ? Found.RIGHT : Found.WRONG;
  }

  /** Looks at what others have written. */
  void refresh() throws IOException {
    boolean unused = regions.look(() -> {});
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      regions.close();
    }
  }
}
