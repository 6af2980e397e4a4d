package io.s3e.bench.workload;

import java.util.Arrays;
import java.util.stream.Collectors;

/** The workloads that can be asked for by name. */
public enum WorkloadKind {
  SEQ("seq", "one stream from front to end, reads of 1 MiB"),
  RND("rnd", "256 KiB positioned reads at random, 16 threads with a stream each"),
  PARQUET("parquet", "4 of 16 columns by parquet-java"),
  BACK("back", "to-and-fro seeks: 1 MiB read, then 2 MiB forward or 3 MiB back");

  private final String label;
  private final String description;

  WorkloadKind(String label, String description) {
    this.label = label;
    this.description = description;
  }

  /** The name on the command line and in results. */
  public String label() {
    return label;
  }

  public String description() {
    return description;
  }

  Workload workload() {
    return switch (this) {
      case SEQ -> new SequentialRead();
      case RND -> new RandomReads();
      case PARQUET -> new ParquetScan();
      case BACK -> new ToAndFro();
    };
  }

  /** Whether raw clients can run it: everything from front to end, in any order. */
  public boolean hasRawCeiling() {
    return this == SEQ;
  }

  /** Whether it reads the Parquet file instead of the text. */
  public boolean readsParquet() {
    return this == PARQUET;
  }

  /**
   * Finds a workload by its name.
   *
   * @throws IllegalArgumentException when there is none; the message lists those that are
   */
  public static WorkloadKind of(String label) {
    return Arrays.stream(values())
        .filter(kind -> kind.label.equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "No workload is named "
                        + label
                        + "; there are "
                        + Arrays.stream(values())
                            .map(WorkloadKind::label)
                            .collect(Collectors.joining(", "))));
  }
}
