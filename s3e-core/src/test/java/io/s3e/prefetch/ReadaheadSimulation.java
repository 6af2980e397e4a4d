// SPDX-License-Identifier: Apache-2.0
package io.s3e.prefetch;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ByteRange;
import io.s3e.prefetch.Ahead.Change;
import io.s3e.prefetch.Ahead.Starting;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.LongStream;

/**
 * One reader over one object, in virtual time: a server with a fixed time to first byte and rate
 * for each connection and no limit in sum, a cap on requests in flight that demand may exceed, and
 * a reader of fixed speed. Deterministic: no clock, no threads.
 */
final class ReadaheadSimulation {

  /** How bytes reach the reader. */
  enum Delivery {
    /** A block can be read when its last byte has arrived. */
    STREAMED,
    /** No block of a request can be read before the request is complete. */
    WHOLE
  }

  /** What happens to prefetch beyond the cap on requests in flight. */
  enum Overload {
    /** Refused; the planner asks again. */
    REFUSED,
    /** Sent when a request in flight ends. */
    QUEUED
  }

  static final long FIRST_BYTE_NANOS = 30_000_000;
  static final double CONNECTION_BYTES_PER_NANO = 0.060;
  static final double READER_BYTES_PER_NANO = 2.0;

  private static final long NEVER = Long.MAX_VALUE;

  private final BlockLayout layout;
  private final ReadPlanner planner;
  private final Ahead ahead;
  private final int maxInFlight;
  private final Delivery delivery;
  private final Overload overload;

  /** When each block can be read; NEVER while nobody has asked for it. */
  private final long[] readableAt;

  private final PriorityQueue<Long> inFlightEnds = new PriorityQueue<>();
  private long now;
  private int requests;
  private int stalls;
  private int refusals;
  private long fetchedBlocks;

  ReadaheadSimulation(
      BlockLayout layout,
      ReadPolicy policy,
      PrefetchLimits limits,
      int maxInFlight,
      Delivery delivery,
      Overload overload) {
    this.layout = layout;
    this.planner = new ReadPlanner(layout, policy, null, limits);
    this.ahead = new Ahead(layout, (counter, amount) -> {});
    this.maxInFlight = maxInFlight;
    this.delivery = delivery;
    this.overload = overload;
    this.readableAt = new long[(int) layout.blocks()];
    Arrays.fill(readableAt, NEVER);
  }

  /** The time of a scan with {@code connections} requests of {@code requestBytes} all the time. */
  static double idealMillis(long bytes, int connections, int requestBytes) {
    double requestNanos = FIRST_BYTE_NANOS + requestBytes / CONNECTION_BYTES_PER_NANO;
    return bytes / (connections * (requestBytes / requestNanos)) / 1e6;
  }

  /** Reads {@code length} bytes from {@code start} in pieces of {@code piece} bytes. */
  void scan(long start, long length, int piece) {
    long end = Math.min(layout.objectSize(), start + length);
    for (long at = start; at < end; at += piece) {
      read(at, Math.min(piece, end - at));
    }
  }

  void read(long position, long length) {
    ahead.onRead(ByteRange.ofLength(position, length));
    planner.onRead(position, length);
    BlockRange touched = layout.covering(position, position + length);
    Change change = ahead.look(planner.wish(), this::isAsked);
    demandMissing(touched, change);
    follow(change);
    for (long block = touched.first(); block < touched.end(); block++) {
      long waited = readableAt[(int) block] - now;
      if (waited > 0) {
        stalls++;
        planner.onStall(Math.max(position, layout.startOf(block)));
        follow(ahead.look(planner.wish(), this::isAsked));
        now += waited;
      }
    }
    now += (long) (length / READER_BYTES_PER_NANO);
  }

  private boolean isAsked(long block) {
    return readableAt[(int) block] != NEVER;
  }

  private void demandMissing(BlockRange touched, Change change) {
    long from = touched.first();
    while (from < touched.end()) {
      long to = from;
      while (to < touched.end() && !isAsked(to)) {
        to++;
      }
      if (to > from) {
        long end = to == touched.end() ? change.alongUntil(touched) : to;
        start(new BlockRange(from, end), now);
      }
      from = to + 1;
    }
  }

  private void follow(Change change) {
    for (Starting starting : change.starting()) {
      BlockRange run = starting.blocks();
      if (LongStream.range(run.first(), run.end()).allMatch(this::isAsked)) {
        // It came along with the read.
        ahead.started(run, starting.of());
        continue;
      }
      while (!inFlightEnds.isEmpty() && inFlightEnds.peek() <= now) {
        inFlightEnds.remove();
      }
      if (inFlightEnds.size() < maxInFlight) {
        start(run, now);
      } else if (overload == Overload.QUEUED) {
        start(run, inFlightEnds.remove());
      } else {
        refusals++;
        planner.refused(run.first(), ahead);
        return;
      }
      ahead.started(run, starting.of());
    }
  }

  private void start(BlockRange run, long when) {
    long firstByte = when + FIRST_BYTE_NANOS;
    long startOffset = layout.startOf(run.first());
    long end = arrival(firstByte, layout.bytesOf(run).length());
    for (long block = run.first(); block < run.end(); block++) {
      long at =
          delivery == Delivery.WHOLE ? end : arrival(firstByte, layout.endOf(block) - startOffset);
      if (readableAt[(int) block] == NEVER) {
        readableAt[(int) block] = at;
      }
    }
    inFlightEnds.add(end);
    requests++;
    fetchedBlocks += run.count();
  }

  private static long arrival(long firstByte, long bytes) {
    return firstByte + (long) (bytes / CONNECTION_BYTES_PER_NANO);
  }

  void limitWindow(long bytes) {
    limitWindow(bytes, Integer.MAX_VALUE);
  }

  void limitWindow(long bytes, int inFlight) {
    planner.limitWindow(bytes, inFlight, ahead);
  }

  double millis() {
    return now / 1e6;
  }

  int requests() {
    return requests;
  }

  int stalls() {
    return stalls;
  }

  long fetchedBytes() {
    return fetchedBlocks * layout.blockSize();
  }

  List<String> describe() {
    return List.of(
        "%.0f ms".formatted(millis()),
        requests + " requests",
        stalls + " waits",
        refusals + " refusals");
  }
}
