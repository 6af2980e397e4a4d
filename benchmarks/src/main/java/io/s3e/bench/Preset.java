package io.s3e.bench;

import java.util.List;

/** The default comparison: its engines, workloads and number of rounds. */
enum Preset {
  /** Whether everything works, in a few minutes; its figures are no good. */
  SHORT("s3e,classic,analytics,raw-crt-16", "seq,seq16,rnd,vec,pq,back,small", 1, 64, 200, 0.05),

  /** S3E beside each of S3A's streams as they come. */
  STANDARD("s3e,classic,prefetch,analytics", "seq,rnd,parquet", 3, 512, 2000, 0.3),

  /** Readers of columns, by S3E with and without its prediction of columns. */
  COLUMNAR(
      "s3e,s3e-nocolumnar,classic,analytics",
      "vec,pq,scan-200,narrow,parquet,manyfiles-name,manyfiles-status,"
          + "filter-dictionary,filter-bloom,filter-pageindex,orc",
      3,
      512,
      200,
      1),

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
      5,
      1024,
      2000,
      0.3);

  private final String engines;
  private final String workloads;
  private final int rounds;
  private final long sizeMebibytes;
  private final int smallObjects;
  private final double scale;

  Preset(
      String engines,
      String workloads,
      int rounds,
      long sizeMebibytes,
      int smallObjects,
      double scale) {
    this.engines = engines;
    this.workloads = workloads;
    this.rounds = rounds;
    this.sizeMebibytes = sizeMebibytes;
    this.smallObjects = smallObjects;
    this.scale = scale;
  }

  /** Names of engines. */
  List<String> engines() {
    return List.of(engines.split(","));
  }

  /** Names of workloads. */
  List<String> workloads() {
    return List.of(workloads.split(","));
  }

  int rounds() {
    return rounds;
  }

  long sizeMebibytes() {
    return sizeMebibytes;
  }

  int smallObjects() {
    return smallObjects;
  }

  /** TPC-H scale of the files that are decoded. */
  double scale() {
    return scale;
  }
}
