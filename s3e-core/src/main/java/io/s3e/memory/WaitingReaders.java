// SPDX-License-Identifier: Apache-2.0
package io.s3e.memory;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The readers of all tenants that wait for memory or a place, each in the queue of its {@link
 * Account}. Any thread, no lock.
 */
final class WaitingReaders {
  static final long RECHECK_MILLIS = 20;
  private static final long RECHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(RECHECK_MILLIS);

  /**
   * A slot comes back every 2 ms or so while readers are fast. To wait for one is cheaper than to
   * fetch an eighth of it by copying; to wait for long is not, for slow readers may hold them all.
   */
  static final long SLOT_PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** Those that are open. */
  final Set<Account> accounts = ConcurrentHashMap.newKeySet();

  private final AtomicInteger count = new AtomicInteger();

  /**
   * Has the calling thread wait in the queue of {@code account}, and look each time that it is
   * first and something may have changed; null if the reader has given up, or the account is
   * closed. {@code look} is told for how long it has waited, in ns, and answers null if it has to
   * wait on.
   */
  @Nullable Grant await(
      Account account, Object object, LongFunction<@Nullable Grant> look, BooleanSupplier givenUp)
      throws InterruptedException {
    long since = System.nanoTime();
    Account.Reader self = new Account.Reader(Thread.currentThread(), object, since);
    count.incrementAndGet();
    try {
      account.waiting.add(self);
      for (; ; ) {
        long now = System.nanoTime();
        Grant grant = self.equals(account.next()) ? look.apply(now - since) : null;
        if (grant != null || givenUp.getAsBoolean() || !account.isOpen()) {
          return grant;
        }
        // Until something changes by time alone, or a wake-up may have been missed.
        long slot = SLOT_PATIENCE_NANOS - (now - since);
        LockSupport.parkNanos(this, slot > 0 ? slot : RECHECK_NANOS);
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    } finally {
      account.waiting.remove(self);
      count.decrementAndGet();
    }
  }

  /** Whether a reader whose GETs go by {@code carrier} waits since before {@code thenNanos}. */
  boolean isStarving(Carrier carrier, long thenNanos) {
    return accounts.stream()
        .filter(account -> account.carrier() == carrier)
        .map(account -> account.waiting.peek())
        .anyMatch(longest -> longest != null && thenNanos - longest.sinceNanos() > 0);
  }

  /** Memory or concurrency has come back: the first reader of each tenant looks again. */
  void wake() {
    for (Account account : count.get() == 0 ? Set.<Account>of() : accounts) {
      Account.Reader next = account.waiting.isEmpty() ? null : account.next();
      // The next itself looks again after it has evicted; to wake it here would make it spin.
      if (next != null && next.thread() != Thread.currentThread()) {
        LockSupport.unpark(next.thread());
      }
    }
  }
}
