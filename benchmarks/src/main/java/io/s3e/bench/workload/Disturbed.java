// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectSlice;
import java.util.List;

/**
 * A reader beside a {@link Disturbance}: positioned reads of 64 KiB by 4 threads, then a scan, once
 * alone and once disturbed. Each of the four reads an object of its own, so that none finds in
 * memory what another has fetched.
 */
final class Disturbed implements Workload {

  /** Four for what is measured, the last for the disturbance and for the warm-up. */
  static final int OBJECTS = 5;

  private static final long MOST_SCAN_BYTES = 64L << 20;

  private static final int READ_BYTES = 64 << 10;
  private static final int THREADS = 4;

  /** Four of them are above the 99th percentile. */
  private static final long MOST_READS = 400;

  private final Disturbance disturbance;
  private final Disturbance.Effort effort;

  Disturbed(Disturbance disturbance, Disturbance.Effort effort) {
    this.disturbance = disturbance;
    this.effort = effort;
  }

  @Override
  public long run(RunContext context) throws Exception {
    List<ObjectSlice> objects = context.objects();
    reads(context.of(objects.get(0)), Part.Kind.READS_ALONE);
    scan(context.of(objects.get(1)), Part.Kind.SCAN_ALONE);
    try (Background running = disturbance.begin(context, objects.get(4), effort)) {
      reads(context.of(objects.get(2)), Part.Kind.READS_DISTURBED);
      scan(context.of(objects.get(3)), Part.Kind.SCAN_DISTURBED);
      running.checkDisturbs();
    }
    return 0;
  }

  private static void reads(RunContext context, Part.Kind kind) throws Exception {
    long most = context.object().length() / READ_BYTES;
    RunContext reads = context.bytes(Math.min(MOST_READS, most) * READ_BYTES);
    context.part(kind, () -> new RandomReads(READ_BYTES, THREADS).run(reads));
  }

  private static void scan(RunContext context, Part.Kind kind) throws Exception {
    RunContext scan = context.bytes(Math.min(MOST_SCAN_BYTES, context.object().length()));
    context.part(kind, () -> new SequentialRead(1).run(scan));
  }
}
