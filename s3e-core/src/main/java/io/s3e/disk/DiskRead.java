package io.s3e.disk;

import java.nio.ByteBuffer;

/**
 * One read of adjacent chunks from disk, on its way. Ends once, by {@link Receiver#onEnd}; a read
 * that was {@linkplain #giveUp given up} may still call, and its receiver must be able to refuse.
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

  /** How a read ended. */
  enum End {
    /** All bytes have come. */
    HIT,
    /** What has not come is not on disk. */
    MISS,
    /**
     * What has not come is not on disk, and this engine has told other processes that it fetches
     * it: it offers the bytes, or not, and says that it is through ({@link DiskCache#claimEnded}).
     */
    CLAIMED
  }

  /** Nobody wants the bytes any more. No effect on a read that has ended. */
  void cancel();

  /** The deadline has passed: counts against the directory. No effect on a read that has ended. */
  void giveUp();
}
