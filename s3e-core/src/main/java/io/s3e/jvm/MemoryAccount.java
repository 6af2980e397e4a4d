// SPDX-License-Identifier: Apache-2.0
package io.s3e.jvm;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One limit of memory for one or more engines, whatever class loaders they are of.
 *
 * <p><b>States.</b> <i>Open</i>, from the first engine on; <i>closed</i> for good when the last one
 * leaves, and no engine joins it any more. An engine that has left may still release what it had
 * reserved.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>{@code 0 <= reserved <= limit}, moved by compare-and-set alone, and the sum of what the
 *       engines have reserved. No engine releases more than it has reserved.
 *   <li>An engine's <i>share</i> is what pooled buffers hold and what is free, divided by the
 *       number of engines. Nobody has to stay within it as long as nobody else wants more.
 *   <li>A claim lasts {@value #CLAIM_MILLIS} ms or until its engine got memory. Meanwhile no other
 *       engine reserves: of a claim of the whole, anything; of a claim of the share, more than its
 *       own share. So what is given back reaches the engine that wants it, and two engines that
 *       want their shares both get them. A later claim replaces an earlier one, whose engine claims
 *       again.
 *   <li>Other engines' code ({@code giveBack}, {@code pooled}) runs on the thread that asks, with
 *       no lock of the account held. The account's lock is held to count engines, never for a call
 *       to elsewhere. Whatever that code throws stays here: the class loader of such an engine may
 *       be closed. The engine then holds nothing that others could have; a WARN says so once.
 * </ul>
 *
 * <p>Any thread.
 */
final class MemoryAccount implements MemoryAccountMBean {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryAccount.class);

  private static final long CLAIM_MILLIS = 50;

  /** Loaded with this class, whose loader may be closed while other engines use the account. */
  private static final Class<?> LOADED_WITH_THIS = Claim.class;

  private final long limit;
  private final @Nullable Runnable whenClosed;
  private final AtomicLong reserved = new AtomicLong();
  private final List<Member> members = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Claim> claim = new AtomicReference<>();

  /** Guarded by this. */
  private boolean closed;

  private record Claim(Member by, boolean isOfAll, long endNanos) {}

  private final class Member implements ToLongBiFunction<String, Long> {
    private final LongConsumer giveBack;
    private final LongSupplier pooled;
    private final AtomicLong reserved = new AtomicLong();
    private final AtomicBoolean toldOfFailure = new AtomicBoolean();

    Member(LongConsumer giveBack, LongSupplier pooled) {
      this.giveBack = Objects.requireNonNull(giveBack, "giveBack");
      this.pooled = Objects.requireNonNull(pooled, "pooled");
    }

    /** What the engine asks of the account: the calls of {@link MemoryShare}. */
    @Override
    public long applyAsLong(String call, Long bytes) {
      switch (call) {
        case MemoryShare.RELEASE -> release(this, bytes);
        case MemoryShare.CLAIM -> claim(this, true, bytes);
        case MemoryShare.CLAIM_SHARE -> claim(this, false, share() - pooled());
        case MemoryShare.LEAVE -> leave(this);
        default -> {
          return answer(call, bytes);
        }
      }
      return 0;
    }

    private long answer(String call, long bytes) {
      return switch (call) {
        case MemoryShare.LIMIT -> limit;
        case MemoryShare.RESERVE -> tryReserve(this, bytes) ? 1 : 0;
        case MemoryShare.AVAILABLE -> limit - getReserved();
        case MemoryShare.POOLED -> getPooled();
        case MemoryShare.CLAIMABLE -> members.size() < 2 ? 0 : share();
        default -> throw new IllegalArgumentException("no such call: " + call);
      };
    }

    /** Bytes in pooled buffers, 0 or more; 0 if the engine cannot say. */
    @SuppressWarnings("IllegalCatch")
    long pooled() {
      try {
        return Math.max(0, pooled.getAsLong());
      } catch (Throwable e) {
        tell(e);
        return 0;
      }
    }

    @SuppressWarnings("IllegalCatch")
    void giveBack(long bytes) {
      try {
        giveBack.accept(bytes);
      } catch (Throwable e) {
        tell(e);
      }
    }

    private void tell(Throwable e) {
      if (toldOfFailure.compareAndSet(false, true)) {
        LOG.warn("An engine of another class loader gives no memory back", e);
      }
    }
  }

  MemoryAccount(long limit, @Nullable Runnable whenClosed) {
    LOG.trace("An account with {}", LOADED_WITH_THIS);
    this.limit = limit;
    this.whenClosed = whenClosed;
  }

  @Override
  public long getLimit() {
    return limit;
  }

  @Override
  public long getReserved() {
    return reserved.get();
  }

  @Override
  public long getPooled() {
    long sum = 0;
    for (Member member : members) {
      sum += member.pooled();
    }
    return sum;
  }

  @Override
  public int getEngines() {
    return members.size();
  }

  /**
   * One engine more.
   *
   * @param giveBack frees about so many bytes of pooled buffers, as far as nothing needs them now;
   *     called on other engines' threads
   * @param pooled bytes that the engine's pooled buffers hold
   * @return takes the calls of {@link MemoryShare}; null if the last engine has left
   */
  synchronized @Nullable ToLongBiFunction<String, Long> join(
      LongConsumer giveBack, LongSupplier pooled) {
    Member member = new Member(giveBack, pooled);
    if (closed) {
      return null;
    }
    members.add(member);
    return member;
  }

  private void leave(Member member) {
    // What claims in vain and leaves must not stay, nor keep others from its memory.
    claim.updateAndGet(standing -> standing == null || standing.by == member ? null : standing);
    synchronized (this) {
      if (!members.remove(member) || !members.isEmpty()) {
        return;
      }
      closed = true;
    }
    if (whenClosed != null) {
      whenClosed.run();
    }
  }

  private long share() {
    return (limit - reserved.get() + getPooled()) / Math.max(1, members.size());
  }

  private boolean tryReserve(Member member, long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("cannot reserve " + bytes + " bytes");
    }
    Claim standing = claim.get();
    if (bytes > 0 && standing != null && bars(standing, member, bytes)) {
      return false;
    }
    for (long now = reserved.get(); bytes <= limit - now; now = reserved.get()) {
      if (reserved.compareAndSet(now, now + bytes)) {
        member.reserved.addAndGet(bytes);
        if (standing != null && standing.by == member) {
          claim.compareAndSet(standing, null);
        }
        return true;
      }
    }
    return false;
  }

  private void release(Member member, long bytes) {
    for (; ; ) {
      long now = member.reserved.get();
      if (bytes < 0 || bytes > now) {
        throw new IllegalArgumentException(
            "cannot release " + bytes + " bytes of " + now + " that are reserved");
      }
      if (member.reserved.compareAndSet(now, now - bytes)) {
        reserved.addAndGet(-bytes);
        return;
      }
    }
  }

  /** Whether the claim keeps {@code member} from reserving so much. */
  private boolean bars(Claim standing, Member member, long bytes) {
    if (standing.by == member || System.nanoTime() - standing.endNanos >= 0) {
      return false;
    }
    return standing.isOfAll || member.pooled() + bytes > share();
  }

  /** Has other engines give back pooled buffers until so many bytes are free, or all have. */
  private void claim(Member by, boolean isOfAll, long bytes) {
    if (members.size() < 2 || bytes <= limit - reserved.get()) {
      return;
    }
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLAIM_MILLIS);
    claim.set(new Claim(by, isOfAll, end));
    long kept = isOfAll ? 0 : share();
    for (Member other : members) {
      long missing = bytes - (limit - reserved.get());
      long beyond = other.pooled() - kept;
      if (other != by && missing > 0 && beyond > 0) {
        other.giveBack(Math.min(missing, beyond));
      }
    }
  }
}
