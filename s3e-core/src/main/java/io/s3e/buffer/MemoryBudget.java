package io.s3e.buffer;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A hard limit in bytes over everything that holds object data outside the heap: arenas of pools
 * and the memory that clients own. Whoever wants such memory reserves it here first, and gives the
 * reservation back after the memory is gone, so that {@link #reserved()} is never less than what is
 * really held.
 *
 * <p>All of the state is one number, {@code 0 <= reserved <= limit}, moved only by compare-and-set.
 * Any thread may call anything; no call blocks, and losing a race costs one more try.
 */
public final class MemoryBudget {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryBudget.class);
  private static final AtomicReference<MemoryBudget> JVM = new AtomicReference<>();
  private static final AtomicBoolean DIFFERENT_LIMIT_LOGGED = new AtomicBoolean();

  /** Someone who holds reservations and can do without some of them. */
  public interface Holder {
    /**
     * Gives back about {@code bytes} bytes of what is held for later and not in use. Called on the
     * thread of whoever waits for memory; must not wait for anything but its own short locks.
     */
    void giveBack(long bytes);
  }

  private final Set<Holder> holders = ConcurrentHashMap.newKeySet();
  private final long limit;
  private final AtomicLong reserved = new AtomicLong();

  /**
   * A budget of its own; production code shares {@link #ofJvm}.
   *
   * @param limitBytes the most that may be reserved at a time, at least 1
   * @throws IllegalArgumentException if {@code limitBytes} is not positive
   */
  public MemoryBudget(long limitBytes) {
    if (limitBytes < 1) {
      throw new IllegalArgumentException("limit " + limitBytes + " is not at least 1 byte");
    }
    this.limit = limitBytes;
  }

  /**
   * The one budget of this JVM. The first caller's limit holds for the life of the JVM; a later
   * caller who asks for another limit gets the same budget, and the first time that happens one
   * INFO line names both limits.
   *
   * @param limitBytes the limit if there is no budget yet, at least 1
   * @throws IllegalArgumentException if {@code limitBytes} is not positive
   */
  public static MemoryBudget ofJvm(long limitBytes) {
    MemoryBudget candidate = new MemoryBudget(limitBytes);
    MemoryBudget present = JVM.compareAndExchange(null, candidate);
    if (present == null) {
      return candidate;
    }
    if (present.limit != limitBytes && DIFFERENT_LIMIT_LOGGED.compareAndSet(false, true)) {
      LOG.info(
          "The memory budget of this JVM stays at {} bytes, as first configured; a later"
              + " configuration asks for {} bytes and is not applied",
          present.limit,
          limitBytes);
    }
    return present;
  }

  /**
   * Reserves all of {@code bytes} or nothing.
   *
   * @param bytes 0 or more
   * @return whether the bytes are now reserved; {@code false} if the limit does not leave that much
   * @throws IllegalArgumentException if {@code bytes} is negative
   */
  public boolean tryReserve(long bytes) {
    requireNotNegative(bytes);
    while (true) {
      long current = reserved.get();
      if (bytes > limit - current) {
        return false;
      }
      if (reserved.compareAndSet(current, current + bytes)) {
        return true;
      }
    }
  }

  /**
   * Gives back what {@link #tryReserve} granted.
   *
   * @param bytes 0 or more, at most what is reserved
   * @throws IllegalArgumentException if {@code bytes} is negative
   * @throws IllegalStateException if less than {@code bytes} is reserved; nothing changes then
   */
  public void release(long bytes) {
    requireNotNegative(bytes);
    while (true) {
      long current = reserved.get();
      if (bytes > current) {
        throw new IllegalStateException(
            "release of " + bytes + " bytes while only " + current + " are reserved");
      }
      if (reserved.compareAndSet(current, current - bytes)) {
        return;
      }
    }
  }

  /** From now on {@code holder} is asked when others need memory. */
  public void register(Holder holder) {
    holders.add(holder);
  }

  /** Ends {@link #register}. */
  public void unregister(Holder holder) {
    holders.remove(holder);
  }

  /**
   * Asks the other holders to give memory back until {@code bytes} are available. The caller holds
   * no lock that a holder could need.
   *
   * @param asker not asked itself; null asks all
   */
  public void reclaim(long bytes, @Nullable Holder asker) {
    for (Holder holder : holders) {
      long missing = bytes - available();
      if (missing <= 0) {
        return;
      }
      if (holder != asker) {
        holder.giveBack(missing);
      }
    }
  }

  /** The most that may be reserved at a time, in bytes. */
  public long limit() {
    return limit;
  }

  /** Bytes reserved now. */
  public long reserved() {
    return reserved.get();
  }

  /** Bytes that could be reserved now. */
  public long available() {
    return limit - reserved.get();
  }

  @Override
  public String toString() {
    return "budget of " + limit + " bytes, " + reserved.get() + " reserved";
  }

  private static void requireNotNegative(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException(bytes + " bytes is negative");
    }
  }
}
