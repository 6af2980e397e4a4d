package io.s3e.jvm;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
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
 *   <li>{@code 0 <= reserved <= limit}, moved by compare-and-set alone. Names of those who reserve
 *       and release are not kept: {@link MemoryShare}'s holder keeps its own sum.
 *   <li>An engine's <i>share</i> is what pooled buffers hold and what is free, divided by the
 *       number of engines. Nobody has to stay within it as long as nobody else wants more.
 *   <li>A claim lasts {@value #CLAIM_MILLIS} ms or until its engine got memory. Meanwhile no other
 *       engine reserves: of a claim of the whole, anything; of a claim of the share, more than its
 *       own share. So what is given back reaches the engine that wants it, and two engines that
 *       want their shares both get them. A later claim replaces an earlier one, whose engine claims
 *       again.
 *   <li>Other engines' code ({@code giveBack}) runs on the thread that claims, with no lock of the
 *       account held. The account's lock is held to count engines, never for a call to elsewhere.
 * </ul>
 *
 * <p>Any thread.
 */
final class MemoryAccount implements MemoryAccountMBean {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryAccount.class);
  private static final long CLAIM_MILLIS = 50;

  private final long limit;
  private final Runnable whenClosed;
  private final AtomicLong reserved = new AtomicLong();
  private final List<Member> members = new CopyOnWriteArrayList<>();
  private final AtomicReference<@Nullable Claim> claim = new AtomicReference<>();

  /** Guarded by this. */
  private boolean closed;

  private record Claim(Member by, boolean isOfAll, long endNanos) {}

  private static final class Member {
    private final LongConsumer giveBack;
    private final LongSupplier pooled;

    Member(LongConsumer giveBack, LongSupplier pooled) {
      this.giveBack = giveBack;
      this.pooled = pooled;
    }
  }

  /**
   * @param whenClosed runs once, when the last engine leaves
   */
  MemoryAccount(long limit, Runnable whenClosed) {
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
      sum += member.pooled.getAsLong();
    }
    return sum;
  }

  @Override
  public int getEngines() {
    return members.size();
  }

  @Override
  public synchronized @Nullable Map<String, Object> join(
      LongConsumer giveBack, LongSupplier pooled) {
    if (closed) {
      return null;
    }
    Member member = new Member(giveBack, pooled);
    members.add(member);
    LongPredicate reserve = bytes -> tryReserve(member, bytes);
    LongConsumer release = bytes -> reserved.addAndGet(-bytes);
    LongSupplier available = () -> limit - reserved.get();
    LongSupplier pooledByAll = this::getPooled;
    LongSupplier share = this::share;
    IntSupplier engines = members::size;
    LongConsumer claimOfAll = bytes -> claim(member, true, bytes);
    Runnable claimOfShare = () -> claim(member, false, share() - pooled.getAsLong());
    Runnable leave = () -> leave(member);
    return Map.of(
        MemoryShare.LIMIT, limit,
        MemoryShare.RESERVE, reserve,
        MemoryShare.RELEASE, release,
        MemoryShare.AVAILABLE, available,
        MemoryShare.POOLED, pooledByAll,
        MemoryShare.SHARE, share,
        MemoryShare.ENGINES, engines,
        MemoryShare.CLAIM, claimOfAll,
        MemoryShare.CLAIM_SHARE, claimOfShare,
        MemoryShare.LEAVE, leave);
  }

  private void leave(Member member) {
    synchronized (this) {
      if (!members.remove(member) || !members.isEmpty()) {
        return;
      }
      closed = true;
    }
    whenClosed.run();
  }

  private long share() {
    return (limit - reserved.get() + getPooled()) / Math.max(1, members.size());
  }

  private boolean tryReserve(Member member, long bytes) {
    Claim standing = claim.get();
    if (standing != null && isFor(standing, member, bytes)) {
      return false;
    }
    for (; ; ) {
      long now = reserved.get();
      if (bytes > limit - now) {
        return false;
      }
      if (reserved.compareAndSet(now, now + bytes)) {
        if (standing != null && standing.by == member) {
          claim.compareAndSet(standing, null);
        }
        return true;
      }
    }
  }

  /** Whether the claim keeps {@code member} from reserving so much. */
  private boolean isFor(Claim standing, Member member, long bytes) {
    if (standing.by == member || System.nanoTime() - standing.endNanos >= 0) {
      return false;
    }
    return standing.isOfAll || member.pooled.getAsLong() + bytes > share();
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
      long beyond = other.pooled.getAsLong() - kept;
      if (other != by && missing > 0 && beyond > 0) {
        askFor(Math.min(missing, beyond), other);
      }
    }
  }

  private static void askFor(long bytes, Member other) {
    try {
      other.giveBack.accept(bytes);
    } catch (RuntimeException e) {
      LOG.warn("An engine of another class loader gave no memory back", e);
    }
  }
}
