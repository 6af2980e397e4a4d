// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.ByteRange;
import io.s3e.prefetch.Cursors.Cursor;
import org.junit.jupiter.api.Test;

class AccessPatternTest {
  private static final long MIB = 1 << 20;
  private static final int BLOCK = 256 << 10;

  private final Ledger ledger = new Ledger(MIB);
  private final AccessPattern pattern = over(ReadPolicy.ADAPTIVE);

  private AccessPattern over(ReadPolicy policy) {
    return new AccessPattern(new BlockLayout(1000 * MIB, BLOCK), ledger, policy, null);
  }

  private void readInOrder(long from, long end) {
    readInOrder(pattern, from, end);
  }

  private static void readInOrder(AccessPattern pattern, long from, long end) {
    for (long at = from; at < end; at += MIB) {
      pattern.onRead(at, Math.min(end, at + MIB));
    }
  }

  private static void jump(AccessPattern pattern, int times) {
    pattern.onPlanned();
    for (int i = 0; i < times; i++) {
      pattern.onJump();
    }
  }

  @Test
  void aSplitEndsWithTheObjectAtTheLatest() {
    BlockLayout layout = new BlockLayout(10 * MIB, BLOCK);
    for (long end : new long[] {10 * MIB, 11 * MIB, Long.MAX_VALUE}) {
      AccessPattern split =
          new AccessPattern(layout, ledger, ReadPolicy.ADAPTIVE, new ByteRange(MIB, end));
      assertThat(split.splitLimit).as("split to %s", end).isEqualTo(layout.blocks());
    }
  }

  @Test
  void aMebibyteInARowIsInOrder() {
    readInOrder(0, MIB - 1);
    assertThat(pattern.isInOrder()).isFalse();

    readInOrder(MIB - 1, MIB);
    assertThat(pattern.isInOrder()).isTrue();
    assertThat(pattern.isScanning()).isFalse();
  }

  @Test
  void aLongRunIsAScan() {
    readInOrder(0, 31 * MIB);
    assertThat(pattern.isScanning()).isFalse();

    readInOrder(31 * MIB, 32 * MIB);
    assertThat(pattern.isScanning()).isTrue();
  }

  @Test
  void aScanMayBeginAnywhereAndSkipALittle() {
    readInOrder(700 * MIB, 720 * MIB);
    readInOrder(720 * MIB + BLOCK, 740 * MIB);

    assertThat(pattern.isScanning()).isTrue();
  }

  @Test
  void aLongerSkipBeginsAnotherRun() {
    readInOrder(700 * MIB, 720 * MIB);
    readInOrder(720 * MIB + BLOCK + 1, 740 * MIB);

    assertThat(pattern.isScanning()).isFalse();
    assertThat(pattern.isInOrder()).isTrue();
  }

  @Test
  void aJumpEndsIt() {
    readInOrder(0, 40 * MIB);
    pattern.onRead(500 * MIB, 500 * MIB + 1);
    assertThat(pattern.isScanning()).isFalse();
    assertThat(pattern.isInOrder()).isFalse();

    pattern.onRead(0, 1);
    assertThat(pattern.isScanning()).isFalse();
  }

  @Test
  void aLookBackInsideTheRunDoesNot() {
    readInOrder(0, 40 * MIB);
    pattern.onRead(10 * MIB, 11 * MIB);
    readInOrder(40 * MIB, 41 * MIB);

    assertThat(pattern.isScanning()).isTrue();
  }

  @Test
  void theOpenersWordCountsFromTheStart() {
    assertThat(over(ReadPolicy.SEQUENTIAL).isScanning()).isTrue();
    assertThat(over(ReadPolicy.WHOLE_FILE).isInOrder()).isTrue();
    assertThat(over(ReadPolicy.RANDOM).isInOrder()).isFalse();
    assertThat(pattern.isScanning()).isFalse();
  }

  @Test
  void threeJumpsSpeakAgainstTheOpenersWordUntilReadsGoOn() {
    AccessPattern said = over(ReadPolicy.WHOLE_FILE);
    jump(said, 2);
    assertThat(said.isScanning()).isTrue();

    assertThat(said.onJump()).as("random from now on").isTrue();
    assertThat(said.isScanning()).isFalse();
    assertThat(said.isInOrder()).isFalse();
    assertThat(said.onJump()).as("it was random before").isFalse();

    said.onForward();
    assertThat(said.isScanning()).isTrue();
  }

  @Test
  void theFirstReadIsNoJump() {
    AccessPattern said = over(ReadPolicy.SEQUENTIAL);
    said.onJump();
    jump(said, 2);
    assertThat(said.isScanning()).isTrue();

    said.reset();
    said.onJump();
    assertThat(said.isScanning()).isTrue();
  }

  private AccessPattern over(ByteRange split) {
    return new AccessPattern(
        new BlockLayout(1000 * MIB, BLOCK), ledger, ReadPolicy.ADAPTIVE, split);
  }

  @Test
  void aReaderThatBeginsAtTheFrontMayScanUntilItJumps() {
    assertThat(pattern.looksLikeScan()).as("nothing was read").isFalse();
    assertThat(pattern.mayBeScan()).isTrue();

    pattern.onRead(0, 10);
    assertThat(pattern.looksLikeScan()).isTrue();
    readInOrder(0, 10 * MIB);
    assertThat(pattern.mayBeScan()).isTrue();
    assertThat(pattern.looksLikeScan()).isTrue();

    pattern.onRead(500 * MIB, 500 * MIB + 1);
    assertThat(pattern.mayBeScan()).isFalse();
    assertThat(pattern.looksLikeScan()).isFalse();
    readInOrder(500 * MIB, 531 * MIB);
    assertThat(pattern.mayBeScan()).as("it has jumped before").isFalse();
    assertThat(pattern.looksLikeScan()).isFalse();
    readInOrder(531 * MIB, 532 * MIB);
    assertThat(pattern.looksLikeScan()).isTrue();
  }

  @Test
  void aLongRunFromTheFrontIsAScanForCertain() {
    readInOrder(0, 32 * MIB);
    assertThat(pattern.mayBeScan()).isFalse();
    assertThat(pattern.looksLikeScan()).isTrue();
  }

  @Test
  void theFrontOfASplitIsAFront() {
    AccessPattern split = over(new ByteRange(128 * MIB, 256 * MIB));
    split.onRead(128 * MIB - 1, 128 * MIB + 1);
    assertThat(split.looksLikeScan()).isTrue();

    AccessPattern elsewhere = over(new ByteRange(128 * MIB, 256 * MIB));
    elsewhere.onRead(0, 10);
    assertThat(elsewhere.looksLikeScan()).isFalse();
    assertThat(elsewhere.mayBeScan()).isTrue();
  }

  @Test
  void aReaderThatBeginsElsewhereLooksLikeAScanOnceItGoesOn() {
    pattern.onRead(700 * MIB, 701 * MIB);
    pattern.onRead(700 * MIB, 701 * MIB);
    assertThat(pattern.looksLikeScan()).isFalse();

    pattern.onRead(701 * MIB, 702 * MIB);
    assertThat(pattern.looksLikeScan()).isTrue();
    assertThat(pattern.mayBeScan()).isTrue();
  }

  @Test
  void aFooterReadFromItsEndIsNoScan() {
    pattern.onRead(1000 * MIB - 8, 1000 * MIB);
    pattern.onRead(1000 * MIB - 50_000, 1000 * MIB - 8);
    assertThat(pattern.looksLikeScan()).isFalse();
    assertThat(pattern.mayBeScan()).isTrue();
  }

  @Test
  void backwardReadsAreNoScan() {
    pattern.onRead(999 * MIB, 1000 * MIB);
    pattern.onRead(998 * MIB, 999 * MIB);
    assertThat(pattern.mayBeScan()).isFalse();
    assertThat(pattern.looksLikeScan()).isFalse();
  }

  @Test
  void aReaderWithAnOrderOfItsOwnIsNoScanUntilItHasReadOn() {
    pattern.onOwnOrder();
    pattern.onRead(0, 10);
    assertThat(pattern.mayBeScan()).isFalse();
    assertThat(pattern.looksLikeScan()).isFalse();
    readInOrder(0, 32 * MIB);
    assertThat(pattern.looksLikeScan()).isTrue();
  }

  @Test
  void theOpenersWordNeedsNoRead() {
    assertThat(over(ReadPolicy.SEQUENTIAL).looksLikeScan()).isTrue();
    assertThat(over(ReadPolicy.SEQUENTIAL).mayBeScan()).isFalse();
    AccessPattern random = over(ReadPolicy.RANDOM);
    random.onRead(0, 10);
    assertThat(random.mayBeScan()).isFalse();
    assertThat(random.looksLikeScan()).isFalse();
  }

  @Test
  void aCursorThatBeganInWhatWasReadHasToWaitToo() {
    Cursor cursor = new Cursor(0, 0, Cursor.CursorStart.REREAD);
    cursor.continued = true;
    assertThat(pattern.hasShownEnough(cursor)).isFalse();
    cursor.waitedAt = 1;
    assertThat(pattern.hasShownEnough(cursor)).isTrue();
  }

  @Test
  void jumpsAndWasteEndTrust() {
    assertThat(pattern.isTrusted()).isTrue();
    jump(pattern, 3);
    assertThat(pattern.isTrusted()).isFalse();
    pattern.onForward();
    assertThat(pattern.isTrusted()).isTrue();
    ledger.settle(GuessKind.WINDOW, 0, MIB);
    assertThat(pattern.isTrusted()).isFalse();
  }

  @Test
  void theShortestOfThreeRunsIsForeseen() {
    assertThat(pattern.foreseenRun()).isZero();
    pattern.onRunEnd(9);
    pattern.onRunEnd(7);
    assertThat(pattern.foreseenRun()).as("two runs").isZero();
    pattern.onRunEnd(8);
    assertThat(pattern.foreseenRun()).isEqualTo(7);
    pattern.onRunEnd(8);
    pattern.onRunEnd(8);
    assertThat(pattern.foreseenRun()).as("9 and 7 are forgotten").isEqualTo(8);
    pattern.onRunEnd(0);
    assertThat(pattern.foreseenRun()).as("after one read").isZero();
  }

  @Test
  void whoStopsWithinAMebibyteThoughThereIsMoreHasStoppedSoon() {
    assertThat(over(ReadPolicy.SEQUENTIAL).hasStoppedSoon()).as("unread").isFalse();
    AccessPattern told = over(ReadPolicy.SEQUENTIAL);
    readInOrder(told, 0, MIB - 64 * 1024);
    assertThat(told.hasStoppedSoon()).isTrue();
    readInOrder(told, MIB - 64 * 1024, MIB);
    assertThat(told.hasStoppedSoon()).as("it has gone on").isFalse();

    AccessPattern small = over(new ByteRange(0, 1536 * 1024));
    readInOrder(small, 0, 960 * 1024);
    assertThat(small.hasStoppedSoon()).as("at its split's end").isFalse();

    AccessPattern random = over(ReadPolicy.RANDOM);
    random.onRead(0, 10);
    assertThat(random.hasStoppedSoon()).isFalse();
  }

  /** A stream tells of each block of a call, up to the end of the call. */
  @Test
  void callsInsideOneLongBlockAreOneRun() {
    long block = 4 * MIB;
    AccessPattern told =
        new AccessPattern(
            new BlockLayout(1000 * MIB, (int) block), ledger, ReadPolicy.SEQUENTIAL, null);
    for (long at = 0; at < 8 * block; at += block) {
      told.onRead(at, at + 64 * 1024);
    }
    assertThat(told.hasComeFar()).isTrue();
    assertThat(told.isRandom()).isFalse();
  }
}
