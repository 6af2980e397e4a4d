// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import java.util.List;
import java.util.Map;

/** The default comparison: its engines, workloads, number of rounds and warm-up. */
@SuppressWarnings("ImmutableEnumChecker") // Maps of Map.of, and records of numbers.
enum Preset {
  /** Whether everything works, in a few minutes; its figures are no good. */
  SHORT(
      "s3e,classic,analytics,raw-crt-16",
      "seq,seq16,rnd,vec,pq,back,small",
      Map.of(),
      new Amount(1, 64, 200, 0.05),
      WarmUp.SHORT),

  /** What S3E is for, beside what people use for it: the main job, in five minutes. */
  STANDARD(
      "s3e,classic,analytics",
      "seq,vec,rnd,bad-vec,iceberg",
      Map.of("iceberg", "iceberg-s3e,iceberg-s3fileio"),
      new Amount(3, 512, 2000, 0.3),
      WarmUp.STEADY),

  /** The same at a store of the user's own, with data that is written first, and the raw client. */
  AWS(
      "s3e,classic,analytics,raw-crt-16",
      "seq,vec,rnd,iceberg",
      Map.of(
          "vec", "s3e,classic,analytics",
          "iceberg", "iceberg-s3e,iceberg-s3fileio",
          "rnd", "s3e,classic,analytics"),
      new Amount(3, 256, 2000, 0.3),
      WarmUp.PAID),

  /** Readers of columns, by S3E with and without its prediction of columns. */
  COLUMNAR(
      "s3e,s3e-nocolumnar,classic,analytics",
      "vec,pq,scan-200,narrow,parquet,manyfiles-name,manyfiles-status,"
          + "filter-dictionary,filter-bloom,filter-pageindex,orc",
      Map.of(),
      new Amount(3, 512, 200, 1),
      WarmUp.SHORT),

  /** Every engine in every workload: hours. */
  FULL(
      "s3e,s3e-crt-bytes,s3e-s3a,s3e-nocache,s3e-host,s3e-nocolumnar,"
          + "classic,prefetch,analytics,classic-tuned,prefetch-tuned,analytics-tuned,"
          + "iceberg-s3fileio,iceberg-s3e,"
          + "raw-crt-16,raw-crt-32,raw-crt-bytes-16,raw-sync-16,raw-sync-32,plain-file,plain-hadoop",
      "seq,seq2,seq4,seq8,seq16,seq32,seq64,seq128,seq256,"
          + "rnd256k-1,rnd256k-16,rnd64k-1,rnd64k-16,vec,pq,scan-200,narrow,parquet,"
          + "manyfiles-name,manyfiles-status,filter-dictionary,filter-bloom,filter-pageindex,orc,back,tiny,small,text,"
          + "seq-2,vec-2,parquet-2,back-2,rnd-2,share-2,"
          + "cold,manyfs1,manyfs8,manyfs32,neighbour-hang,neighbour-full,neighbour-churn,"
          + "neighbour-idle,neighbour-dropped,neighbour-random",
      Map.of(),
      new Amount(5, 1024, 2000, 0.3),
      WarmUp.SHORT);

  /**
   * How much is read.
   *
   * @param scale TPC-H scale of the files that are decoded
   */
  record Amount(int rounds, long sizeMebibytes, int smallObjects, double scale) {}

  /**
   * What comes before the runs that count.
   *
   * @param seconds how long at least, or, where a run may be steady, at most
   * @param steadyPercent a run is steady whose rate differs from the one before by no more, and in
   *     which the JVM compiles little; 0 where that ends nothing
   */
  record WarmUp(double seconds, double steadyPercent) {
    static final WarmUp SHORT = new WarmUp(3, 0);
    static final WarmUp STEADY = new WarmUp(12, 5);

    /** Where GETs cost money. */
    static final WarmUp PAID = new WarmUp(8, 5);
  }

  private final String engines;
  private final String workloads;
  private final Map<String, String> own;
  private final Amount amount;
  private final WarmUp warmUp;

  Preset(String engines, String workloads, Map<String, String> own, Amount amount, WarmUp warmUp) {
    this.engines = engines;
    this.workloads = workloads;
    this.own = own;
    this.amount = amount;
    this.warmUp = warmUp;
  }

  /** Names of the engines of a workload; some have their own. */
  List<String> engines(String workload) {
    return List.of(own.getOrDefault(workload, engines).split(","));
  }

  /** Names of workloads. */
  List<String> workloads() {
    return List.of(workloads.split(","));
  }

  /** Whether its result is shown as one short table; the report has the rest. */
  boolean hasOneTable() {
    return switch (this) {
      case STANDARD, AWS -> true;
      case SHORT, COLUMNAR, FULL -> false;
    };
  }

  Amount amount() {
    return amount;
  }

  WarmUp warmUp() {
    return warmUp;
  }
}
