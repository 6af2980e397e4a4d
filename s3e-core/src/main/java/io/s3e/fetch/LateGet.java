// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.memory.Grant;
import java.time.Duration;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A GET of a run that is late for its reader, and what is done about it: others may have its place;
 * a {@link Hedge} goes out beside it, if it is the run's first; or the GET is given up, where other
 * readers starve for what it holds.
 *
 * <p>Made and looked at by the timer alone; any thread may end it and ask whether it has yielded.
 */
final class LateGet {
  private final Attempt attempt;
  private final Predicate<Hedge> overtakes;
  private final Grant grant;
  private final RunEffort effort;
  private volatile @Nullable Hedge hedge;

  /** Whether it was given up for other readers. Told before its end. */
  volatile boolean hasYielded;

  /** {@code overtakes} as a {@link Hedge} has it. */
  LateGet(Attempt attempt, Predicate<Hedge> overtakes, Grant grant, RunEffort effort) {
    this.attempt = attempt;
    this.overtakes = overtakes;
    this.grant = grant;
    this.effort = effort;
  }

  boolean isOf(@Nullable Attempt one) {
    return attempt == one;
  }

  /** It is late still; the rest as {@link FetchTimer.Watched#tick} has it. */
  void look(boolean isAwaited, long now, long lateNanos) {
    boolean isAside = grant.overdue();
    Tenant tenant = attempt.tenant;
    if (!tenant.admission.isStarving(tenant.account.carrier(), now)) {
      if (isAwaited && hedge == null) {
        hedge();
      }
      return;
    }
    Hedge second = hedge;
    if (second != null && second.attempt.isLate(now - lateNanos)) {
      // A second GET that is late as well holds what other readers starve for.
      second.attempt.cancel(effort.cancelled("other readers want its place"));
    }
    if (!isAside && grant.canYield() && attempt.isInTheWay(now - lateNanos)) {
      hasYielded = true;
      attempt.giveUp(effort.stalled(Duration.ofNanos(attempt.silentNanos(now))));
    }
  }

  private void hedge() {
    // An object whose GETs hang again and again would hold two places in place of one.
    if (grant.isLent() || attempt.get.attempt > 1 || !attempt.gate.admitsGuess(0)) {
      return;
    }
    Hedge second = Hedge.of(attempt, overtakes);
    if (second == null) {
      return;
    }
    hedge = second;
    second.attempt.begin();
    // Perhaps the attempt has ended before it could see the hedge.
    if (attempt.get.hasEnded()) {
      end();
    }
  }

  /** The GET has ended, and with it the hedge. */
  void end() {
    Hedge second = hedge;
    if (second != null) {
      second.attempt.cancel(effort.cancelled("the first GET has ended"));
    }
  }
}
