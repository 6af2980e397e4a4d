// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.workload;

import io.s3e.bench.data.ObjectLayout;
import io.s3e.bench.workload.RowGroupReads.Calls;
import io.s3e.bench.workload.WorkloadKind.Data;
import io.s3e.bench.workload.WorkloadKind.Jvm;
import java.util.Arrays;
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

/** The workloads that can be asked for, by their names. */
final class KnownWorkloads {

  /** The names of {@link WorkloadKind#readsInOrder} that carry no number. */
  static final Set<String> IN_ORDER =
      Set.of("seq", "text", "tiny", "small", "small-nostatus", "cold");

  /** What names of workloads begin with whose consumer has a rate. */
  static final String PACED = "scan-";

  private static final String FOUR_CHUNKS =
      "4 of 16 column chunks of each row group of 64 MiB of a Parquet file";

  private static final String MANY_FILES =
      "4 of 16 column chunks of Parquet files of one row group of up to 4 MiB, one file after the"
          + " other";

  private static final int MOST_MEGABYTES_PER_SECOND = 10_000;
  private static final int MOST_STREAMS = 1024;
  private static final int MOST_READ_KIBIBYTES = 16 << 10;
  private static final int MOST_PROCESSES = 64;
  private static final int MOST_PASSES = 16;
  private static final int MOST_FILE_SYSTEMS = 64;
  private static final int DEFAULT_READ_KIBIBYTES = 256;
  private static final int DEFAULT_RANDOM_THREADS = 16;
  private static final Pattern STREAMS = Pattern.compile("seq:?(\\d{1,4})");
  private static final Pattern RANDOM = Pattern.compile("rnd(\\d{1,5})k-(\\d{1,4})");
  private static final Pattern PACED_SCAN = Pattern.compile(PACED + "(\\d{1,5})");
  private static final Pattern SHARED = Pattern.compile("share-(\\d{1,3})");
  private static final Pattern FILE_SYSTEMS = Pattern.compile("manyfs(\\d{1,2})");
  private static final Pattern COLD = Pattern.compile("cold-(.+)");
  private static final Pattern BAD = Pattern.compile("bad-(.+)");
  private static final Pattern REPEATED = Pattern.compile("(.+)-(\\d{1,2})");

  /** Names of several workloads. */
  private static final Map<String, List<String>> FAMILIES =
      Map.of(
          "manyfs",
          List.of("manyfs1", "manyfs8", "manyfs32"),
          "manyfiles",
          List.of("manyfiles-name", "manyfiles-status"),
          "filter",
          List.of("filter-dictionary", "filter-bloom", "filter-pageindex"),
          "neighbour",
          Arrays.stream(Disturbance.values()).map(KnownWorkloads::label).toList());

  /** The workloads whose names have no parameters. */
  private static final Map<String, WorkloadKind> FIXED =
      Stream.concat(plain(), Arrays.stream(Disturbance.values()).map(KnownWorkloads::disturbed))
          .collect(Collectors.toMap(WorkloadKind::label, Function.identity()));

  private KnownWorkloads() {}

  private static Stream<WorkloadKind> plain() {
    return Stream.of(
        text("seq", "one stream from front to end, reads of 1 MiB", 1, () -> new SequentialRead(1)),
        random("rnd", DEFAULT_READ_KIBIBYTES, DEFAULT_RANDOM_THREADS),
        columns("vec", FOUR_CHUNKS + ", by one readVectored", Calls.VECTORED, Pace.UNBOUND),
        columns(
            "iceberg",
            FOUR_CHUNKS + ", by the calls of Iceberg's ParquetIO",
            Calls.VECTORED,
            Pace.UNBOUND),
        columns("pq", FOUR_CHUNKS + ", by seek and readFully", Calls.SEEKS, Pace.UNBOUND),
        file(
            "narrow",
            "2 of 300 column chunks of each row group of 64 MiB, by one readVectored; openFile is"
                + " told the split",
            Data.WIDE,
            () -> new RowGroupReads(Calls.VECTORED, Opening.SPLIT, Statuses.asked(), Pace.UNBOUND)),
        file(
            "manyfiles-name",
            MANY_FILES + ", each asked for its status and opened by its name",
            Data.FILES,
            () -> new RowGroupReads(Calls.VECTORED, Opening.NAME, Statuses.asked(), Pace.UNBOUND)),
        file(
            "manyfiles-status",
            MANY_FILES + ", each opened with its status from a listing",
            Data.FILES,
            () ->
                new RowGroupReads(Calls.VECTORED, Opening.STATUS, Statuses.listed(), Pace.UNBOUND)),
        file(
            "parquet",
            "4 of 16 columns by parquet-java",
            Data.PARQUET,
            () -> new ParquetScan(RowFilter.NONE)),
        filtered(RowFilter.DICTIONARY),
        filtered(RowFilter.BLOOM),
        filtered(RowFilter.PAGE_INDEX),
        file("orc", "4 of 16 columns by ORC's own reader", Data.ORC, OrcScan::new),
        kept(
            "back",
            "to-and-fro seeks: 1 MiB read, then 2 MiB forward or 3 MiB back",
            Data.TEXT,
            1,
            WorkloadSizes::seekBytes,
            ToAndFro::new),
        kept(
            "jumps",
            "seeks to places at random, 1 MiB from each by reads of 64 KiB; opened by its name",
            Data.TEXT,
            1,
            WorkloadSizes::seekBytes,
            Jumps::new),
        text(
            "tiny",
            "records of 100 bytes from front to end, as TeraSort reads them; a call's time is"
                + " the mean of ten thousand",
            1,
            TinyReads::new),
        small("small", "opened with its status from a listing", true),
        small("small-nostatus", "opened by its name", false),
        text(
            "text",
            "lines by Hadoop's line reader, splits of up to 128 MiB, 4 at once",
            4,
            LineSplits::new),
        new WorkloadKind(
            "cold",
            "a fresh JVM with a file system that has read nothing: open, first byte, and the rest"
                + " of 64 MiB",
            Data.TEXT,
            1,
            Jvm.COLD,
            sizes -> Math.min(FirstByte.BYTES, sizes.bytes()),
            FirstByte::new));
  }

  /** Finds a workload by its name; see {@link WorkloadKind#of}. */
  static WorkloadKind of(String label) {
    WorkloadKind fixed = FIXED.get(label);
    if (fixed != null) {
      return fixed;
    }
    Matcher streams = STREAMS.matcher(label);
    if (streams.matches()) {
      return streams(within(1, streams.group(1), MOST_STREAMS, label));
    }
    Matcher random = RANDOM.matcher(label);
    if (random.matches()) {
      return random(
          label,
          within(1, random.group(1), MOST_READ_KIBIBYTES, label),
          within(1, random.group(2), MOST_STREAMS, label));
    }
    Matcher paced = PACED_SCAN.matcher(label);
    if (paced.matches()) {
      return paced(label, within(1, paced.group(1), MOST_MEGABYTES_PER_SECOND, label));
    }
    Matcher shared = SHARED.matcher(label);
    if (shared.matches()) {
      int processes = within(1, shared.group(1), MOST_PROCESSES, label);
      String meaning = " JVMs at once, each reads one and the same object from front to end";
      return of("seq").shared(label, processes + meaning, processes);
    }
    Matcher fileSystems = FILE_SYSTEMS.matcher(label);
    if (fileSystems.matches()) {
      return fileSystems(within(1, fileSystems.group(1), MOST_FILE_SYSTEMS, label));
    }
    Matcher cold = COLD.matcher(label);
    if (cold.matches()) {
      return of(cold.group(1)).cold();
    }
    Matcher bad = BAD.matcher(label);
    if (bad.matches()) {
      return of(bad.group(1)).refused();
    }
    Matcher repeated = REPEATED.matcher(label);
    if (repeated.matches()) {
      return of(repeated.group(1)).repeated(within(2, repeated.group(2), MOST_PASSES, label));
    }
    throw new IllegalArgumentException(
        "No workload is named " + label + "; there are " + WorkloadKind.NAMES);
  }

  /** Those of a family; of another name the one that is named so. */
  static List<WorkloadKind> named(String name) {
    return FAMILIES.getOrDefault(name, List.of(name)).stream().map(KnownWorkloads::of).toList();
  }

  private static int within(int least, String digits, int most, String label) {
    int value = Integer.parseInt(digits);
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "Expected %d to %d instead of %d in %s".formatted(least, most, value, label));
    }
    return value;
  }

  private static WorkloadKind kept(
      String label,
      String description,
      Data data,
      int streams,
      ToLongFunction<WorkloadSizes> bytes,
      Supplier<Workload> workload) {
    return new WorkloadKind(label, description, data, streams, Jvm.KEPT, bytes, workload);
  }

  /** A workload over a file of columns, which says itself how much there is to read. */
  private static WorkloadKind file(
      String label, String description, Data data, Supplier<Workload> workload) {
    return kept(label, description, data, 1, sizes -> 0, workload);
  }

  /** Column chunks of a large file, opened as parquet-java opens files. */
  private static WorkloadKind columns(String label, String description, Calls calls, Pace pace) {
    return file(
        label,
        description,
        Data.COLUMNS,
        () -> new RowGroupReads(calls, Opening.STATUS, Statuses.asked(), pace));
  }

  private static WorkloadKind filtered(RowFilter filter) {
    return file(
        "filter-" + filter.label(),
        "columns by parquet-java, which filters by " + filter.description(),
        Data.FILTERED,
        () -> new ParquetScan(filter));
  }

  private static WorkloadKind paced(String label, int megabytesPerSecond) {
    return columns(
        label,
        FOUR_CHUNKS
            + ", by one readVectored, for a consumer that takes "
            + megabytesPerSecond
            + " MB/s and no processor time",
        Calls.VECTORED,
        Pace.megabytes(megabytesPerSecond));
  }

  /** A workload that reads all of the text. */
  private static WorkloadKind text(
      String label, String description, int streams, Supplier<Workload> workload) {
    return kept(label, description, Data.TEXT, streams, WorkloadSizes::bytes, workload);
  }

  private static WorkloadKind streams(int streams) {
    return kept(
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
    return kept(
        label,
        kibibytes + " KiB positioned reads at random, " + who,
        Data.TEXT,
        threads,
        sizes -> RandomReads.bytes(sizes.randomBytes(), readBytes, threads),
        () -> new RandomReads(readBytes, threads));
  }

  private static WorkloadKind small(String label, String how, boolean statusGiven) {
    return kept(
        label,
        "objects of 64 KiB to 1 MiB, each " + how + " and read whole, 16 at once",
        Data.SMALL,
        16,
        sizes -> ObjectLayout.smallBytes(sizes.smallObjects()),
        () -> new SmallObjects(statusGiven));
  }

  private static WorkloadKind fileSystems(int count) {
    return new WorkloadKind(
        "manyfs" + count,
        count
            + (count == 1 ? " file system" : " file systems")
            + " in one JVM, a bucket each: opened and scanned one after the other, all staying"
            + " open; then opened and scanned all at once. MB/s are of all at once",
        Data.BUCKETS,
        count,
        Jvm.FRESH,
        sizes ->
            count * ManyFileSystems.OBJECTS_A_BUCKET * ManyFileSystems.scanBytes(sizes.bytes()),
        () -> new ManyFileSystems(count));
  }

  private static String label(Disturbance disturbance) {
    return "neighbour-" + disturbance.label();
  }

  private static WorkloadKind disturbed(Disturbance disturbance) {
    return new WorkloadKind(
        label(disturbance),
        "positioned reads of 64 KiB by 4 threads, then a scan of 64 MiB; alone, then "
            + disturbance.description()
            + ". MB/s are of the disturbed scan",
        Data.NEIGHBOURS,
        1,
        Jvm.FRESH,
        sizes -> 0,
        () -> new Disturbed(disturbance, Disturbance.Effort.FULL));
  }
}
