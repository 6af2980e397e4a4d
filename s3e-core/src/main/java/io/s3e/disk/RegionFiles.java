package io.s3e.disk;

import java.io.IOException;
import java.util.List;

/**
 * The files of one directory's regions, and what other processes know of them. Two kinds: {@link
 * PrivateFiles} and {@link SharedFiles}.
 *
 * <p>{@link #isStill} and {@link #refresh} are called by any thread of the directory, the others by
 * its appending thread; all may block on the disk but {@link #close}.
 */
interface RegionFiles extends AutoCloseable {
  /**
   * One chunk that was written.
   *
   * @param slot where its bytes begin, in slots
   */
  record Appended(StoredObject object, int chunk, int slot, long sealHigh, long sealLow) {
    /** The slot behind the chunk. */
    int endSlot() {
      return slot + Region.slotsOf(object.chunkLength(chunk));
    }
  }

  /**
   * Makes this process the one that appends to a region; its generation is the one on disk then.
   *
   * @return false if another process is
   */
  boolean take(Region region) throws IOException;

  /**
   * Goes on behind what a region holds that this process has taken.
   *
   * @return false if its slots may have been used for more than what is known
   */
  boolean resume(Region region) throws IOException;

  /** Begins the next generation of a region that this process has taken. */
  void begin(Region region, Region.Kind kind) throws IOException;

  /** Chunks stand in a region that this process has taken; makes them known to others. */
  void appended(Region region, List<Appended> chunks) throws IOException;

  /** Empties a region that this process has taken, and gives its space back. */
  void empty(Region region) throws IOException;

  /** Lets a region go that this process has taken. */
  void giveBack(Region region) throws IOException;

  /**
   * Whether bytes that were read from a region, after {@code generation} was looked up, are that
   * generation's.
   */
  boolean isStill(Region region, int generation) throws IOException;

  /** Looks at what others have written and begun anew. */
  void refresh() throws IOException;

  /** Gives everything up; the appending thread has ended, or hangs. */
  @Override
  void close();
}
