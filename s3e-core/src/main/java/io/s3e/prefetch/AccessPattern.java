package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import java.util.Objects;

/**
 * The order of a stream's reads, as far as it is known: what its opener said, where its split lies,
 * how often it jumped, and how far predictions have come true. Decides when a cursor may prefetch.
 * Not thread-safe.
 */
final class AccessPattern {
  /** Jumps in a row after which a stream counts as random, whatever its opener said. */
  private static final int RANDOM_AFTER_JUMPS = 3;

  /** Times that a cursor must go on into another block, in a stream that counts as random. */
  private static final int CROSSINGS_AFTER_JUMPS = 3;

  private static final int MAX_CROSSINGS = 8;

  private final BlockLayout layout;
  private final WasteLedger ledger;
  private ReadPolicy policy;
  private long splitStart;
  private long splitEnd;

  /** No read was seen since the stream was opened or reset. */
  private boolean fresh = true;

  private int jumps;

  AccessPattern(
      BlockLayout layout, WasteLedger ledger, ReadPolicy policy, long splitStart, long splitEnd) {
    this.layout = layout;
    this.ledger = ledger;
    this.policy = Objects.requireNonNull(policy, "policy");
    this.splitStart = splitStart;
    this.splitEnd = splitEnd;
  }

  ReadPolicy policy() {
    return policy;
  }

  void setPolicy(ReadPolicy value) {
    policy = Objects.requireNonNull(value, "policy");
  }

  void setSplit(long start, long end) {
    splitStart = start;
    splitEnd = end;
  }

  /** Block after the last one that holds a byte of the split. */
  long splitLimit() {
    return splitEnd < 0 ? layout.blocks() : layout.covering(0, splitEnd).end();
  }

  /** The stream is as if just opened, except for what has become of earlier predictions. */
  void reset() {
    fresh = true;
  }

  /** A read was seen. */
  void onRead() {
    fresh = false;
  }

  /** A cursor that prefetches has gone on from block to block. */
  void onForward() {
    jumps = 0;
  }

  /**
   * A read began somewhere else.
   *
   * @return true if the stream counts as random from now on
   */
  boolean onJump() {
    if (fresh) {
      return false;
    }
    jumps++;
    return jumps == RANDOM_AFTER_JUMPS;
  }

  boolean countsAsRandom() {
    return jumps >= RANDOM_AFTER_JUMPS;
  }

  /** Whether the opener announced a reader that goes from front to end, and it looks like one. */
  boolean isSaidToScan() {
    boolean said = policy == ReadPolicy.SEQUENTIAL || policy == ReadPolicy.WHOLE_FILE;
    return said && !countsAsRandom();
  }

  private boolean isTrusted() {
    return ledger.distrust() == 0 && !countsAsRandom();
  }

  /** Whether a cursor that has just begun prefetches before it has shown anything. */
  boolean isAssumedForward(Cursor cursor) {
    long block = cursor.reached;
    if (cursor.origin != Cursor.Origin.JUMP || !isTrusted() || block >= splitLimit()) {
      return false;
    }
    long fromSplitStart = block - layout.covering(splitStart, splitStart + 1).first();
    if (policy == ReadPolicy.ADAPTIVE) {
      return fresh && Math.abs(fromSplitStart) <= 1;
    }
    return fromSplitStart >= -1;
  }

  /** Whether a cursor has gone on from block to block often enough to prefetch. */
  boolean hasShownEnough(Cursor cursor) {
    int base = countsAsRandom() ? CROSSINGS_AFTER_JUMPS : 1;
    int needed = Math.min(MAX_CROSSINGS, base << ledger.distrust());
    return cursor.crossings >= needed && (cursor.origin != Cursor.Origin.REREAD || cursor.stalled);
  }

  @Override
  public String toString() {
    String text = policy + (countsAsRandom() ? " (jumping)" : "");
    return ledger.distrust() == 0 ? text : text + ", distrust " + ledger.distrust();
  }
}
