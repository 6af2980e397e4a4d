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
