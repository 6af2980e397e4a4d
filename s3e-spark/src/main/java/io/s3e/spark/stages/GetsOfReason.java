// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark.stages;

import io.s3e.fetch.GetRecord;
import java.io.Serializable;

/**
 * The GETs of some tasks that were sent for one reason, as they stood at the ends of these tasks.
 *
 * <p>The components are fields of {@link SparkListenerS3EStage} in event logs, so their names stay.
 *
 * @param reason the word of docs/TROUBLESHOOTING.md
 * @param gets how many were given to a client, whether they went out or not
 * @param failed those of them that ended otherwise than well, or were given up
 * @param received bytes of bodies that came
 * @param used the part of those in blocks that somebody had read
 * @param wasted the part that had left memory unread, or was of no use; the rest was in memory
 * @param answered how many an answer of was accepted
 * @param answerNanos from the starts of those to the heads of their answers, in all
 * @param longestAnswerNanos the longest of these times
 */
public record GetsOfReason(
    String reason,
    long gets,
    long failed,
    long received,
    long used,
    long wasted,
    long answered,
    long answerNanos,
    long longestAnswerNanos)
    implements Serializable {
  private static final long serialVersionUID = 1;

  static GetsOfReason of(GetRecord get) {
    boolean isFailed =
        get.state() == GetRecord.State.FAILED || get.state() == GetRecord.State.CANCELLED;
    long answer = get.answerNanos();
    return new GetsOfReason(
        get.reason().name(),
        1,
        isFailed ? 1 : 0,
        get.received(),
        get.used(),
        get.wasted(),
        answer > 0 ? 1 : 0,
        answer,
        answer);
  }

  /** Bytes that nobody had read: gone, or in memory still. */
  public long unread() {
    return received - used;
  }

  /** The sum of both, which are of one reason. */
  public GetsOfReason plus(GetsOfReason other) {
    return new GetsOfReason(
        reason,
        gets + other.gets,
        failed + other.failed,
        received + other.received,
        used + other.used,
        wasted + other.wasted,
        answered + other.answered,
        answerNanos + other.answerNanos,
        Math.max(longestAnswerNanos, other.longestAnswerNanos));
  }
}
