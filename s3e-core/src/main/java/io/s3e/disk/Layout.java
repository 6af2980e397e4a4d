// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.DiskIo.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The layout of a cache in one directory: the number of its regions, their length, and a check of
 * the key. In an instance that processes share the first one lays it down in the file {@value
 * #NAME}, and all others take it over. docs/CACHE-FORMAT.md has the bytes.
 *
 * @param regions how many
 * @param regionBytes length of each, in bytes; with the number, the hard cap
 * @param keyCheck the {@linkplain CacheKey#check check} of the key; 0 if chunks are not encrypted
 */
record Layout(int regions, long regionBytes, boolean isSealed, long keyCheck) {
  static final String NAME = "layout";

  private static final Logger LOG = LoggerFactory.getLogger(Layout.class);
  private static final int BYTES = RegionTable.RECORD_BYTES;
  private static final long MAGIC = 0x5333454c41593035L;

  /** The layout for such a capacity and so many regions, as far as {@link Region} has limits. */
  static Layout of(long capacityBytes, int count, @Nullable CacheKey key) {
    long regionBytes = Region.bytesFor(capacityBytes, count);
    int regions = (int) Math.min(Region.MOST_COUNT, capacityBytes / regionBytes);
    return new Layout(regions, regionBytes, key != null, key == null ? 0 : key.check());
  }

  /** The same capacity in so many regions at most, as far as these can be longer. */
  Layout inFewer(int most) {
    long bytes = Math.min(Region.MOST_BYTES, capacityBytes() / most) & -Region.SLOT_BYTES;
    return regions <= most ? this : new Layout(most, bytes, isSealed, keyCheck);
  }

  /** A region that is made now, with a salt that no other one has. */
  Region.Header newRegion(int number, long began) {
    ByteBuffer salt = ByteBuffer.wrap(CacheKey.random(CacheKey.SALT_BYTES));
    return new Region.Header(number, mostChunks(), regionBytes, began, salt);
  }

  int mostChunks() {
    return Region.mostEntries(regions, regionBytes);
  }

  long capacityBytes() {
    return regions * regionBytes;
  }

  /**
   * The layout of an instance: the one that is there, or else {@code wanted}, which is then laid
   * down. A broken layout is replaced; no process believes a region of another length, so no
   * process reads wrong bytes for that.
   */
  static Layout enter(DiskIo io, Path instance, Object directory, Layout wanted)
      throws IOException {
    Path file = instance.resolve(NAME);
    Layout present = read(io, file, directory);
    if (present != null) {
      return present;
    }
    Path unfinished = instance.resolve(NAME + "-" + UUID.randomUUID());
    try {
      try (OpenFile created = io.createIn(unfinished, directory)) {
        created.write(wanted.encode(), 0);
      }
      io.link(unfinished, file);
    } catch (FileAlreadyExistsException e) {
      present = read(io, file, directory);
      if (present == null) {
        LOG.warn("{} is broken and is replaced", file);
        io.rename(unfinished, file);
      }
    } finally {
      io.delete(unfinished);
    }
    return present == null ? wanted : present;
  }

  /** The layout in the file; null if the file is not there, or broken. */
  static @Nullable Layout read(DiskIo io, Path file, Object directory) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES);
    try (OpenFile open = io.openIn(file, directory)) {
      return open.readFully(bytes, 0) == BYTES ? decode(bytes) : null;
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  static @Nullable Layout decode(ByteBuffer bytes) {
    if (!RegionTable.isWhole(bytes, 0) || bytes.getLong(0) != MAGIC) {
      return null;
    }
    Layout layout =
        new Layout(bytes.getInt(8), bytes.getLong(16), bytes.getInt(12) != 0, bytes.getLong(24));
    boolean isPossible =
        layout.regions > 0
            && layout.regions <= Region.MOST_COUNT
            && layout.regionBytes >= Region.LEAST_BYTES
            && layout.regionBytes <= Region.MOST_BYTES
            && layout.regionBytes % Region.SLOT_BYTES == 0;
    return isPossible ? layout : null;
  }

  ByteBuffer encode() {
    ByteBuffer bytes =
        ByteBuffer.allocate(BYTES)
            .putLong(0, MAGIC)
            .putInt(8, regions)
            .putInt(12, isSealed ? 1 : 0)
            .putLong(16, regionBytes)
            .putLong(24, keyCheck);
    RegionTable.putSum(bytes, 0);
    return bytes;
  }
}
