// SPDX-License-Identifier: Apache-2.0
package io.s3e.disk;

import io.s3e.disk.Region.Place;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads and verifies chunks of regions, in memory of its own: a read that hangs holds nothing else.
 * A chunk that is not what it should be is dropped from the index. One thread at a time.
 */
final class ChunkReader {
  /** Most chunks in one read of a file: they stay in the processor's cache until they are used. */
  static final int BATCH_CHUNKS = 4;

  /** Takes the chunks that were read from disk, in order. */
  @FunctionalInterface
  interface Sink {
    /** Takes a verified chunk, position to limit, valid until this returns; false to end here. */
    boolean accept(int chunk, ByteBuffer bytes) throws IOException;
  }

  private final ChunkIndex index;
  private final DiskMetrics metrics;
  private final RegionSeal seal = new RegionSeal();
  private final ByteBuffer scratch =
      ByteBuffer.allocateDirect(BATCH_CHUNKS * StoredObject.CHUNK_BYTES);
  private final ByteBuffer work;

  // The batch that is being read, whose bytes the scratch has room for.
  private final List<Place> places = new ArrayList<>(BATCH_CHUNKS);

  /** Whether the last batch that was looked for was read from a file. */
  boolean touchedDisk;

  ChunkReader(ChunkIndex index, DiskMetrics metrics, boolean sealed) {
    this.index = index;
    this.metrics = metrics;
    this.work = sealed ? ByteBuffer.allocateDirect(StoredObject.CHUNK_BYTES) : scratch;
  }

  static long bufferBytes(boolean sealed) {
    return (BATCH_CHUNKS + (sealed ? 1L : 0)) * StoredObject.CHUNK_BYTES;
  }

  /**
   * Hands the chunks {@code [first, end)} on, in order, until one is absent or no more are wanted.
   *
   * @return the chunk after the last one that was taken
   */
  int read(StoredObject object, int first, int end, Sink sink) throws IOException {
    int chunk = first;
    boolean goesOn = true;
    while (goesOn && chunk < end) {
      plan(object, chunk, end);
      int taken = places.isEmpty() || !readBatch() ? 0 : handOn(sink);
      chunk += taken;
      goesOn = taken > 0 && taken == places.size();
    }
    return chunk;
  }

  /** The chunks from {@code first} on that stand one after the other in one region. */
  private void plan(StoredObject object, int first, int end) {
    touchedDisk = false;
    places.clear();
    scratch.clear().limit(0);
    Place before = null;
    for (int chunk = first; chunk < Math.min(end, first + BATCH_CHUNKS); chunk++) {
      Place place = index.place(object, chunk);
      if (place == null || (before != null && !place.isBehind(before))) {
        return;
      }
      places.add(place);
      scratch.limit(scratch.limit() + place.length());
      before = place;
    }
  }

  /** False if the bytes are not there. */
  private boolean readBatch() throws IOException {
    Place first = places.get(0);
    touchedDisk = first.region().use();
    if (!touchedDisk) {
      return false;
    }
    try (Region region = first.region()) {
      int unused = region.file.readFully(scratch, first.position());
    } catch (IOException e) {
      // They are not asked for again.
      places.forEach(index::drop);
      throw e;
    }
    if (scratch.hasRemaining()) {
      corrupt(first);
      return false;
    }
    scratch.flip();
    return true;
  }

  private int handOn(Sink sink) throws IOException {
    int at = 0;
    int taken = 0;
    for (Place place : places) {
      ByteBuffer bytes = seal.open(place, scratch.slice(at, place.length()), work);
      if (bytes == null) {
        corrupt(place);
      }
      if (bytes == null || !sink.accept(place.chunk(), bytes)) {
        break;
      }
      at += place.length();
      taken++;
    }
    return taken;
  }

  /** Counted once, by the reader that is first. */
  private void corrupt(Place place) {
    if (index.drop(place)) {
      metrics.count(Counter.CORRUPTIONS);
    }
  }
}
