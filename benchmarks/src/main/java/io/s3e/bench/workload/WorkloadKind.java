// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectLayout;
import io.s3e.bench.data.ObjectSlice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.hadoop.fs.FileSystem;
import org.jspecify.annotations.Nullable;

/**
 * A workload that can be asked for by name. Some names carry parameters: {@code seq16} is 16
 * streams, {@code rnd64k-1} is positioned reads of 64 KiB by one thread. A number behind any name
 * repeats it: {@code back-2} goes to and fro twice over the same bytes, with new streams of one
 * file system. Equal by label.
 */
public final class WorkloadKind {

  /** The objects that a workload needs to find in the bucket. */
  public enum Data {
    /** One large object. */
    TEXT,
    /** One large object for each stream. */
    STREAMS,
    /** Many small objects. */
    SMALL,
    /** A Parquet file that is decoded. */
    PARQUET,
    /** A large Parquet file of which nothing is decoded. */
    COLUMNS,
    /** The same with many columns. */
    WIDE,
    /** Many Parquet files of one row group, of which nothing is decoded. */
    FILES,
    /** A Parquet file with dictionaries, Bloom filters and page indexes to filter by. */
    FILTERED,
    /** An ORC file that is decoded. */
    ORC,
    /** The same objects in each of several buckets. */
    BUCKETS,
    /** Objects of one bucket, and other buckets that show the same. */
    NEIGHBOURS;

    /** Whether the objects are slices of one text; others are files of their own making. */
    public boolean isText() {
      return switch (this) {
        case TEXT, STREAMS, SMALL, BUCKETS, NEIGHBOURS -> true;
        case PARQUET, COLUMNS, WIDE, FILES, FILTERED, ORC -> false;
      };
    }
  }

  /** The JVM of a run. */
  public enum Jvm {
    /** The one of the rounds before, warmed up by runs of the same workload. */
    KEPT,
    /** A fresh one for each round, warmed up by reads of other objects. */
    FRESH,
    /** A fresh one for each round, in which nothing has been read before. */
    COLD
  }

  /** The store of a run. */
  public enum Store {
    /** It answers. */
    WELL,
    /** It answers one GET in twenty by 503. */
    REFUSING
  }

  /** The names that there are, for a person. */
  public static final String NAMES =
      "seq, seqN (N streams), rnd, rndKk-T (reads of K KiB by T threads), back, jumps, tiny, small,"
          + " small-nostatus, text; vec, iceberg (vec for Iceberg's file IO), pq, scan-D (vec by a"
          + " consumer of D MB/s), narrow, parquet, orc, manyfiles-name, -status, manyfiles (both"
          + " of them), filter-dictionary, -bloom, -pageindex, filter (all of them); share-N (seq"
          + " by N JVMs at once over one object); NAME-N (NAME N times over the same bytes, in"
          + " passes that are told apart); cold (first byte, and 64 MiB, in a fresh JVM), cold-NAME"
          + " (NAME in a fresh JVM); bad-NAME (NAME while one GET in twenty is answered by 503);"
          + " manyfsN (N file systems in one JVM), manyfs (with 1, 8 and 32); neighbour-hang,"
          + " -full, -churn, -idle, -dropped, -random (a reader beside what disturbs it, or after),"
          + " neighbour (all of them)";

  private static final String REFUSED = "bad-";

  private final String label;
  private final String description;
  private final Data data;
  private final int streams;
  private final ToLongFunction<WorkloadSizes> bytes;
  private final Supplier<Workload> workload;

  /** Label of what is done in one pass of one process. */
  private final String base;

  private final int processes;
  private final int passes;
  private final Jvm jvm;
  private final Store store;

  WorkloadKind(
      String label,
      String description,
      Data data,
      int streams,
      Jvm jvm,
      ToLongFunction<WorkloadSizes> bytes,
      Supplier<Workload> workload) {
    this.label = label;
    this.description = description;
    this.data = data;
    this.streams = streams;
    this.bytes = bytes;
    this.workload = workload;
    this.base = label;
    this.processes = 1;
    this.passes = 1;
    this.jvm = jvm;
    this.store = Store.WELL;
  }

  /** Another way to run a workload. */
  private WorkloadKind(
      String label,
      String description,
      WorkloadKind once,
      int processes,
      int passes,
      Jvm jvm,
      Store store) {
    this.label = label;
    this.description = description;
    this.data = once.data;
    this.streams = once.streams;
    this.bytes = once.bytes;
    this.workload = once.workload;
    this.base = once.base;
    this.processes = processes;
    this.passes = passes;
    this.jvm = jvm;
    this.store = store;
  }

  /** The same by several JVMs at once. */
  WorkloadKind shared(String name, String meaning, int by) {
    return new WorkloadKind(name, meaning, this, by, passes, jvm, store);
  }

  /** The same several times over the same bytes. */
  WorkloadKind repeated(int times) {
    if (passes > 1 || jvm == Jvm.FRESH) {
      throw new IllegalArgumentException(label + " cannot be repeated, or is so already");
    }
    String meaning = description + "; " + times + " times over the same bytes, with new streams";
    return new WorkloadKind(label + '-' + times, meaning, this, processes, times, jvm, store);
  }

  /** The same in a fresh JVM for each round, from the first open. */
  WorkloadKind cold() {
    if (jvm != Jvm.KEPT) {
      throw new IllegalArgumentException(label + " has a fresh JVM for each round already");
    }
    String meaning = description + "; in a fresh JVM that has read nothing before";
    return new WorkloadKind("cold-" + label, meaning, this, processes, passes, Jvm.COLD, store);
  }

  /** The label of what it reads, at whatever store: of {@code bad-vec} that is {@code vec}. */
  public String reads() {
    return store == Store.REFUSING ? label.substring(REFUSED.length()) : label;
  }

  /** The same at a store that refuses some GETs. */
  WorkloadKind refused() {
    if (bucketsBeside() > 0) {
      throw new IllegalArgumentException(label + " has buckets of its own");
    }
    String meaning = description + "; while 5 % of all GETs are answered by 503";
    return new WorkloadKind(REFUSED + label, meaning, this, processes, passes, jvm, Store.REFUSING);
  }

  /**
   * Finds a workload by its name.
   *
   * @throws IllegalArgumentException when there is none; the message lists those that are
   */
  public static WorkloadKind of(String label) {
    return KnownWorkloads.of(label);
  }

  /** The workloads that a name stands for: one, or all of a family that is named as such. */
  public static List<WorkloadKind> named(String name) {
    return KnownWorkloads.named(name);
  }

  /** The name on the command line and in results. */
  public String label() {
    return label;
  }

  public String description() {
    return description;
  }

  public Data data() {
    return data;
  }

  /** How many streams are open at once. */
  public int streams() {
    return streams;
  }

  /** How many JVMs of an engine read at once, all of them the same. */
  public int processes() {
    return processes;
  }

  /** How often the same bytes are read, with new streams of the same file system. */
  public int passes() {
    return passes;
  }

  /** The store of each round. */
  public Store store() {
    return store;
  }

  /** The JVM of each round. */
  public Jvm jvm() {
    return jvm;
  }

  /**
   * How many buckets it needs that show the objects of the one it reads as their own; their names
   * end in 1 and so on ({@link ObjectSlice#bucketBeside}).
   */
  public int bucketsBeside() {
    return switch (data) {
      case BUCKETS -> streams;
      case NEIGHBOURS -> 1;
      case TEXT, STREAMS, SMALL, PARQUET, COLUMNS, WIDE, FILES, FILTERED, ORC -> 0;
    };
  }

  /** Whether raw clients can run it: everything from front to end, in any order. */
  public boolean hasRawCeiling() {
    return processes == 1 && (data == Data.STREAMS || base.equals("seq") || base.equals("cold"));
  }

  /** Whether each stream reads its object from front to end, without a seek. */
  public boolean readsInOrder() {
    return KnownWorkloads.IN_ORDER.contains(base) || data == Data.STREAMS || data == Data.BUCKETS;
  }

  /** Whether the first byte is timed by itself. */
  public boolean measuresFirstByte() {
    return base.equals("cold");
  }

  /** Whether a consumer of a certain rate takes what is read. */
  public boolean hasPace() {
    return base.startsWith(KnownWorkloads.PACED);
  }

  /** Whether it is told which columns to read. */
  public boolean readsColumns() {
    return !data.isText();
  }

  /** Whether what it reads is decoded, and compared by a checksum. */
  public boolean decodes() {
    return switch (data) {
      case PARQUET, FILTERED, ORC -> true;
      case TEXT, STREAMS, SMALL, BUCKETS, NEIGHBOURS, COLUMNS, WIDE, FILES -> false;
    };
  }

  /**
   * What a run that {@link #decodes} must find in a file.
   *
   * @param file a local copy of it
   * @param columns those that the run reads
   */
  public long checksum(Path file, List<String> columns) throws IOException {
    return workload().checksum(file, columns);
  }

  /**
   * The same of a Parquet file of which nobody has a copy.
   *
   * @param fileSystem that reads it rightly
   * @param columns those that the run reads
   */
  public long checksum(FileSystem fileSystem, org.apache.hadoop.fs.Path file, List<String> columns)
      throws IOException {
    return workload().checksum(fileSystem, file, columns);
  }

  /**
   * How much one process reads in one pass; what is read of a file of columns is up to the file.
   */
  public long bytes(WorkloadSizes sizes) {
    return bytes.applyAsLong(sizes);
  }

  /**
   * The objects that it reads, as slices of one text; none for data that is not text ({@link
   * Data#isText}).
   *
   * @param bucket URI that the objects' names begin with, with a slash at its end
   */
  public List<ObjectSlice> objects(String bucket, WorkloadSizes sizes) {
    return switch (data) {
      case TEXT -> List.of(ObjectSlice.front(bucket + "lineitem.tbl", sizes.bytes()));
      case STREAMS -> ObjectLayout.streams(bucket + base + '/', streams, sizes.bytes());
      case SMALL -> ObjectLayout.small(bucket + "small/", sizes.smallObjects());
      case PARQUET, COLUMNS, WIDE, FILES, FILTERED, ORC -> List.of();
      case BUCKETS ->
          ObjectLayout.buckets(
              bucket + "manyfs/",
              streams + 1,
              ManyFileSystems.OBJECTS_A_BUCKET,
              ManyFileSystems.scanBytes(sizes.bytes()));
      case NEIGHBOURS ->
          ObjectLayout.streams(bucket + "neighbour/", Disturbed.OBJECTS, sizes.bytes());
    };
  }

  /**
   * The object that a process reads to warm up, if it has to do so itself: no other object of the
   * run.
   */
  static ObjectSlice warmUpObject(List<ObjectSlice> objects) {
    return objects.get(objects.size() - 1);
  }

  Workload workload() {
    return workload.get();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof WorkloadKind kind && kind.label.equals(label);
  }

  @Override
  public int hashCode() {
    return label.hashCode();
  }

  @Override
  public String toString() {
    return label;
  }
}
