// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

/**
 * Memory of a process in bytes, -1 where it could not be measured. Each figure is a peak of its
 * own; {@code total} is the peak of the sum.
 *
 * @param heap heap in use, garbage included
 * @param direct direct buffers, by the JVM's own count
 * @param nonHeap classes and compiled code
 * @param other anonymous memory that is none of these: what native libraries allocate, the
 *     collector's tables, stacks
 * @param total all four together
 */
public record MemoryUse(long heap, long direct, long nonHeap, long other, long total) {

  /** Nothing was measured. */
  static final MemoryUse UNKNOWN = new MemoryUse(-1, -1, -1, -1, -1);

  /** The larger of each. */
  MemoryUse max(MemoryUse that) {
    return new MemoryUse(
        Math.max(heap, that.heap),
        Math.max(direct, that.direct),
        Math.max(nonHeap, that.nonHeap),
        Math.max(other, that.other),
        Math.max(total, that.total));
  }

  /** The sum of each; unknown where one of them is. */
  MemoryUse plus(MemoryUse that) {
    return new MemoryUse(
        sum(heap, that.heap),
        sum(direct, that.direct),
        sum(nonHeap, that.nonHeap),
        sum(other, that.other),
        sum(total, that.total));
  }

  private static long sum(long one, long other) {
    return one < 0 || other < 0 ? -1 : one + other;
  }
}
