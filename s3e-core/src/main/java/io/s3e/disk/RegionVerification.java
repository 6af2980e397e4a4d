package io.s3e.disk;

import io.s3e.disk.CacheInspector.Check;
import io.s3e.disk.CacheInspector.Finding;
import io.s3e.disk.ChunkIndex.Place;
import io.s3e.disk.IndexRecord.Header;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Checks all records and chunks of one region against their sums and seals. One thread. */
final class RegionVerification {
  private final InspectedRegion region;
  private final @Nullable CacheKey key;
  private final Consumer<Check> checks;
  private final StoredObjects objects = new StoredObjects();
  private final RegionSeal seal = new RegionSeal();
  private final ByteBuffer scratch = ByteBuffer.allocate(StoredObject.CHUNK_BYTES);
  private final ByteBuffer work =
      ByteBuffer.allocate(StoredObject.CHUNK_BYTES + RegionSeal.WORK_BYTES);

  /**
   * @param key of encrypted chunks; null leaves those unchecked
   * @param checks is told of each chunk, and of a broken log; no region is cleared yet
   */
  RegionVerification(InspectedRegion region, @Nullable CacheKey key, Consumer<Check> checks) {
    this.region = region;
    this.key = key;
    this.checks = checks;
  }

  void run() throws IOException {
    Header header = region.header();
    if (header == null) {
      if (region.log().size() > 0) {
        corruptLog("its header is broken");
      }
      return;
    }
    Layout layout = region.layout();
    if (layout.isSealed() && (key == null || !layout.isFor(key))) {
      checks.accept(
          new Check(region.dataPath(), Finding.UNCHECKED, region.data().size(), "", false));
      return;
    }
    RegionKey regionKey =
        layout.isSealed() && key != null ? RegionKey.of(key, header.salt()) : null;
    long end = region.scan(record -> check(record, header, regionKey));
    if (end < region.log().size() && !region.isHeld()) {
      corruptLog("ends with no whole record at byte " + end);
    }
  }

  private void check(IndexRecord record, Header header, @Nullable RegionKey regionKey) {
    StoredObject object = record.object(objects);
    if (object == null) {
      corruptLog("a record is of no possible object");
    } else if (record.type() == IndexRecord.Type.NAME) {
      if (ObjectName.of(object, record.name()) == null) {
        corruptLog("a name is not that of its hash");
      }
    } else if (!record.fits(object, header.regionBytes())) {
      corruptLog("a record is beyond its object or region");
    } else {
      checks.accept(checkChunk(regionKey, object, record));
    }
  }

  private Check checkChunk(@Nullable RegionKey regionKey, StoredObject object, IndexRecord record) {
    int chunk = record.chunk();
    int slot = record.slot();
    int length = object.chunkLength(chunk);
    String name = "chunk " + chunk + " of " + object + " at slot " + slot;
    try {
      int count =
          region.data().readFully(scratch.clear().limit(length), (long) slot * Region.SLOT_BYTES);
      if (count < length) {
        return corrupt(region.dataPath(), length, name + " is beyond the end of the file");
      }
    } catch (IOException e) {
      return new Check(region.dataPath(), Finding.UNREADABLE, length, name + ": " + e, false);
    }
    Place place =
        new Place(
            region.region(), record.generation(), 0, slot, record.sealHigh(), record.sealLow());
    return seal.open(regionKey, object, chunk, place, scratch.flip(), work.clear()) == null
        ? corrupt(region.dataPath(), length, name + " does not have the seal that was written")
        : new Check(region.dataPath(), Finding.GOOD, length, "", false);
  }

  private void corruptLog(String reason) {
    checks.accept(corrupt(region.logPath(), 0, reason));
  }

  private static Check corrupt(Path path, long bytes, String reason) {
    return new Check(path, Finding.CORRUPT, bytes, reason, false);
  }
}
