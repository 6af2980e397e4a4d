// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What the planner answers to columnar readers, step by step; see {@link ColumnTranscript}. */
class ColumnPlannerTranscriptTest {
  private static void assertTranscript(ColumnTranscript transcript, String expected) {
    assertThat(transcript.play(expected)).isEqualTo(expected);
  }

  @Test
  void aVectoredReadAsksForTheSameColumnsOfAllThatFollow() {
    assertTranscript(
        new ColumnTranscript(5, 0, 4).afterReadersOf(1, 3),
        """
        vectored 0 1 3 -> fetch [5M,6M) [7M,8M) [9M,10M) [11M,12M) [13M,14M) [15M,16M)
        vectored 1 1 3
        """);
  }

  /** As LIMIT does. */
  @Test
  void aReaderThatStopsAfterAGroupCostsOneMoreAndTheNextNone() {
    assertTranscript(
        new ColumnTranscript(6, 0, 6),
        """
        vectored 0 1 3 -> fetch [5M,6M) [7M,8M)
        reopen -> abandon [5M,6M) [7M,8M)
        vectored 0 1 3
        reopen
        vectored 0 1 3
        vectored 1 1 3 -> fetch [9M,10M) [11M,12M)
        vectored 2 1 3 -> fetch [13M,14M) [15M,16M) [17M,18M) [19M,20M)
        """);
  }

  @Test
  void aReaderOfAllOfAShortSplitHasNotStopped() {
    assertTranscript(
        new ColumnTranscript(4, 0, 1),
        """
        vectored 0 1
        split 0 4
        reopen
        vectored 0 1 -> fetch [5M,6M) [9M,10M) [13M,14M)
        """);
  }

  @Test
  void withoutASplitGroupsAreAskedForOneByOneThenTwoThenFour() {
    assertTranscript(
        new ColumnTranscript(12),
        """
        vectored 0 1 -> fetch [5M,6M)
        vectored 1 1 -> fetch [9M,10M)
        vectored 2 1 -> fetch [13M,14M) [17M,18M)
        vectored 3 1 -> fetch [21M,22M) [25M,26M) [29M,30M)
        vectored 4 1 -> fetch [33M,34M) [37M,38M)
        """);
  }

  @Test
  void theNextFileOfTheTableEndsWhereTheLastDid() {
    assertTranscript(
        new ColumnTranscript(12),
        """
        vectored 0 1 -> fetch [5M,6M)
        vectored 1 1 -> fetch [9M,10M)
        reopen -> abandon [9M,10M)
        vectored 0 1 -> fetch [5M,6M)
        vectored 1 1
        vectored 2 1 -> fetch [13M,14M) [17M,18M)
        vectored 3 1 -> fetch [21M,22M) [25M,26M) [29M,30M)
        reset -> abandon [17M,18M) [21M,22M) [25M,26M) [29M,30M)
        """);
  }

  @Test
  void aReaderThatBeginsTooLateForAsManyGroupsIsNotLikeTheLast() {
    assertTranscript(
        new ColumnTranscript(6),
        """
        vectored 0 1 -> fetch [5M,6M)
        vectored 1 1 -> fetch [9M,10M)
        vectored 2 1 -> fetch [13M,14M) [17M,18M)
        vectored 3 1 -> fetch [21M,22M)
        vectored 4 1
        vectored 5 1
        reopen
        vectored 2 1 -> fetch [13M,14M)
        reset -> abandon [13M,14M)
        """);
  }

  @Test
  void seeksNameColumnsAsTheyComeAndTheNextGroupsRestIsKnown() {
    assertTranscript(
        new ColumnTranscript(4, 0, 4),
        """
        chunk 0 0 -> fetch [4M,5M)
        chunk 0 2 -> fetch [6M,7M)
        chunk 1 0 -> fetch [8M,9M) [10M,11M) [12M,13M) [14M,15M)
        chunk 1 2
        chunk 2 0
        chunk 2 2
        chunk 3 0
        chunk 3 2
        reset
        """);
  }

  @Test
  void theRestOfTheFirstGroupComesFromTheTable() {
    assertTranscript(
        new ColumnTranscript(1, 0, 1),
        """
        chunk 0 0
        chunk 0 2
        reopen
        chunk 0 0 -> fetch [2M,3M)
        chunk 0 2
        reset
        """);
  }

  @Test
  void afterAFilterTwoGroupsInARowAreNeeded() {
    assertTranscript(
        new ColumnTranscript(6, 0, 6),
        """
        dictionary 2 0 -> fetch [26112K,26788840)
        vectored 2 0 1
        vectored 4 0 1
        vectored 5 0 1
        """);
  }

  @Test
  void aSkippedGroupDropsWhatWasAskedOfItAndHalvesTheWindow() {
    assertTranscript(
        new ColumnTranscript(12, 0, 12).afterReadersOf(0),
        """
        vectored 0 0 -> fetch [4M,5M) [8M,9M) [12M,13M) [16M,17M) [20M,21M) [24M,25M) [28M,29M) [32M,33M)
        describe -> FOLLOWING, PARQUET of 12 groups, 4 columns, ahead 8388608 of 8388608
        vectored 2 0 -> abandon [4M,5M)
        describe -> FOLLOWING, PARQUET of 12 groups, 4 columns, ahead 6291456 of 4194304
        vectored 3 0
        """);
  }

  @Test
  void whatWasAskedForIsReadWastedOrWithdrawn() {
    assertTranscript(
        new ColumnTranscript(6, 0, 6),
        """
        dictionary 0 1 -> fetch [5M,5376K) [9M,9472K) [13M,13568K) [17M,17664K) [21M,21760K) [26112K,26788840)
        dictionary 1 1
        counters -> asked 1328, dictionary_used 256
        vectored 0 0
        vectored 1 0 -> fetch [8M,9M) [12M,13M) [16M,17M) [20M,21M)
        refuse 2
        vectored 2 0 -> fetch [16M,17M) [20M,21M)
        counters -> asked 7472, withdrawn 2048, group_used 1024, dictionary_used 256
        reset -> abandon [9M,9472K) [12M,13568K) [16M,17664K) [20M,21760K) [26112K,26788840)
        counters -> asked 7472, withdrawn 2048, group_used 1024, group_wasted 3072, dictionary_used 256, dictionary_wasted 1024, index_wasted 48
        """);
  }

  @Test
  void pagesPickedOutOfChunksAreNotFollowed() {
    assertTranscript(
        new ColumnTranscript(4, 0, 4),
        """
        index 0 1
        pages 0 1
        pages 0 2
        pages 1 1
        pages 1 2
        pages 2 1
        """);
  }

  /** Statistics rule out the other groups, whose dictionaries nobody comes to read. */
  @Test
  void dictionariesThatNobodyReadsDoNotKeepDataFromComing() {
    assertTranscript(
        new ColumnTranscript(40, 0, 40),
        """
        limit 4 30
        dictionary 0 1 -> fetch [5M,5376K) [9M,9472K) [13M,13568K) [17M,17664K) [21M,21760K) [25M,25856K) [29M,29952K) [33M,34048K) [37M,38144K) [41M,42240K) [45M,46336K) [49M,50432K) [53M,54528K) [57M,58624K) [61M,62720K) [65M,66816K)
        dictionary 20 1
        vectored 20 1 2 -> abandon [5M,5376K) [9M,9472K) [13M,13568K) [17M,17664K) [21M,21760K) [25M,25856K) [29M,29952K) [33M,34048K) [37M,38144K) [41M,42240K) [45M,46336K) [49M,50432K) [53M,54528K) [57M,58624K) [61M,62720K) [65M,66816K)
        vectored 21 1 2 -> fetch [89M,91M) [93M,95M)
        vectored 22 1 2 -> fetch [97M,99M)
        """);
  }

  /** The filters of a stream's share of requests have come, and none is read beside the data. */
  @Test
  void bloomFiltersThatNobodyReadsDoNotKeepDataFromComing() {
    assertTranscript(
        new ColumnTranscript(40, 0, 40),
        """
        limit 64 3
        bloom 0 1 -> fetch [164096K,172288K) in 3
        vectored 0 1 2
        vectored 1 1 2 -> fetch [9M,11M) [13M,15M) [17M,19M) abandon [164096K,172288K)
        vectored 2 1 2 -> fetch [21M,23M)
        vectored 3 1 2 -> fetch [25M,27M)
        """);
  }

  /** As in a crowd, where a stream's share is one request: indexes are read group by group. */
  @Test
  void indexesOfLaterGroupsDoNotKeepDataFromComing() {
    assertTranscript(
        new ColumnTranscript(100, 0, 100),
        """
        limit 64 1
        index 0 1 -> fetch [425M,435456K)
        vectored 0 1 2
        index 1 1
        vectored 1 1 2 -> fetch [9M,11M)
        index 2 1
        vectored 2 1 2 -> fetch [13M,15M)
        """);
  }

  /** What is lost stands for what was not sent, since the reader's thread had better to do. */
  @Test
  void aStreamWhoseShareFellBeforeItsWindowWasAskedForAsksForThatShare() {
    assertTranscript(
        new ColumnTranscript(40, 0, 40),
        """
        limit 16 30
        chunk 0 1 -> fetch [5M,6M)
        stall
        chunk 1 1 -> fetch [9M,10M) [13M,14M) [17M,18M) [21M,22M) [25M,26M) [29M,30M) [33M,34M) [37M,38M) [41M,42M) [45M,46M) [49M,50M) [53M,54M) [57M,58M) [61M,62M) [65M,66M) [69M,70M)
        lose 8
        limit 9 9
        chunk 2 1
        chunk 3 1 -> fetch [41M,42M) [45M,46M) [49M,50M)
        chunk 4 1
        """);
  }

  /** They belong to pages that the index has picked, and say nothing of other groups. */
  @Test
  void dictionariesAfterPageIndexesAreNotFollowed() {
    assertTranscript(
        new ColumnTranscript(6, 0, 6),
        """
        index 0 2
        dictionary 0 2
        pages 0 2
        index 1 2
        dictionary 1 2
        """);
  }

  @Test
  void dictionariesOfTheSplitAreAskedForAfterThatOfItsFirstGroup() {
    assertTranscript(
        new ColumnTranscript(6, 1, 5),
        """
        dictionary 1 2 -> fetch [10M,10496K) [14M,14592K) [18M,18688K) [26112K,26788840)
        dictionary 2 2
        dictionary 3 2
        """);
  }

  @Test
  void dictionariesThatWereRefusedAreAskedForWithTheNext() {
    assertTranscript(
        new ColumnTranscript(6, 1, 5),
        """
        dictionary 1 2 -> fetch [10M,10496K) [14M,14592K) [18M,18688K) [26112K,26788840)
        refuse 1
        dictionary 2 2 -> fetch [14M,14592K) [18M,18688K) [26112K,26788840)
        dictionary 3 2
        """);
  }

  @Test
  void groupsThatWereLostAreAskedForAgainInTheirPlaces() {
    assertTranscript(
        new ColumnTranscript(5, 0, 4).afterReadersOf(1, 3),
        """
        vectored 0 1 3 -> fetch [5M,6M) [7M,8M) [9M,10M) [11M,12M) [13M,14M) [15M,16M)
        lose 2
        look -> fetch [9M,10M) [11M,12M) [13M,14M) [15M,16M)
        look
        vectored 1 1 3
        lose 3
        vectored 2 1 3 -> fetch [15M,16M)
        """);
  }

  @Test
  void bloomFiltersOfFollowingGroupsAreAskedForAfterTwoInARow() {
    assertTranscript(
        new ColumnTranscript(12),
        """
        bloom 3 0
        bloom 4 0 -> fetch [50432K,50688K)
        bloom 5 0 -> fetch [50688K,50M)
        bloom 6 0 -> fetch [50M,51968K)
        """);
  }

  @Test
  void aRefusalShrinksTheWindowUntilTheReaderComesOn() {
    assertTranscript(
        new ColumnTranscript(20, 0, 20).afterReadersOf(0, 1, 2, 3),
        """
        vectored 0 0 1 2 3 -> fetch [4M,12M) in 4
        refuse 2
        stall
        vectored 1 0 1 2 3 -> fetch [8M,12M) in 2
        stall -> fetch [12M,16M) in 2
        describe -> FOLLOWING, PARQUET of 20 groups, 4 columns, ahead 8388608 of 8388608
        """);
  }

  /** The first piece of a chunk does not say that the rest comes: all of it was read then. */
  @Test
  void whatLikeReadersWantedIsAskedForWhenOneColumnWasTakenWhole() {
    assertTranscript(
        new ColumnTranscript(1, 0, 1).afterReadersOf(1, 2, 3),
        """
        read 1048576 1179648
        read 1179648 1310720
        read 1310720 2097152
        read 2097152 2228224 -> fetch [2304K,4M)
        """);
  }

  @Test
  void theWindowGrowsByWaitsUpToTheCap() {
    assertTranscript(
        new ColumnTranscript(20, 0, 20).afterReadersOf(0, 1, 2, 3),
        """
        limit 24 64
        vectored 0 0 1 2 3 -> fetch [4M,12M) in 4
        stall -> fetch [12M,20M) in 4
        stall -> fetch [20M,28M) in 2
        stall
        describe -> FOLLOWING, PARQUET of 20 groups, 4 columns, ahead 25165824 of 25165824
        """);
  }

  @Test
  void noMoreRunsAreOutThanTheStreamsShare() {
    assertTranscript(
        new ColumnTranscript(20, 0, 20).afterReadersOf(0),
        """
        limit 64 3
        vectored 0 0 -> fetch [4M,5M) [8M,9M) [12M,13M)
        vectored 1 0 -> fetch [16M,17M)
        """);
  }

  @Test
  void threeReadsOfNothingThatTheLayoutHasGiveTheStreamBack() {
    assertTranscript(
        new ColumnTranscript(3, 0, 3).afterReadersOf(0),
        """
        vectored 0 0 -> fetch [4M,5M) [8M,9M)
        read 3670016 5000000
        read 3670016 5000000
        read 3670016 5000000 -> abandon [8M,9M)
        describe -> ADAPTIVE, ahead 0 of 536870912; at 5000000 ahead 0; FOREIGN, PARQUET of 3 groups, 4 columns, ahead 0 of 8388608
        """);
  }

  @Test
  void whatWasReadForwardBeforeTheColumnsIsForgotten() {
    assertTranscript(
        new ColumnTranscript(6, 0, 6),
        """
        read 100 1000000 -> fetch [1M,2M)
        chunk 3 0 -> abandon [1M,2M)
        read 3670016 5000000
        read 3670016 5000000
        read 3670016 5000000
        look
        describe -> ADAPTIVE, ahead 0 of 536870912; at 5000000 ahead 0; FOREIGN, PARQUET of 6 groups, 4 columns, ahead 0 of 8388608
        """);
  }

  @Test
  void aReaderThatGoesThroughTheFileIsNotColumnar() {
    assertTranscript(
        new ColumnTranscript(3, 0, 3),
        """
        read 100 1000000 -> fetch [1M,2M)
        read 1000000 1048576
        read 1048576 2000000 -> fetch [2M,10M) in 8
        describe -> ADAPTIVE, ahead 8388608 of 536870912; at 2000000 window 8388608 ahead 8388608; READY, PARQUET of 3 groups, 4 columns, ahead 0 of 8388608
        """);
  }

  @Test
  void aReaderOfSmallPiecesIsFollowedOnceItHasReadAChunk() {
    assertTranscript(
        new ColumnTranscript(4, 0, 4),
        """
        read 1048576 1179648
        read 1179648 1310720
        read 1310720 1572864
        read 1572864 2097152 -> fetch [5M,6M)
        read 5242880 5373952 -> fetch [9M,10M) [13M,14M)
        read 5373952 5636096
        read 5767168 6291456
        """);
  }

  @Test
  void smallPiecesOfTheNextGroupAreReadAhead() {
    assertTranscript(
        new ColumnTranscript(4, 0, 4),
        """
        limit 1 8
        read 1048576 2097152 -> fetch [5M,6M)
        read 5242880 5373952 -> fetch [9M,9472K)
        read 5373952 5636096 -> fetch [9472K,9728K)
        read 5767168 6291456 -> fetch [9728K,10M)
        """);
  }

  @Test
  void waitsOfAReaderThatNothingIsGuessedForLeaveTheWindowAlone() {
    assertTranscript(
        new ColumnTranscript(4, 0, 4),
        """
        index 0 1
        pages 0 1
        stall
        stall
        describe -> COLUMNS, PARQUET of 4 groups, 4 columns, ahead 0 of 8388608
        """);
  }
}
