// SPDX-License-Identifier: Apache-2.0
package io.s3e.fault;

import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import java.util.EnumSet;
import java.util.Set;

/**
 * The failures of one piece of work since it last got on. Immutable.
 *
 * @param failures how many there were, the present one included
 * @param rejections how many of the last ones, without a break, were answers that were refused for
 *     their form
 * @param tried remedies that a refusal has asked for and that have been brought about
 * @param hasAnswered whether the store has ever answered this JVM: trust, names and credentials
 *     were right then, and failures of these may pass
 */
public record History(int failures, int rejections, Set<Remedy> tried, boolean hasAnswered) {
  public static final History NONE = new History(0, 0, Set.of(), false);

  public History {
    tried = Set.copyOf(tried);
  }

  /** One failure more, of a store that has, or has not, ever answered by now. */
  public History failed(RequestFailure failure, boolean hasAnsweredNow) {
    boolean rejected = failure.kind() == RequestFailure.Kind.REJECTED;
    return new History(failures + 1, rejected ? rejections + 1 : 0, tried, hasAnsweredNow);
  }

  /**
   * With a remedy that is brought about after {@code failure}. Only one that the store has asked
   * for counts: a provider that fails is asked again and again.
   */
  public History after(RequestFailure failure, Remedy remedy) {
    if (remedy == Remedy.NONE || failure.refusal() == null) {
      return this;
    }
    Set<Remedy> more = EnumSet.of(remedy);
    more.addAll(tried);
    return new History(failures, rejections, more, hasAnswered);
  }
}
