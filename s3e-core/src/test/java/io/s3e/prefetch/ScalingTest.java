// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.client.ClientLimits;
import io.s3e.client.crt.Layouts;
import io.s3e.jvm.HostSizing;
import io.s3e.prefetch.ReadaheadSimulation.Delivery;
import io.s3e.prefetch.ReadaheadSimulation.Overload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Holds docs/SCALING.md to the defaults of hosts, and to the rates that scans reach with them. */
class ScalingTest {
  private static final long GIB = 1L << 30;
  private static final double MIB = 1 << 20;
  private static final int BLOCK = 64 << 10;

  /** As Engine divides the budget: an eighth for pools, five sevenths of the rest. */
  private static final long POOLS_SHARE = 8;

  /** Processor time of the CRT alone in the bench, in s/GB. */
  private static final double PLAIN_SECONDS = 0.3;

  private static final double TLS_SECONDS = 0.7;

  /** S3's limit for one prefix. */
  private static final double PREFIX_GETS = 5_500;

  /** A host; {@code target} is the link's where a user sets the key to that. */
  private record Host(int cores, long heapGib, double linkGbps, boolean isToldOfLink) {}

  private record Row(
      Host host,
      double target,
      long budget,
      ClientLimits limits,
      int connections,
      int loops,
      int streams,
      double slotGbps,
      double gbps,
      double gets) {

    String text() {
      double gigabytes = gbps / 8;
      return String.format(
          Locale.ROOT,
          "| %d | %d | %s%s | %.0f | %.0f | %d × %.1f | %d | %d | %d | %.0f | %.0f | %.1f, %.1f |"
              + " %.0f |",
          host.cores(),
          host.heapGib(),
          String.valueOf(host.linkGbps()).replaceFirst("\\.0$", ""),
          host.isToldOfLink() ? " (set)" : "",
          target,
          budget / MIB,
          limits.lentSlots(),
          limits.lentSlotBytes() / MIB,
          connections,
          loops,
          streams,
          slotGbps,
          gbps,
          gigabytes * PLAIN_SECONDS,
          gigabytes * TLS_SECONDS,
          gets);
    }
  }

  private static Row row(Host host) {
    long heap = host.heapGib() * GIB;
    HostSizing sizing = new HostSizing(host.cores(), heap, heap);
    double target = host.isToldOfLink() ? host.linkGbps() : sizing.targetGbps();
    long budget = sizing.memoryBytes(target);
    int connections = HostSizing.connections(target);
    ClientLimits limits = Layouts.lending((budget - budget / POOLS_SHARE) / 7 * 5, connections);
    int slots = limits.lentSlots() - limits.lentSlots() / 8;
    int inFlight = Math.min(slots, connections);
    int streams = Math.max(1, Math.min(host.cores(), inFlight / 8));
    double slotGbps = 8 * inFlight * ratePerConnection(limits.lentSlotBytes());
    long bytes = GIB;
    ReadaheadSimulation scan =
        new ReadaheadSimulation(
            new BlockLayout(bytes, BLOCK),
            ReadPolicy.SEQUENTIAL,
            PrefetchLimits.defaults(BLOCK, limits.lentSlotBytes()),
            inFlight / streams,
            Delivery.WHOLE,
            Overload.REFUSED);
    scan.limitWindow((long) inFlight / streams * limits.lentSlotBytes(), inFlight / streams);
    scan.scan(0, bytes, BLOCK);
    assertThat(scan.fetchedBytes()).isEqualTo(bytes);
    double gbps = Math.min(host.linkGbps(), streams * bytes * 8 / (scan.millis() * 1e6));
    double gets = gbps * 1e9 / 8 / bytes * scan.requests();
    return new Row(
        host,
        target,
        budget,
        limits,
        connections,
        Math.min(HostSizing.eventLoops(target), host.cores()),
        streams,
        slotGbps,
        gbps,
        gets);
  }

  /** In GB/s, of GETs of that length one after the other. */
  private static double ratePerConnection(int bytes) {
    return bytes
        / (ReadaheadSimulation.FIRST_BYTE_NANOS
            + bytes / ReadaheadSimulation.CONNECTION_BYTES_PER_NANO);
  }

  @Test
  void theDefaultsOfLargeHostsCarryWhatTheirLinksDo() throws IOException {
    List<Row> rows =
        List.of(
            row(new Host(2, 1, 10, false)),
            row(new Host(2, 2, 10, false)),
            row(new Host(8, 2, 12.5, false)),
            row(new Host(8, 16, 25, false)),
            row(new Host(64, 64, 50, false)),
            row(new Host(64, 64, 100, true)),
            row(new Host(192, 256, 100, false)),
            row(new Host(192, 256, 200, true)));
    assertThat(Files.readAllLines(Path.of("../docs/SCALING.md")))
        .filteredOn(line -> line.matches("\\| \\d.*"))
        .containsExactlyElementsOf(rows.stream().map(Row::text).toList());
    for (Row row : rows) {
      assertThat(row.gets()).as("%s", row).isLessThan(PREFIX_GETS * 1.2);
      assertThat(row.gbps()).as("%s", row).isGreaterThan(0.6 * row.host().linkGbps());
      assertThat(row.loops() / (row.gbps() / 8 * TLS_SECONDS)).as("%s", row).isGreaterThan(1.5);
    }
    assertThat(rows.get(1).gbps()).as("10 Gbit/s on 2 cores").isGreaterThan(8.5);
    assertThat(rows.get(6).gbps()).as("192 cores").isGreaterThan(2 * rows.get(3).gbps());
  }
}
