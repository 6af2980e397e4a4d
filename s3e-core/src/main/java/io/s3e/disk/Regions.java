package io.s3e.disk;

import io.s3e.disk.Region.Kind;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The regions of one directory, and who may append to which. The {@link ChunkIndex} knows their
 * chunks; implementations enter into it what other processes write and recycle.
 *
 * <p>{@link #bytes} and {@link #capacityBytes} are called by any thread and touch memory alone;
 * {@link #close} does not wait for the disk for long. The other methods may block on the disk:
 * {@link #isStill} and {@link #refresh} are called by any thread of the directory, the rest by its
 * appending thread.
 */
interface Regions extends AutoCloseable {
  /**
   * One chunk that was written.
   *
   * @param slot where its bytes begin, in slots
   */
  record Appended(StoredObject object, int chunk, int slot, long sealHigh, long sealLow) {}

  /**
   * A region to append to: never used before, or begun anew, or with room left that its last
   * process does not fill any more. It stays the caller's until {@link #finished}.
   *
   * @return null if there is none for now: others have them all, or the disk has too little space
   */
  @Nullable Region next(Kind kind) throws IOException;

  /** Whether there are regions that took space on disk before and are appended to by nobody. */
  boolean hasGrownOnes();

  /**
   * The region that will be recycled next to make room for that kind, if there is no other that may
   * be had; its hits are appended again before. Null while there are others.
   */
  @Nullable Region victim(Kind kind);

  /** Recycles a {@link #victim}: {@link #next} may give it from then on. */
  void recycle(Region victim) throws IOException;

  /** Chunks stand in a region that is the caller's; makes them known to others. */
  void appended(Region region, List<Appended> chunks) throws IOException;

  /** Nothing more is appended to a region that {@link #next} gave. */
  void finished(Region region) throws IOException;

  /**
   * Whether bytes that were read from a region, after {@code generation} was looked up, are that
   * generation's.
   */
  boolean isStill(Region region, int generation) throws IOException;

  /**
   * Looks at what others have written and recycled.
   *
   * @param maxAgeNanos a look that is not older counts, and nothing is looked at again
   */
  void refresh(long maxAgeNanos) throws IOException;

  /** Bytes that the regions take on disk, as far as is known in memory. */
  long bytes();

  /** The most that they ever take, in bytes. */
  long capacityBytes();

  /** Gives everything up; does not wait for the disk for long. */
  @Override
  void close();
}
