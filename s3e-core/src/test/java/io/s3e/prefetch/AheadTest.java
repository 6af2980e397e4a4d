// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.Ahead.Starting;
import io.s3e.prefetch.Wish.Range;
import io.s3e.prefetch.Wish.Start;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A hundred blocks of a kilobyte; requests are as long as what is absent. */
class AheadTest {
  private static final int BLOCK = 1 << 10;

  private final EngineMetrics counted = new EngineMetrics();
  private final Ahead ahead = new Ahead(new BlockLayout(100 * BLOCK, BLOCK), counted::add);
  private final Ledger ledger = new Ledger(10 * BLOCK);

  private Range window(long first, long end) {
    return range(GuessKind.WINDOW, Start.NOW, first, end);
  }

  private Range range(GuessKind kind, Start start, long first, long end) {
    return new Range(run(first, end), kind, ledger, start, Wish.Cut.NONE);
  }

  private static BlockRange run(long first, long end) {
    return new BlockRange(first, end);
  }

  private Change look(Range... wish) {
    return ahead.look(new Wish(List.of(wish)), block -> false);
  }

  private List<BlockRange> start(Range... wish) {
    Change change = look(wish);
    change.starting().forEach(each -> ahead.started(each.blocks(), each.of()));
    return started(change);
  }

  private static List<BlockRange> started(Change change) {
    return change.starting().stream().map(Starting::blocks).toList();
  }

  private void read(long first, long end) {
    ahead.onRead(new ByteRange(first * BLOCK, end * BLOCK));
  }

  private void lose(long first, long end) {
    ahead.verify(block -> block < first || block >= end);
  }

  private int distrust() {
    return ledger.distrust();
  }

  @Test
  void lookingAgainIsHarmless() {
    assertThat(started(look(window(1, 9)))).containsExactly(run(1, 9));
    assertThat(started(look(window(1, 9)))).as("nobody has started it").containsExactly(run(1, 9));
    assertThat(start(window(1, 9))).containsExactly(run(1, 9));
    assertThat(look(window(1, 9))).isEqualTo(Change.NONE);

    assertThat(look(window(5, 9)).dropped()).containsExactly(run(1, 5));
    assertThat(look(window(5, 9))).isEqualTo(Change.NONE);
  }

  @Test
  void rangesThatMayWaitAreKeptAndNotStarted() {
    start(window(1, 5));
    assertThat(look(range(GuessKind.WINDOW, Start.LATER, 1, 9))).isEqualTo(Change.NONE);
    assertThat(start(window(1, 9))).containsExactly(run(5, 9));
  }

  /** As where a cursor forks off another, and takes the rest of its window along. */
  @Test
  void aRunThatTwoRangesWantIsKept() {
    start(window(3, 8));
    assertThat(look(window(1, 5), range(GuessKind.WINDOW, Start.LATER, 5, 8)).dropped()).isEmpty();
  }

  @Test
  void whatOthersHaveFetchedIsNeitherStartedNorJudged() {
    Wish wish = new Wish(List.of(range(GuessKind.GROUP, Start.NOW, 10, 20)));
    Change change = ahead.look(wish, block -> block >= 12 && block < 15);
    assertThat(started(change)).containsExactly(run(10, 12), run(15, 20));
    change.starting().forEach(each -> ahead.started(each.blocks(), each.of()));
    read(10, 20);
    assertThat(look().dropped()).isEmpty();
    assertThat(counted.get(Counter.COLUMNAR_ASKED_BYTES)).isEqualTo(7 * BLOCK);
    assertThat(counted.get(Counter.COLUMNAR_GROUP_USED_BYTES)).isEqualTo(7 * BLOCK);

    assertThat(ahead.look(wish, block -> true)).isEqualTo(Change.NONE);
    lose(10, 20);
    assertThat(start(wish.ranges().get(0)))
        .as("they have left memory")
        .containsExactly(run(10, 20));
  }

  /** The run is in the index before the record has it. */
  @Test
  void whatALookFindsThereWhileItIsBeingStartedIsJudgedAllTheSame() {
    Range group = range(GuessKind.GROUP, Start.NOW, 10, 20);
    Change change = look(group);
    assertThat(ahead.look(new Wish(List.of(group)), block -> true)).isEqualTo(Change.NONE);
    change.starting().forEach(each -> ahead.started(each.blocks(), each.of()));
    change.starting().forEach(each -> ahead.started(each.blocks(), each.of()));
    read(10, 20);
    assertThat(counted.get(Counter.COLUMNAR_ASKED_BYTES)).isEqualTo(10 * BLOCK);
    assertThat(counted.get(Counter.COLUMNAR_GROUP_USED_BYTES)).isEqualTo(10 * BLOCK);
  }

  @Test
  void whatTheReaderHasComeToIsNotStartedAgainForAnotherWhoWantsIt() {
    start(window(1, 9));
    read(3, 5);
    assertThat(look(window(1, 9))).isEqualTo(Change.NONE);
    look(window(5, 9));
    assertThat(start(window(1, 9))).as("a new wish").containsExactly(run(1, 5));
  }

  @Test
  void whatIsLostIsStartedAgainUntilMoreWereLostThanReadAndAhead() {
    read(0, 4);
    start(window(4, 20));
    lose(4, 20);
    assertThat(start(window(4, 20))).as("16 again, of 4 + 16").containsExactly(run(4, 20));
    lose(8, 10);
    assertThat(start(window(4, 20))).as("18").containsExactly(run(8, 10));
    lose(10, 14);
    assertThat(start(window(4, 20))).as("it would be 22").isEmpty();
    lose(10, 20);
    assertThat(start(window(4, 20))).isEmpty();

    read(4, 8);
    assertThat(start(window(8, 20))).as("the reader is elsewhere").isEmpty();
    read(8, 11);
    assertThat(start(window(11, 20))).as("it comes to one").containsExactly(run(11, 20));
  }

  @Test
  void aStoreThatRefusesEverythingIsNotAskedWithoutEnd() {
    long blocks = 0;
    for (int i = 0; i < 1000; i++) {
      for (BlockRange each : start(window(0, 50))) {
        blocks += each.count();
      }
      lose(0, 100);
    }
    assertThat(blocks).isLessThanOrEqualTo(2 * 50);
  }

  @Test
  void aGuessThatLeavesMemoryUnreadIsNotFetchedForEver() {
    long blocks = 0;
    for (int i = 0; i < 1000; i++) {
      for (BlockRange each : start(window(0, 10), range(GuessKind.GROUP, Start.NOW, 20, 30))) {
        blocks += each.count();
      }
      lose(22, 24);
    }
    assertThat(blocks).isLessThanOrEqualTo(2 * 20);
  }

  @Test
  void lossIsNoWaste() {
    start(range(GuessKind.GROUP, Start.NOW, 0, 10));
    lose(0, 10);
    assertThat(counted.get(Counter.COLUMNAR_WITHDRAWN_BYTES)).isEqualTo(10 * BLOCK);
    assertThat(distrust()).isZero();
  }

  @Test
  void aWindowThatGivesWayAtItsEndHasGuessedNothingWrong() {
    start(window(1, 20));
    assertThat(look(window(1, 5)).dropped()).containsExactly(run(5, 20));
    assertThat(distrust()).isZero();

    start(window(1, 9));
    assertThat(look(window(5, 9)).dropped()).containsExactly(run(1, 5));
    assertThat(distrust()).isEqualTo(1);
  }

  @Test
  void whatOneLookGivesUpOfWindowsIsOneMistake() {
    start(window(1, 20), window(30, 60));
    assertThat(look().dropped()).containsExactly(run(1, 20), run(30, 60));
    assertThat(distrust()).isEqualTo(1);
  }

  @Test
  void aGuessByLayoutIsJudgedWhenItsLastBlockIsGone() {
    start(range(GuessKind.GROUP, Start.NOW, 0, 10));
    read(0, 4);
    assertThat(look(range(GuessKind.GROUP, Start.NOW, 4, 8)).dropped()).containsExactly(run(8, 10));
    assertThat(counted.get(Counter.COLUMNAR_GROUP_WASTED_BYTES)).isEqualTo(2 * BLOCK);
    read(4, 7);
    assertThat(distrust()).isZero();
    look();
    assertThat(distrust()).as("3 of 10 wasted").isEqualTo(1);
  }

  @Test
  void aRunThatTouchesTheReadGoesByItsGet() {
    BlockRange read = run(10, 12);
    Change before = look(range(GuessKind.TAIL, Start.WITH_READ, 7, 10));
    assertThat(before.alongFrom(read)).isEqualTo(7);
    assertThat(before.alongUntil(read)).isEqualTo(12);
    Change after = look(range(GuessKind.WINDOW, Start.WITH_READ, 12, 14), window(14, 20));
    assertThat(after.alongFrom(read)).isEqualTo(10);
    assertThat(after.alongUntil(read)).isEqualTo(14);
    assertThat(after.aheadUntil(12)).isEqualTo(20);
  }

  @Test
  void aRunApartOrThatMayNotGoesByAGetOfItsOwn() {
    BlockRange read = run(10, 12);
    assertThat(look(range(GuessKind.TAIL, Start.WITH_READ, 7, 9)).alongFrom(read)).isEqualTo(10);
    assertThat(look(range(GuessKind.TAIL, Start.NOW, 7, 10)).alongFrom(read)).isEqualTo(10);
    assertThat(look(window(12, 14)).alongUntil(read)).isEqualTo(12);
    assertThat(look().alongFrom(read)).isEqualTo(10);
  }
}
