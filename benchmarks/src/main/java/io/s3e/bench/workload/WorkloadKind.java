package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectLayout;
import io.s3e.bench.data.ObjectSlice;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A workload that can be asked for by name. Some names carry parameters: {@code seq16} is 16
 * streams, {@code rnd64k-1} is positioned reads of 64 KiB by one thread. A number behind any name
 * repeats it: {@code back-2} goes to and fro twice over the same bytes, with new streams of one
 * file system. Equal by label.
 */
public final class WorkloadKind {

  /** What a workload needs to find in the bucket. */
  public enum Data {
    /** One large object. */
    TEXT,
    /** One large object for each stream. */
    STREAMS,
    /** Many small objects. */
    SMALL,
    /** A Parquet file. */
    PARQUET
  }

  /** What the names may be, for a person. */
  public static final String NAMES =
      "seq, seqN (N streams), rnd, rndKk-T (reads of K KiB by T threads), vec, pq, parquet, back,"
          + " tiny, small, small-nostatus, text, share-N (seq by N JVMs at once over one object);"
          + " NAME-N (NAME N times over the same bytes, in passes that are told apart)";

  /** The names of {@link #readsInOrder} that are not {@code seqN}. */
  private static final Set<String> IN_ORDER =
      Set.of("seq", "text", "tiny", "small", "small-nostatus");

  private static final int MOST_STREAMS = 1024;
  private static final int MOST_READ_KIBIBYTES = 16 << 10;
  private static final Pattern STREAMS = Pattern.compile("seq:?(\\d{1,4})");
  private static final Pattern RANDOM = Pattern.compile("rnd(\\d{1,5})k-(\\d{1,4})");
  private static final Pattern SHARED = Pattern.compile("share-(\\d{1,3})");
  private static final Pattern REPEATED = Pattern.compile("(.+)-(\\d{1,2})");
  private static final int MOST_PROCESSES = 64;
  private static final int MOST_PASSES = 16;
  private static final int DEFAULT_READ_KIBIBYTES = 256;
  private static final int DEFAULT_RANDOM_THREADS = 16;

  /** The workloads whose names have no parameters. */
  private static final Map<String, WorkloadKind> FIXED =
      Stream.of(
              new WorkloadKind(
                  "seq",
                  "one stream from front to end, reads of 1 MiB",
                  Data.TEXT,
                  1,
                  WorkloadSizes::bytes,
                  () -> new SequentialRead(1)),
              random("rnd", DEFAULT_READ_KIBIBYTES, DEFAULT_RANDOM_THREADS),
              new WorkloadKind(
                  "vec",
                  "4 of 16 column chunks of each row group of 64 MiB, by one readVectored",
                  Data.TEXT,
                  1,
                  WorkloadSizes::bytes,
                  () -> new RowGroupReads(true)),
              new WorkloadKind(
                  "pq",
                  "the same column chunks by seek and readFully",
                  Data.TEXT,
                  1,
                  WorkloadSizes::bytes,
                  () -> new RowGroupReads(false)),
              new WorkloadKind(
                  "parquet",
                  "4 of 16 columns by parquet-java",
                  Data.PARQUET,
                  1,
                  sizes -> 0,
                  ParquetScan::new),
              new WorkloadKind(
                  "back",
                  "to-and-fro seeks: 1 MiB read, then 2 MiB forward or 3 MiB back",
                  Data.TEXT,
                  1,
                  WorkloadSizes::seekBytes,
                  ToAndFro::new),
              new WorkloadKind(
                  "tiny",
                  "records of 100 bytes from front to end, as TeraSort reads them; a call's time is"
                      + " the mean of ten thousand",
                  Data.TEXT,
                  1,
                  WorkloadSizes::bytes,
                  TinyReads::new),
              small("small", "opened with its status from a listing", true),
              small("small-nostatus", "opened by its name", false),
              new WorkloadKind(
                  "text",
                  "lines by Hadoop's line reader, splits of up to 128 MiB, 4 at once",
                  Data.TEXT,
                  4,
                  WorkloadSizes::bytes,
                  LineSplits::new))
          .collect(Collectors.toMap(WorkloadKind::label, Function.identity()));

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

  private WorkloadKind(
      String label,
      String description,
      Data data,
      int streams,
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
  }

  private WorkloadKind(
      String label, String description, WorkloadKind once, int processes, int passes) {
    this.label = label;
    this.description = description;
    this.data = once.data;
    this.streams = once.streams;
    this.bytes = once.bytes;
    this.workload = once.workload;
    this.base = once.base;
    this.processes = processes;
    this.passes = passes;
  }

  /**
   * Finds a workload by its name.
   *
   * @throws IllegalArgumentException when there is none; the message lists those that are
   */
  public static WorkloadKind of(String label) {
    WorkloadKind fixed = FIXED.get(label);
    if (fixed != null) {
      return fixed;
    }
    Matcher streams = STREAMS.matcher(label);
    if (streams.matches()) {
      return streams(within(1, Integer.parseInt(streams.group(1)), MOST_STREAMS, label));
    }
    Matcher random = RANDOM.matcher(label);
    if (random.matches()) {
      return random(
          label,
          within(1, Integer.parseInt(random.group(1)), MOST_READ_KIBIBYTES, label),
          within(1, Integer.parseInt(random.group(2)), MOST_STREAMS, label));
    }
    Matcher shared = SHARED.matcher(label);
    if (shared.matches()) {
      return shared(within(1, Integer.parseInt(shared.group(1)), MOST_PROCESSES, label));
    }
    Matcher repeated = REPEATED.matcher(label);
    if (repeated.matches()) {
      return of(repeated.group(1))
          .repeated(within(2, Integer.parseInt(repeated.group(2)), MOST_PASSES, label));
    }
    throw new IllegalArgumentException("No workload is named " + label + "; there are " + NAMES);
  }

  private static int within(int least, int value, int most, String label) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "Expected %d to %d instead of %d in %s".formatted(least, most, value, label));
    }
    return value;
  }

  private static WorkloadKind shared(int processes) {
    return new WorkloadKind(
        "share-" + processes,
        processes + " JVMs at once, each reads one and the same object from front to end",
        of("seq"),
        processes,
        1);
  }

  private WorkloadKind repeated(int times) {
    if (passes > 1) {
      throw new IllegalArgumentException(label + " is repeated already");
    }
    return new WorkloadKind(
        label + '-' + times,
        description + "; " + times + " times over the same bytes, with new streams",
        this,
        processes,
        times);
  }

  private static WorkloadKind streams(int streams) {
    return new WorkloadKind(
        "seq" + streams,
        streams + " streams at once from front to end of an object each, reads of 128 KiB",
        Data.STREAMS,
        streams,
        sizes -> Math.max(sizes.bytes(), streams * ObjectLayout.LEAST_STREAM_BYTES),
        () -> new SequentialRead(streams));
  }

  private static WorkloadKind random(String label, int kibibytes, int threads) {
    String who = threads == 1 ? "one thread" : threads + " threads with a stream each";
    int readBytes = kibibytes << 10;
    return new WorkloadKind(
        label,
        kibibytes + " KiB positioned reads at random, " + who,
        Data.TEXT,
        threads,
        sizes -> RandomReads.bytes(sizes.randomBytes(), readBytes, threads),
        () -> new RandomReads(readBytes, threads));
  }

  private static WorkloadKind small(String label, String how, boolean statusGiven) {
    return new WorkloadKind(
        label,
        "objects of 64 KiB to 1 MiB, each " + how + " and read whole, 16 at once",
        Data.SMALL,
        16,
        sizes -> ObjectLayout.smallBytes(sizes.smallObjects()),
        () -> new SmallObjects(statusGiven));
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

  /** Whether raw clients can run it: everything from front to end, in any order. */
  public boolean hasRawCeiling() {
    return processes == 1 && (data == Data.STREAMS || base.equals("seq"));
  }

  /** Whether each stream reads its object from front to end, without a seek. */
  public boolean readsInOrder() {
    return IN_ORDER.contains(base) || data == Data.STREAMS;
  }

  /** Whether it reads the Parquet file. */
  public boolean readsParquet() {
    return data == Data.PARQUET;
  }

  /** How much one process reads in one pass; what is read of the Parquet file is up to the file. */
  public long bytes(WorkloadSizes sizes) {
    return bytes.applyAsLong(sizes);
  }

  /**
   * The objects that it reads, as slices of one reference file; none for the Parquet file, which is
   * not made of that.
   *
   * @param bucket URI that the objects' names begin with, with a slash at its end
   */
  public List<ObjectSlice> objects(String bucket, WorkloadSizes sizes) {
    return switch (data) {
      case TEXT -> List.of(ObjectSlice.front(bucket + "lineitem.tbl", sizes.bytes()));
      case STREAMS -> ObjectLayout.streams(bucket + base + '/', streams, sizes.bytes());
      case SMALL -> ObjectLayout.small(bucket + "small/", sizes.smallObjects());
      case PARQUET -> List.of();
    };
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
