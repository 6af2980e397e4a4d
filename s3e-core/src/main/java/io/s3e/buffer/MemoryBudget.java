// SPDX-License-Identifier: Apache-2.0
package io.s3e.buffer;

import io.s3e.jvm.MemoryShare;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;

/**
 * A hard limit in bytes over everything that holds object data outside the heap: arenas of pools
 * and the memory that clients own. A user of such memory reserves it here first, and gives the
 * reservation back after the memory is gone, so that {@link #reserved()} is never less than what is
 * really held.
 *
 * <p>The limit, and the count, are those of an account, which is this budget's own or, {@linkplain
 * #ofJvm for the JVM's}, that of the engines of all class loaders. Any thread may call anything;
 * only {@link #claim} and {@link #claimShare} run code of other engines.
 */
public final class MemoryBudget implements AutoCloseable {
  /** Takes the calls of {@link MemoryShare}. */
  private final ToLongBiFunction<String, Long> account;

  private final long limit;

  // The engine's pooled buffers as other engines see them; none until there is an engine.
  private volatile LongConsumer giveBack = bytes -> {};
  private volatile LongSupplier held = () -> 0;

  /**
   * A limit of its own.
   *
   * @param limitBytes the most that may be reserved at a time, at least 1
   * @throws IllegalArgumentException if {@code limitBytes} is not positive
   */
  public MemoryBudget(long limitBytes) {
    this(limitBytes, false);
  }

  private MemoryBudget(long limitBytes, boolean isOfJvm) {
    if (limitBytes < 1) {
      throw new IllegalArgumentException("limit " + limitBytes + " is not at least 1 byte");
    }
    LongConsumer givesBack = bytes -> giveBack.accept(bytes);
    LongSupplier holds = () -> held.getAsLong();
    this.account =
        isOfJvm
            ? MemoryShare.ofJvm(limitBytes, givesBack, holds)
            : MemoryShare.alone(limitBytes, givesBack, holds);
    this.limit = account.applyAsLong(MemoryShare.LIMIT, 0L);
  }

  /**
   * The limit of this JVM, which engines of other class loaders share until {@link #close}.
   *
   * @param limitBytes applies if there is no such engine; at least 1
   */
  public static MemoryBudget ofJvm(long limitBytes) {
    return new MemoryBudget(limitBytes, true);
  }

  /**
   * Says how other engines get back what this one's pool holds.
   *
   * @param held bytes that the pool has reserved now
   */
  public void heldBy(LongSupplier held, LongConsumer giveBack) {
    this.giveBack = giveBack;
    this.held = held;
  }

  /**
   * Reserves all of {@code bytes} or nothing.
   *
   * @param bytes 0 or more
   * @return whether the bytes are now reserved; {@code false} if the limit does not leave that
   *     much, or another engine has claimed it
   * @throws IllegalArgumentException if {@code bytes} is negative
   */
  public boolean tryReserve(long bytes) {
    return account.applyAsLong(MemoryShare.RESERVE, bytes) == 1;
  }

  /**
   * Gives back what {@link #tryReserve} granted.
   *
   * @param bytes 0 or more, at most what is reserved
   * @throws IllegalArgumentException if {@code bytes} is negative, or more than the engine has
   *     reserved; nothing changes then
   */
  public void release(long bytes) {
    long unused = account.applyAsLong(MemoryShare.RELEASE, bytes);
  }

  /** The most that may be reserved at a time, in bytes. */
  public long limit() {
    return limit;
  }

  /** Bytes reserved now in the account; of the JVM's, by the engines of all class loaders. */
  public long reserved() {
    return limit - available();
  }

  /** Bytes that could be reserved now. */
  public long available() {
    return account.applyAsLong(MemoryShare.AVAILABLE, 0L);
  }

  /** Bytes in pooled buffers, of other class loaders' engines too. */
  public long pooled() {
    return account.applyAsLong(MemoryShare.POOLED, 0L);
  }

  /** Bytes of pooled buffers that this engine can have by {@link #claimShare}; 0 if it is alone. */
  public long claimable() {
    return account.applyAsLong(MemoryShare.CLAIMABLE, 0L);
  }

  /** Has other engines give back pooled buffers until {@code bytes} are free, or all have. */
  public void claim(long bytes) {
    long unused = account.applyAsLong(MemoryShare.CLAIM, bytes);
  }

  /** Has the engines that hold more pooled buffers than their share give back of it. */
  public void claimShare() {
    long unused = account.applyAsLong(MemoryShare.CLAIM_SHARE, 0L);
  }

  /** The engine has closed. Reservations that are left count until they are released. */
  @Override
  public void close() {
    long unused = account.applyAsLong(MemoryShare.LEAVE, 0L);
  }

  @Override
  public String toString() {
    return "budget of " + limit() + " bytes, " + reserved() + " reserved";
  }
}
