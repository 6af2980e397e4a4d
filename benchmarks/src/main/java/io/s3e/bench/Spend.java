// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.workload.WorkloadKind;
import io.s3e.hadoop.cost.Prices;
import java.util.Locale;
import java.util.function.ToLongBiFunction;

/**
 * What a comparison over written data is about to ask of a store, told before anything is sent.
 * Prices are the list prices of S3 Standard in us-east-1, https://aws.amazon.com/s3/pricing/, as of
 * November 2026.
 *
 * @param writtenBytes data that is written once
 * @param runs runs of all engines, each over a copy that the store makes
 * @param readBytes what the runs read, warm-up by guess
 * @param gets GETs of these
 */
record Spend(long writtenBytes, long runs, long readBytes, long gets) {

  private static final double DOLLARS_A_GET = Prices.LIST.thousandRequests() / 1000;

  /** PUT, COPY, POST and LIST. */
  private static final double DOLLARS_A_PUT = 0.005 / 1000;

  private static final double DOLLARS_A_GIGABYTE_OUT = 0.09;
  private static final double GIGABYTE = 1e9;

  /** Runs that warm an engine up until it is steady, by experience. */
  private static final int WARM_UP_RUNS = 5;

  private static final long PART_BYTES = 8L << 20;
  private static final long BYTES_A_GET = 1L << 20;
  private static final long BYTES_A_RANDOM_GET = 128L << 10;

  /** An object of each run is copied, its run deleted and listed. */
  private static final int REQUESTS_AROUND_A_RUN = 4;

  static Spend of(JobOptions options) {
    long kinds = options.workloads().stream().map(WorkloadKind::data).distinct().count();
    return new Spend(
        kinds * options.bytes(),
        sum(options, (runs, bytes) -> runs),
        sum(options, (runs, bytes) -> runs * bytes),
        options.workloads().stream()
            .mapToLong(
                kind -> {
                  long each = kind.label().contains("rnd") ? BYTES_A_RANDOM_GET : BYTES_A_GET;
                  return runs(options, kind) * bytes(options, kind) / each;
                })
            .sum());
  }

  private static long sum(JobOptions options, ToLongBiFunction<Long, Long> figure) {
    return options.workloads().stream()
        .mapToLong(kind -> figure.applyAsLong(runs(options, kind), bytes(options, kind)))
        .sum();
  }

  private static long runs(JobOptions options, WorkloadKind kind) {
    return (long) options.enginesOf(kind).size() * (options.roundsOf(kind) + WARM_UP_RUNS);
  }

  /** Of a file of columns a part is read; all of it is more. */
  private static long bytes(JobOptions options, WorkloadKind kind) {
    return Math.max(options.bytesOf(kind), kind.readsColumns() ? options.bytes() : 0);
  }

  double requestDollars() {
    long puts = writtenBytes / PART_BYTES + runs * REQUESTS_AROUND_A_RUN;
    return gets * DOLLARS_A_GET + puts * DOLLARS_A_PUT;
  }

  /** For a person who is asked whether to go on. */
  String text(String root) {
    return String.format(
        Locale.ROOT,
        "This writes %.1f GB below %s, has the store copy them for each of some %d runs, reads"
            + " about %.0f GB by %d GETs, and deletes what it wrote, also if it fails or is"
            + " interrupted.%nRequests cost about %.2f USD (S3 Standard, us-east-1). Reading costs"
            + " nothing from a machine in the bucket's region, and about %.2f USD (%.2f a GB) from"
            + " elsewhere.",
        writtenBytes / GIGABYTE,
        root,
        runs,
        readBytes / GIGABYTE,
        gets,
        requestDollars(),
        readBytes / GIGABYTE * DOLLARS_A_GIGABYTE_OUT,
        DOLLARS_A_GIGABYTE_OUT);
  }
}
