// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.fault.Gate;
import io.s3e.memory.Grant;
import java.io.IOException;
import java.time.Duration;
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
  private final Hedge.Late run;
  private final Grant grant;
  private final RunEffort effort;
  private final Tenant tenant;
  private final ObjectHandle handle;
  private final Gate gate;
  private volatile @Nullable Hedge hedge;
  private volatile boolean yielded;

  LateGet(
      Attempt attempt,
      Hedge.Late run,
      Grant grant,
      RunEffort effort,
      Tenant tenant,
      ObjectHandle handle,
      Gate gate) {
    this.attempt = attempt;
    this.run = run;
    this.grant = grant;
    this.effort = effort;
    this.tenant = tenant;
    this.handle = handle;
    this.gate = gate;
  }

  boolean isOf(@Nullable Attempt one) {
    return attempt == one;
  }

  /** Whether it was given up for other readers. Told before its end. */
  boolean hasYielded() {
    return yielded;
  }

  /** It is late still; the rest as {@link FetchTimer.Watched#tick} has it. */
  void look(boolean isAwaited, long now, long lateNanos) {
    boolean isAside = grant.overdue();
    if (!tenant.admission().isStarving(tenant.account().carrier(), now)) {
      if (isAwaited && hedge == null) {
        hedge();
      }
      return;
    }
    Hedge second = hedge;
    if (second != null && second.isLate(now - lateNanos)) {
      // A second GET that is late as well holds what other readers starve for.
      second.cancel(effort.cancelled("other readers want its place"));
    }
    if (!isAside && grant.canYield() && attempt.isInTheWay(now - lateNanos)) {
      yielded = true;
      attempt.giveUp(effort.stalled(Duration.ofNanos(attempt.silentNanos(now))));
    }
  }

  private void hedge() {
    // An object whose GETs hang again and again would hold two places in place of one.
    if (grant.isLent() || attempt.record().attempt() > 1 || !gate.admitsGuess(0)) {
      return;
    }
    Hedge second = Hedge.of(run, tenant, handle, gate, attempt.record().range());
    if (second == null) {
      return;
    }
    hedge = second;
    second.begin();
    // Perhaps the attempt has ended before it could see the hedge.
    if (attempt.record().hasEnded()) {
      end();
    }
  }

  /** The GET has ended, and with it the hedge. */
  void end() {
    Hedge second = hedge;
    if (second != null) {
      IOException why = effort.cancelled("the first GET has ended");
      second.cancel(why);
    }
  }
}
