package io.s3e.disk;

import java.nio.ByteBuffer;

/**
 * One look at the disk for adjacent chunks, on its way: to read them, or to tell other processes
 * that they are being fetched. Ends once, by {@link Receiver#onEnd}; a look that was {@linkplain
 * #giveUp given up} may still call, and its receiver must be able to refuse.
 */
public interface DiskRead {

  /** Where the bytes go. Called on threads of the cache; must not block. */
  interface Receiver {
    /**
     * The next bytes, verified.
     *
     * @param bytes valid during the call
     * @return false if no more are wanted
     */
    boolean onBytes(ByteBuffer bytes);

    /** Another process is fetching these bytes; they are looked for again in a moment. */
    void onBusy();

    /**
     * Nothing more comes.
     *
     * @param end why
     */
    void onEnd(End end);
  }

  /** How a look ended. */
  enum End {
    /** All bytes have come; for a claim: the first of them are on disk. */
    HIT,
    /** The bytes that have not come are not on disk. */
    MISS,
    /**
     * The bytes are not on disk, and other processes have been told that this one fetches them: it
     * says when it is through ({@link DiskCache#claimEnded}).
     */
    CLAIMED
  }

  /** Nobody wants the bytes any more. No effect on a look that has ended. */
  void cancel();

  /** The deadline has passed: counts against the directory. No effect on a look that has ended. */
  void giveUp();
}
