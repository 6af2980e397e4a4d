// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import java.util.Map;
import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One engine's part in a {@link MemoryAccount}, which may be an object of another class loader:
 * therefore functions of the JDK's types, handed over once, by name.
 *
 * @param limit the most that all engines of the account may hold, in bytes
 * @param reserve reserves all of so many bytes or nothing
 * @param release gives back what was reserved
 * @param available bytes that could be reserved now
 * @param pooled bytes in pooled buffers of all engines
 * @param claimable bytes of pooled buffers that each engine can count on; 0 if it is alone
 * @param claim has other engines give back pooled buffers until so many bytes are free
 * @param claimShare has the engines with more than their share of pooled buffers give back of it
 * @param leave the engine reserves nothing any more
 */
public record MemoryShare(
    long limit,
    LongPredicate reserve,
    LongConsumer release,
    LongSupplier available,
    LongSupplier pooled,
    LongSupplier claimable,
    LongConsumer claim,
    Runnable claimShare,
    Runnable leave) {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryShare.class);

  /** A part in the account of this JVM, made with that limit if there is none. */
  public static MemoryShare ofJvm(long limit, LongConsumer giveBack, LongSupplier pooled) {
    try {
      return of(RegisteredAccount.join(limit, giveBack, pooled));
    } catch (LinkageError e) {
      LOG.debug("This JVM has no JMX: engines of other class loaders are not counted", e);
    } catch (RuntimeException e) {
      LOG.warn(
          "The account of memory at {} cannot be used, so that this engine has {} bytes beside"
              + " those of other class loaders' engines",
          RegisteredAccount.NAME,
          limit,
          e);
    }
    return alone(limit, giveBack, pooled);
  }

  /** A part in an account that nobody else finds. */
  public static MemoryShare alone(long limit, LongConsumer giveBack, LongSupplier pooled) {
    return of(new MemoryAccount(limit, () -> {}).join(giveBack, pooled));
  }

  private static MemoryShare of(@Nullable Map<String, Object> joined) {
    Map<String, Object> by = Objects.requireNonNull(joined, "functions of the account");
    Runnable leave = get(by, MemoryAccount.LEAVE, Runnable.class);
    try {
      return new MemoryShare(
          get(by, MemoryAccount.LIMIT, Long.class),
          get(by, MemoryAccount.RESERVE, LongPredicate.class),
          get(by, MemoryAccount.RELEASE, LongConsumer.class),
          get(by, MemoryAccount.AVAILABLE, LongSupplier.class),
          get(by, MemoryAccount.POOLED, LongSupplier.class),
          get(by, MemoryAccount.CLAIMABLE, LongSupplier.class),
          get(by, MemoryAccount.CLAIM, LongConsumer.class),
          get(by, MemoryAccount.CLAIM_SHARE, Runnable.class),
          leave);
    } catch (RuntimeException e) {
      // An account of another version: a member that is none would keep it, and its class loader.
      leave.run();
      throw e;
    }
  }

  private static <T> T get(Map<String, Object> by, String name, Class<T> type) {
    return type.cast(Objects.requireNonNull(by.get(name), name));
  }
}
