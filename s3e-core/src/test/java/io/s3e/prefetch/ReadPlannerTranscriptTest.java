// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.prefetch.Ahead.Starting;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What the planner answers to reads, step by step: blocks of 256 KiB, requests of at most 8 MiB,
 * the default limits. {@link Transcript} tells how to read the scripts.
 */
class ReadPlannerTranscriptTest {
  private static final int BLOCK = 256 << 10;
  private static final int REQUEST = 8 << 20;

  private static Transcript over(String size, ReadPolicy policy) {
    return over(size, policy, null);
  }

  private static Transcript over(String size, ReadPolicy policy, @Nullable ByteRange split) {
    return new Transcript(size, BLOCK, policy, split, PrefetchLimits.defaults(BLOCK, REQUEST));
  }

  private static void assertTranscript(Transcript transcript, String expected) {
    assertThat(transcript.play(expected)).isEqualTo(expected);
  }

  /** As where starting GETs takes so long that the rest of a window is left to the next read. */
  @Test
  void aReaderWhoseShareFellBeforeItsWindowWasAskedForAsksForThatShare() {
    BlockLayout layout = new BlockLayout(64L * REQUEST, BLOCK);
    PrefetchLimits limits = PrefetchLimits.defaults(BLOCK, 1 << 20);
    ReadPlanner planner = new ReadPlanner(layout, ReadPolicy.SEQUENTIAL, null, limits);
    Ahead ahead = new Ahead(layout, (counter, amount) -> {});
    planner.onRead(0, BLOCK);
    List<Starting> first = ahead.look(planner.wish(), block -> false).starting();
    assertThat(first).hasSize(8);
    ahead.started(first.get(0).blocks(), first.get(0).of());
    planner.limitWindow(3 << 20, 3, ahead);
    List<BlockRange> rest = new ArrayList<>();
    for (long block = 1; block < 9; block++) {
      planner.onRead(block * BLOCK, BLOCK);
      for (Starting each : ahead.look(planner.wish(), any -> false).starting()) {
        ahead.started(each.blocks(), each.of());
        rest.add(each.blocks());
      }
    }
    assertThat(rest)
        .as("4 blocks are there, 12 are the share")
        .containsExactly(
            new BlockRange(5, 9),
            new BlockRange(9, 13),
            new BlockRange(13, 17),
            new BlockRange(17, 21));
  }

  @Test
  void readsFromTheStartOpenAWindowAndEachWaitDoublesItUpToSixtyFourTimesWhatWasRead() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        stall 0
        scan 64K 512K 64K
          at 256K -> fetch [8448K,16640K) in 4
        stall 448K -> fetch [16640K,33024K) in 4
        stall 448K
        scan 512K 16M 64K
          at 4M -> fetch [33024K,37120K)
          at 8M -> fetch [37120K,41216K)
          at 12M -> fetch [41216K,45312K)
        stall 16320K -> fetch [45312K,78080K) in 4
        scan 16M 48M 64K
          at 20M -> fetch [78080K,86272K)
          at 28M -> fetch [86272K,94464K)
          at 36M -> fetch [94464K,102656K)
          at 44M -> fetch [102656K,110848K)
        """);
  }

  @Test
  void readsFromTheStartOfWhichNothingWasSaidPayForWhatIsAhead() {
    assertTranscript(
        new Transcript(
            "1G", 64 << 10, ReadPolicy.ADAPTIVE, null, PrefetchLimits.defaults(64 << 10, REQUEST)),
        """
        read 0 64K -> fetch [64K,128K) along
        stall 0
        scan 64K 1M 64K
          at 128K -> fetch [192K,384K) along
          at 384K -> fetch [448K,896K) along
          at 896K -> fetch [960K,1920K) along
        read 1M 64K -> fetch [1920K,9088K) in 7
        """);
  }

  @Test
  void aFirstReadElsewhereFetchesNothingUntilReadsGoOn() {
    assertTranscript(
        over("1G", ReadPolicy.ADAPTIVE),
        """
        read 100M 64K
        stall 100M
        read 102464K 64K
        scan 102528K 104448K 64K
          at 102656K -> fetch [102912K,103936K)
          at 103680K -> fetch [103936K,104960K)
        stall 104384K -> fetch [104960K,105984K)
        stall 104384K -> fetch [105984K,108032K) in 2
        """);
  }

  @Test
  void footerThenColumnsFetchNothingAhead() {
    assertTranscript(
        over("1G", ReadPolicy.ADAPTIVE),
        """
        read 1073741816 8
        read 1073676288 65528
        read 4 64K
        read 300M 256K
        read 500M 256K
        """);
  }

  @Test
  void readsGoOnOverSmallSkips() {
    assertTranscript(
        over("1G", ReadPolicy.ADAPTIVE),
        """
        read 0 1M -> fetch [1M,2M) along
        read 1M 1M -> fetch [2M,10M) in 8
        read 2560K 1M -> fetch [10M,11M) abandon [2M,2560K)
        read 4M 256K -> fetch [11M,12M) abandon [3584K,4M)
        """);
  }

  @Test
  void jumpsEndGuessingAndPersistentReadsReviveIt() {
    assertTranscript(
        over("1G", ReadPolicy.ADAPTIVE),
        """
        read 0 64K -> fetch [256K,512K) along
        read 100M 256K
        read 200M 256K
        read 300M 256K -> abandon [256K,512K)
        read 400M 256K
        read 409856K 256K -> fetch [410112K,401M) along
        read 410112K 256K
        read 410368K 256K
        """);
  }

  @Test
  void prefetchStopsAtTheSplitsEndAndIsSmallBeyond() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL, new ByteRange(128 << 20, 160 << 20)),
        """
        read 0 64K
        read 128M 64K -> fetch [131328K,139520K) in 8
        stall 128M
        scan 131136K 160M 64K
          at 131328K -> fetch [139520K,147712K) in 4
          at 130M -> fetch [147712K,149760K)
          at 132M -> fetch [149760K,151808K)
          at 134M -> fetch [151808K,153856K)
          at 136M -> fetch [153856K,155904K)
          at 138M -> fetch [155904K,157952K)
          at 140M -> fetch [157952K,160000K)
          at 142M -> fetch [160000K,162048K)
          at 144M -> fetch [162048K,164096K)
        scan 160M 163M 64K
          at 164352K -> fetch [164608K,165632K) along
          at 165376K -> fetch [165632K,166656K)
          at 166400K -> fetch [166656K,167680K)
        """);
  }

  /** As a reader of Avro comes to its split, which no opener has told it to read in order. */
  @Test
  void aReaderThatHasReadAHeaderIsBelievedAtItsSplitsStart() {
    assertTranscript(
        over("1G", ReadPolicy.ADAPTIVE, new ByteRange(128 << 20, 160 << 20)),
        """
        read 0 64K
        read 128M 64K -> fetch [131328K,139520K) in 8
        """);
  }

  @Test
  void prefetchStopsAtTheObjectsEnd() {
    assertTranscript(
        over("10500000", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        scan 64K 10500000 64K
          at 1M -> fetch [8448K,9472K)
          at 2M -> fetch [9472K,10500000)
        read 10500000 64K
        """);
  }

  @Test
  void aWholeFileStartsFarther() {
    assertTranscript(
        over("1G", ReadPolicy.WHOLE_FILE),
        """
        read 0 64K -> fetch [256K,33024K) in 8
        stall 0
        scan 64K 8M 1M
          at 3136K -> fetch [33024K,37120K)
        """);
  }

  @Test
  void randomFetchesNothingAhead() {
    assertTranscript(
        over("1G", ReadPolicy.RANDOM),
        """
        read 0 64K
        stall 0
        readahead 1M
        scan 64K 100M 64K
        """);
  }

  @Test
  void readersAtTwoPlacesShareTheCap() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        limit 32M
        read 0 1M -> fetch [1M,9M) in 8
        stall 0
        read 1M 1M -> fetch [9M,17M) in 4
        stall 1M -> fetch [17M,33M) in 4
        read 2M 1M
        read 500M 1M -> fetch [501M,509M) in 8 abandon [19M,33M)
        stall 500M
        read 501M 1M -> fetch [509M,517M) in 4
        read 3M 1M
        read 502M 1M -> fetch [517M,519M)
        describe -> SEQUENTIAL, ahead 32505856 of 33554432; at 4194304 window 16777216 ahead 15728640; at 527433728 window 16777216 ahead 16777216
        """);
  }

  @Test
  void aReaderThatStandsStillGivesWayToTheOtherWhereTheCapFalls() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        limit 32M
        read 0 1M -> fetch [1M,9M) in 8
        stall 0
        read 1M 1M -> fetch [9M,17M) in 4
        stall 1M -> fetch [17M,33M) in 4
        read 500M 1M -> fetch [501M,509M) in 8 abandon [18M,33M)
        limit 12M
        scan 501M 506M 64K
          at 515840K -> fetch [509M,510M) abandon [8M,18M)
          at 516864K -> fetch [510M,511M)
          at 517888K -> fetch [511M,512M)
        """);
  }

  @Test
  void aStepBackLeavesTheReaderAheadAlone() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        scan 0 4M 64K
          at 0 -> fetch [256K,8448K) in 8
          at 1M -> fetch [8448K,9472K)
          at 2M -> fetch [9472K,10496K)
          at 3M -> fetch [10496K,11520K)
        read 1M 64K
        read 1088K 64K
        read 4M 64K -> fetch [11520K,12544K)
        read 1M 512K
        stall 1M
        read 1536K 512K -> fetch [2M,4M) in 2
        read 4160K 64K
        """);
  }

  @Test
  void aRefusalIsAskedAgainWhenTheReaderGetsOn() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        refuse 6M
        stall 0
        read 64K 64K
        scan 128K 6M 64K
          at 1280K -> fetch [6M,7424K)
          at 2560K -> fetch [7424K,8704K)
          at 3840K -> fetch [8704K,9984K)
          at 5M -> fetch [9984K,11M)
        describe -> SEQUENTIAL, ahead 5242880 of 536870912; at 6291456 window 6029312 ahead 5242880
        """);
  }

  @Test
  void concurrencyRefusedMakesRequestsLonger() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 1M -> fetch [1M,9M) in 8
        stall 0
        read 1M 256K -> fetch [9M,17M) in 4
        stall 1M -> fetch [17M,33M) in 4
        refuse 17408K
        read 1280K 256K
        describe -> SEQUENTIAL, ahead 16252928 of 536870912; at 1572864 window 16777216 ahead 16252928
        scan 1536K 20M 256K
          at 4864K -> fetch [17M,21M)
          at 8960K -> fetch [21M,25M)
          at 13056K -> fetch [25M,29M)
          at 17152K -> fetch [29M,33M)
        """);
  }

  /** A reader that has come 24 MiB without a wait asks for 4 MiB; one wait, and for 3 MiB. */
  @Test
  void aWaitEndsTheGrowthOfRequests() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 1M -> fetch [1M,9M) in 8
        scan 1M 24M 1M
          at 1M -> fetch [9M,10M)
          at 2M -> fetch [10M,11M)
          at 3M -> fetch [11M,12M)
          at 5M -> fetch [12M,13824K)
          at 7M -> fetch [13824K,15872K)
          at 9M -> fetch [15872K,17920K)
          at 11M -> fetch [17920K,19968K)
          at 13M -> fetch [19968K,22016K)
          at 15M -> fetch [22016K,24064K)
          at 16M -> fetch [24064K,26368K)
          at 18M -> fetch [26368K,29184K)
          at 19M -> fetch [29184K,32256K)
          at 21M -> fetch [32256K,35M)
          at 23M -> fetch [35M,39M)
        stall 23M
        scan 24M 40M 1M
          at 26M -> fetch [39M,43264K)
          at 29M -> fetch [43264K,46M)
          at 33M -> fetch [46M,50M)
          at 37M -> fetch [50M,54M)
        """);
  }

  @Test
  void theCapMayChange() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        limit 2M
        read 0 64K -> fetch [256K,2304K) in 2
        limit 100K
        scan 64K 4M 64K
        limit 1G
        scan 4M 5M 64K
          at 4M -> fetch [4352K,12544K) in 8 along
        """);
  }

  @Test
  void aReadThatBeginsInsideTheLastOneGoesOnFromIt() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 16M -> fetch [16M,24M) in 4
        read 256K 16128K
        read 8M 8M
        read 12M 8M -> fetch [24M,30M) in 2
        describe -> SEQUENTIAL, ahead 10485760 of 536870912; at 20971520 window 12582912 ahead 10485760
        """);
  }

  @Test
  void aCrowdOfReadersTakesTurnsInWholeRequests() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        limit 9M 1
        read 0 1M -> fetch [1M,9M)
        refuse 1M
        scan 1M 18M 1M
          at 1M -> fetch [2M,10M) along
          at 9M -> fetch [10M,18M)
          at 16M -> fetch [18M,26M)
        """);
  }

  @Test
  void aReadInsideTheWindowTakesItAlong() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        read 5M 64K -> fetch [8448K,13568K) in 5
        read 64K 64K
        read 5184K 512K
        """);
  }

  @Test
  void wasteEndsTrust() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        read 100M 64K -> fetch [102656K,110848K) in 8
        read 200M 64K -> fetch [205056K,213248K) in 8
        read 300M 64K -> abandon [256K,8448K) [102656K,110848K) [205056K,213248K)
        read 400M 64K
        describe -> SEQUENTIAL (jumping), distrust 1, ahead 0 of 536870912; at 65536 ahead 0; at 104923136 ahead 0; at 209780736 ahead 0; at 314638336 ahead 0; at 419495936 ahead 0
        scan 409664K 411M 64K
          at 409856K -> fetch [410112K,401M) along
          at 401M -> fetch [410880K,411904K) along
          at 402M -> fetch [411904K,412928K)
          at 403M -> fetch [412928K,413952K)
          at 404M -> fetch [413952K,414976K)
          at 414464K -> fetch [414976K,416000K)
          at 415488K -> fetch [416000K,417024K)
          at 416256K -> fetch [417024K,418048K)
          at 417024K -> fetch [418048K,419072K)
          at 408M -> fetch [419072K,420096K)
          at 418560K -> fetch [420096K,421120K)
          at 419584K -> fetch [421120K,422144K)
          at 420352K -> fetch [422144K,423168K)
        """);
  }

  @Test
  void wasteTakesAllWindowsBackToWhereTheyBegan() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 2M -> fetch [2M,10M) in 8
        read 2M 256K
        stall 2M -> fetch [10M,18M) in 4
        read 2304K 256K
        describe -> SEQUENTIAL, ahead 16252928 of 536870912; at 2621440 window 16777216 ahead 16252928
        read 500M 64K -> fetch [512256K,520448K) in 8
        read 600M 64K -> fetch [614656K,622848K) in 8
        read 700M 64K -> abandon [512256K,520448K) [614656K,622848K)
        read 2560K 256K
        describe -> SEQUENTIAL, distrust 1, ahead 15990784 of 536870912; at 524353536 ahead 0; at 629211136 ahead 0; at 734068736 ahead 0; at 2883584 window 8388608 ahead 15990784
        """);
  }

  @Test
  void aResetAbandonsEverythingOnce() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        reset -> abandon [256K,8448K)
        reset
        read 0 64K -> fetch [256K,8448K) in 8
        """);
  }

  @Test
  void askedForReadaheadIsTheLeastWindow() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        readahead 16M
        read 0 64K -> fetch [256K,16640K) in 8
        """);
  }

  @Test
  void whatNobodyReadsForLongIsAbandoned() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        read 500M 16M -> fetch [516M,524M) in 4
        scan 516M 556M 1M
          at 517M -> fetch [524M,539136K)
          at 518M -> fetch [539136K,541952K)
          at 520M -> fetch [541952K,545280K)
          at 521M -> fetch [545280K,536M)
          at 523M -> fetch [536M,540M)
          at 526M -> fetch [540M,557824K)
          at 528M -> fetch [557824K,550M)
          at 531M -> fetch [550M,556M)
          at 535M -> fetch [556M,563M)
          at 539M -> fetch [563M,571M)
          at 546M -> fetch [571M,579M)
          at 547M -> abandon [256K,8448K)
          at 554M -> fetch [579M,587M)
        """);
  }

  @Test
  void aLateRefusalLeavesWhatFollowsOnItsWay() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        read 64K 1M -> fetch [8448K,9472K)
        refuse 6M
        describe -> SEQUENTIAL, ahead 8388608 of 536870912; at 1114112 window 8388608 ahead 8388608 held
        read 1088K 256K -> fetch [6M,8448K)
        scan 1344K 3M 256K
        """);
  }

  @Test
  void whatWasLostIsAskedForAgainInItsPlaceAndAtFullLength() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 512K -> fetch [512K,8704K) in 8
        stall 0
        read 512K 256K -> fetch [8704K,16896K) in 4
        lose 10752K 12800K
        describe -> SEQUENTIAL, ahead 16515072 of 536870912; at 786432 window 16777216 ahead 16515072
        read 768K 256K -> fetch [10752K,12800K)
        describe -> SEQUENTIAL, ahead 16252928 of 536870912; at 1048576 window 16777216 ahead 16252928
        read 1M 256K
        """);
  }

  @Test
  void whatOneReaderLostWaitsUntilItComesOn() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        read 500M 64K -> fetch [512256K,520448K) in 8
        lose 4352K 5376K
        read 512064K 256K
        look
        read 64K 256K -> fetch [4352K,5376K)
        """);
  }

  @Test
  void aReadOfWhatWasLostTakesTheRunAlong() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        read 64K 1088K -> fetch [8448K,9472K)
        lose 1280K 2304K
        read 1152K 256K -> fetch [1536K,2304K) along
        """);
  }

  @Test
  void aReaderThatWaitedInVainTakesTheRunAlong() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        read 64K 1216K -> fetch [8448K,9472K)
        lose 1280K 2304K
        look -> fetch [1280K,2304K) along
        look
        """);
  }

  @Test
  void aStoreThatRefusesEverythingIsAskedAgainWithinBounds() {
    assertTranscript(
        over("1G", ReadPolicy.SEQUENTIAL),
        """
        read 0 64K -> fetch [256K,8448K) in 8
        lose 256K 8448K
        read 64K 256K -> fetch [512K,8448K) in 8 along
        lose 512K 8448K
        read 320K 256K -> fetch [768K,8448K) in 8 along
        """);
  }
}
