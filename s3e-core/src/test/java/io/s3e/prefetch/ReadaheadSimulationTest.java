// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.prefetch.ReadaheadSimulation.Delivery;
import io.s3e.prefetch.ReadaheadSimulation.Overload;
import io.s3e.testing.Seed;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The default limits in virtual time: how long scans take, and what is fetched for nothing. */
class ReadaheadSimulationTest {
  private static final int MIB = 1 << 20;
  private static final int BLOCK = 256 << 10;
  private static final int REQUEST = 8 * MIB;
  private static final int PIECE = 128 << 10;

  private static ReadaheadSimulation simulation(
      long bytes, ReadPolicy policy, int inFlight, Delivery delivery, Overload overload) {
    return new ReadaheadSimulation(
        new BlockLayout(bytes, BLOCK),
        policy,
        PrefetchLimits.defaults(BLOCK, REQUEST),
        inFlight,
        delivery,
        overload);
  }

  /** Scans 512 MiB in every way of delivery and overload; the slowest, as a share of the ideal. */
  private static double slowestScan(int inFlight, int idealConnections) {
    return slowestScan(ReadPolicy.SEQUENTIAL, inFlight, idealConnections);
  }

  private static double slowestScan(ReadPolicy policy, int inFlight, int idealConnections) {
    long bytes = 512L * MIB;
    List<Double> ratios = new ArrayList<>();
    for (Delivery delivery : Delivery.values()) {
      for (Overload overload : Overload.values()) {
        ReadaheadSimulation simulation = simulation(bytes, policy, inFlight, delivery, overload);
        simulation.scan(0, bytes, PIECE);
        assertThat(simulation.fetchedBytes()).isEqualTo(bytes);
        ratios.add(
            simulation.millis()
                / ReadaheadSimulation.idealMillis(bytes, idealConnections, REQUEST));
      }
    }
    return ratios.stream().max(Double::compare).orElseThrow();
  }

  @Test
  void aScanKeepsTwentyConnectionsBusier() {
    assertThat(slowestScan(20, 16)).isLessThan(1.05);
  }

  @Test
  void aScanKeepsSixteenConnectionsBusy() {
    assertThat(slowestScan(16, 16)).isLessThan(1.21);
  }

  @Test
  void aScanOfWhichNothingWasSaidPaysFourRoundTripsForItsFirstMebibyte() {
    double roundTrips =
        3
            * ReadaheadSimulation.FIRST_BYTE_NANOS
            / 1e6
            / ReadaheadSimulation.idealMillis(512L * MIB, 16, REQUEST);
    assertThat(slowestScan(ReadPolicy.ADAPTIVE, 20, 16)).isLessThan(1.05 + 1.1 * roundTrips);
  }

  @Test
  void refusalsForWantOfConcurrencyDoNotKeepRequestsShort() {
    assertThat(slowestScan(8, 8)).isLessThan(1.25);
    assertThat(slowestScan(12, 12)).isLessThan(1.25);
  }

  @Test
  void aScanWaitsForFewOfItsBlocks() {
    ReadaheadSimulation simulation =
        simulation(512L * MIB, ReadPolicy.ADAPTIVE, 20, Delivery.WHOLE, Overload.REFUSED);
    simulation.scan(0, 512L * MIB, PIECE);
    assertThat(simulation.stalls()).isLessThan(20);
    assertThat(simulation.requests()).isLessThan(110);
  }

  @Test
  void aSmallCapStillFetchesInParallel() {
    ReadaheadSimulation simulation =
        simulation(64L * MIB, ReadPolicy.SEQUENTIAL, 20, Delivery.STREAMED, Overload.REFUSED);
    simulation.limitWindow(8L * MIB);
    simulation.scan(0, 64L * MIB, PIECE);
    double oneByOne = ReadaheadSimulation.idealMillis(64L * MIB, 1, MIB);
    assertThat(simulation.millis()).isLessThan(oneByOne / 6);
  }

  @Test
  void aReaderThatStopsSoonHasCostAsMuchAsItHasRead() {
    for (long head = BLOCK; head <= MIB; head *= 2) {
      ReadaheadSimulation simulation =
          simulation(512L * MIB, ReadPolicy.ADAPTIVE, 20, Delivery.WHOLE, Overload.QUEUED);
      simulation.scan(0, head, PIECE);
      assertThat(simulation.fetchedBytes()).isLessThanOrEqualTo(2 * head);
    }
  }

  @Test
  void aReaderOfASplitThatStopsSoonHasCostOneWindow() {
    ReadaheadSimulation simulation =
        simulation(512L * MIB, ReadPolicy.SEQUENTIAL, 20, Delivery.WHOLE, Overload.QUEUED);
    simulation.scan(0, PIECE, PIECE);
    assertThat(simulation.fetchedBytes()).isLessThanOrEqualTo(8L * MIB + BLOCK);
  }

  /** An S3 of 30 ms and 60 MB/s a connection, and what a budget of 256 MiB lends. */
  private static ReadaheadSimulation ofDefaults(ReadPolicy policy, long bytes) {
    ReadaheadSimulation simulation =
        new ReadaheadSimulation(
            new BlockLayout(bytes, 64 << 10),
            policy,
            PrefetchLimits.defaults(64 << 10, 4 * MIB),
            34,
            Delivery.STREAMED,
            Overload.REFUSED);
    simulation.limitWindow(136L * MIB, 34);
    return simulation;
  }

  @ParameterizedTest
  @CsvSource({
    // blocks of the head, MiB that it costs where the opener has told to read in order
    "1, 9",
    "2, 9",
    "4, 16",
    "8, 32",
    "16, 64",
    "64, 72"
  })
  void aToldReaderThatStopsHasCostAnInitialWindowOrSixtyFourTimesItsBytes(int head, int most) {
    ReadaheadSimulation simulation = ofDefaults(ReadPolicy.SEQUENTIAL, 512L * MIB);
    simulation.scan(0, head * 64L << 10, 64 << 10);
    assertThat(simulation.fetchedBytes()).isLessThanOrEqualTo((long) most * MIB);
  }

  /**
   * Runs of reads with jumps between them, of which no opener has said anything: a reader that
   * sends a GET for each run, and nothing ahead of it, needs a GET, its bytes and its time. What is
   * more here is of the first runs.
   */
  @ParameterizedTest
  @CsvSource({
    // KiB of a run, KiB from one to the next, GETs a run, times its bytes, times the time
    "64, 4096, 1.0, 1.02, 1.01",
    "128, 8192, 1.1, 1.4, 1.05",
    "256, 16384, 1.2, 1.4, 1.05",
    "512, 32768, 1.5, 2.3, 1.1",
    "1024, 65536, 1.6, 2.2, 1.1",
    "1024, -65536, 1.9, 2.8, 1.1",
    "2048, 131072, 3.3, 2.5, 0.9",
    "4096, 262144, 5.3, 1.8, 0.6"
  })
  void runsWithJumpsCostWhatTheyHave(
      int run, int stride, double gets, double bytes, double millis) {
    int count = 100;
    long length = run * 1024L;
    long apart = Math.abs(stride) * 1024L;
    ReadaheadSimulation simulation = ofDefaults(ReadPolicy.ADAPTIVE, (count + 1) * apart);
    for (int i = 0; i < count; i++) {
      simulation.scan((stride > 0 ? i : count - i) * apart, length, 32 << 10);
    }
    double one = 30 + length / 60e3;
    List<String> of = simulation.describe();
    assertThat(simulation.requests()).as("%s", of).isLessThanOrEqualTo((int) (gets * count));
    assertThat(simulation.fetchedBytes() / (double) (count * length))
        .as("%s", of)
        .isLessThan(bytes);
    assertThat(simulation.millis() / (count * one)).as("%s", of).isLessThan(millis);
  }

  /** Their last block is of them, wherever they begin. */
  @Test
  void runsThatBeginAnywhereAreForeseenToTheirEnds() {
    ReadaheadSimulation simulation = ofDefaults(ReadPolicy.ADAPTIVE, 1800L * MIB);
    for (int i = 0; i < 50; i++) {
      simulation.scan(i * ((33L * MIB) + (37 << 10)), 300 << 10, 32 << 10);
    }
    assertThat(simulation.requests()).as("%s", simulation.describe()).isLessThanOrEqualTo(80);
    assertThat(simulation.millis()).isLessThan(50 * (30 + 6) * 1.2);
  }

  /** As of a container's index, which the reader of the container comes back to. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 10, 30})
  void aScanThatLooksElsewhereNowAndThenStaysAScan(int mebibytes) {
    for (ReadPolicy policy : List.of(ReadPolicy.ADAPTIVE, ReadPolicy.SEQUENTIAL)) {
      int looks = 300 / mebibytes;
      ReadaheadSimulation simulation = ofDefaults(policy, 512L * MIB + looks * (16L * MIB));
      for (int i = 0; i < looks; i++) {
        simulation.scan((long) i * mebibytes * MIB, (long) mebibytes * MIB, 64 << 10);
        simulation.read(512L * MIB + i * (16L * MIB), 4 << 10);
      }
      assertThat(simulation.fetchedBytes())
          .as("%s %s", policy, simulation.describe())
          .isLessThan(650L * MIB);
      assertThat(simulation.requests()).as("%s", policy).isLessThan(250 + 2 * looks);
    }
  }

  /** What is skipped costs less than GETs of their own. */
  @ParameterizedTest
  @ValueSource(ints = {64, 128, 256, 512, 1024, 2048, 4096})
  void runsThatSkipNoMoreThanTheyReadAreReadThrough(int run) {
    ReadaheadSimulation simulation = ofDefaults(ReadPolicy.ADAPTIVE, 201L * run * 1024);
    for (int i = 0; i < 100; i++) {
      simulation.scan(2048L * i * run, run * 1024L, 32 << 10);
    }
    assertThat(simulation.requests()).isLessThan(250);
    assertThat(simulation.millis()).isLessThan(0.2 * 100 * (30 + run * 1024 / 60e3));
  }

  @Test
  void runsOfAllLengthsCostTwiceWhatTheyHave() {
    long seed = Seed.draw();
    Random random = new Random(seed);
    ReadaheadSimulation simulation = ofDefaults(ReadPolicy.ADAPTIVE, 4096L * MIB);
    long read = 0;
    double millis = 0;
    for (int i = 0; i < 500; i++) {
      long run = (long) ((64 << 10) * Math.pow(2, 6 * random.nextDouble()));
      simulation.scan(random.nextLong(4000L * MIB), run, 32 << 10);
      read += run;
      millis += 30 + run / 60e3;
    }
    assertThat(simulation.fetchedBytes() / (double) read).as("seed %d", seed).isLessThan(2.6);
    assertThat(simulation.millis() / millis).as("seed %d", seed).isLessThan(2.2);
    assertThat(simulation.requests()).as("seed %d", seed).isLessThan(2000);
  }

  /** As a reader that takes a piece of each column by turns. */
  @ParameterizedTest
  @ValueSource(ints = {2, 8, 9, 16})
  void placesByTurnsEachHaveAWindow(int places) {
    ReadaheadSimulation simulation = ofDefaults(ReadPolicy.ADAPTIVE, 2048L * MIB);
    for (int group = 0; group < 4; group++) {
      for (int piece = 0; piece < 128; piece++) {
        for (int place = 0; place < places; place++) {
          long column = (group * 32L + place) * 16 * MIB;
          simulation.read(column + piece * (64L << 10), 64 << 10);
        }
      }
    }
    assertThat(simulation.millis()).isLessThan(4 * 220 * places);
    assertThat(simulation.requests()).isLessThan(4 * 30 * places);
  }

  @Test
  void scatteredReadsFetchHardlyMoreThanTheirBlocks() {
    long seed = Seed.draw();
    Random random = new Random(seed);
    ReadaheadSimulation adaptive =
        simulation(1024L * MIB, ReadPolicy.ADAPTIVE, 20, Delivery.WHOLE, Overload.QUEUED);
    ReadaheadSimulation exact =
        simulation(1024L * MIB, ReadPolicy.RANDOM, 20, Delivery.WHOLE, Overload.QUEUED);
    for (int i = 0; i < 500; i++) {
      long position = random.nextLong(1023L * MIB);
      adaptive.read(position, PIECE);
      exact.read(position, PIECE);
    }
    assertThat(adaptive.fetchedBytes())
        .as("seed %d", seed)
        // Of 500 reads of one block in 4,096, some follow each other by chance.
        .isLessThanOrEqualTo(exact.fetchedBytes() + 32L * MIB);
  }
}
