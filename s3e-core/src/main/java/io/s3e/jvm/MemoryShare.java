// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One engine's part in a {@link MemoryAccount}, which may be an object of another class loader:
 * therefore a function of the JDK's types, which takes the name of a call and a number of bytes,
 * and answers with a number. Another set of calls needs another name of the method that engines
 * join by, so that those of other versions do not find it.
 */
public final class MemoryShare {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryShare.class);

  // The calls, as MemoryBudget tells of each; RESERVE answers with 1 or 0.
  public static final String LIMIT = "limit";
  public static final String RESERVE = "reserve";
  public static final String RELEASE = "release";
  public static final String AVAILABLE = "available";
  public static final String POOLED = "pooled";
  public static final String CLAIMABLE = "claimable";
  public static final String CLAIM = "claim";
  public static final String CLAIM_SHARE = "claimShare";
  public static final String LEAVE = "leave";

  private MemoryShare() {}

  /** A part in the account of this JVM, made with that limit if there is none. */
  public static ToLongBiFunction<String, Long> ofJvm(
      long limit, LongConsumer giveBack, LongSupplier pooled) {
    try {
      return RegisteredAccount.join(limit, giveBack, pooled);
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
  public static ToLongBiFunction<String, Long> alone(
      long limit, LongConsumer giveBack, LongSupplier pooled) {
    return Objects.requireNonNull(new MemoryAccount(limit, null).join(giveBack, pooled));
  }
}
