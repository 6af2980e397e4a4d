// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.data.LineItemOrc;
import io.s3e.bench.data.LineItemParquet;
import io.s3e.bench.data.LineItemText;
import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.data.ParquetPack;
import io.s3e.bench.data.TextParquet;
import io.s3e.bench.workload.WorkloadKind;
import io.s3e.bench.workload.WorkloadKind.Data;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.jspecify.annotations.Nullable;

/**
 * The data of the chosen workloads alone, written into a bucket of its own: objects that are slices
 * of one local text file, and files of columns. The local files stay, to compare with.
 *
 * <p>One thread calls; {@link #stop} may come from any.
 */
final class EmbeddedData {

  private static final String TEXT = "lineitem.tbl";

  /** The columns of TPC-H query 3. */
  private static final List<String> COLUMNS =
      List.of("l_orderkey", "l_extendedprice", "l_discount", "l_shipdate");

  static final String WARM_UP = "warm-up";
  private static final int WARM_UP_BYTES = 1 << 20;
  private static final int UPLOAD_THREADS = 4;
  private static final int COPY_BYTES = 1 << 20;

  /** An upload that is aborted ends with the request that it has sent. */
  private static final long STOP_SECONDS = 30;

  private final FileSystem bucket;
  private final String bucketUri;
  private final Path directory;
  private final JobOptions options;
  private final Progress progress;
  private final Map<Data, Made> made = new ConcurrentHashMap<>();
  private final Map<WorkloadKind, Long> checksums = new ConcurrentHashMap<>();

  /** Read by each upload from its begin to its end; {@link #stop} writes it. */
  private final ReadWriteLock uploading = new ReentrantReadWriteLock();

  private final Set<FSDataOutputStream> uploads = ConcurrentHashMap.newKeySet();
  private volatile boolean stopped;

  /**
   * Files of columns.
   *
   * @param local where their bytes are
   * @param objects slices of it
   * @param columns those that are read
   */
  private record Made(Path local, List<ObjectSlice> objects, List<String> columns) {}

  /**
   * Of nothing yet: {@link #write} generates the data and uploads it.
   *
   * @param bucketUri URI of the bucket, with a slash at its end
   * @param directory where the local files go
   */
  EmbeddedData(
      FileSystem bucket, String bucketUri, Path directory, JobOptions options, Progress progress) {
    this.bucket = bucket;
    this.bucketUri = bucketUri;
    this.directory = directory;
    this.options = options;
    this.progress = progress;
  }

  /** Generates the data and uploads it. */
  void write() throws IOException, InterruptedException {
    upload(warmUpUri(), out -> out.write(new byte[WARM_UP_BYTES]));
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      List<Future<?>> tasks = new ArrayList<>();
      tasks.add(threads.submit(this::writeText));
      options.workloads().stream()
          .map(WorkloadKind::data)
          .filter(kind -> !kind.isText())
          .distinct()
          .forEach(kind -> tasks.add(threads.submit(() -> writeFiles(kind))));
      await(tasks);
    } finally {
      threads.shutdownNow();
    }
  }

  /**
   * No object comes to be from here on: aborts the uploads under way, and waits for their ends.
   *
   * @throws IOException if one is still under way after {@value #STOP_SECONDS} s
   */
  void stop() throws IOException, InterruptedException {
    stopped = true;
    uploads.forEach(FSDataOutputStream::abort);
    if (!uploading.writeLock().tryLock(STOP_SECONDS, TimeUnit.SECONDS)) {
      throw new IOException("an upload is still under way");
    }
    uploading.writeLock().unlock();
  }

  private static void await(List<Future<?>> tasks) throws IOException, InterruptedException {
    for (Future<?> task : tasks) {
      try {
        task.get();
      } catch (ExecutionException e) {
        throw new IOException("The data could not be written: " + e.getCause(), e.getCause());
      }
    }
  }

  private List<ObjectSlice> objects(WorkloadKind workload) {
    return workload.objects(bucketUri, options.sizes());
  }

  private @Nullable Void writeText() throws IOException, InterruptedException {
    Collection<ObjectSlice> objects =
        options.workloads().stream()
            .flatMap(workload -> objects(workload).stream())
            // Other buckets show the objects of this one.
            .filter(object -> object.uri().startsWith(bucketUri))
            .collect(Collectors.toMap(ObjectSlice::uri, slice -> slice, (one, same) -> one))
            .values();
    if (objects.isEmpty()) {
      return null;
    }
    long bytes = objects.stream().mapToLong(s -> s.reference() + s.length()).max().getAsLong();
    Path local = directory.resolve(TEXT);
    try (Progress.Bar bar = progress.bytes("generate " + TEXT, bytes)) {
      LineItemText.write(local, bytes, bar::at);
    }
    upload(local, objects, "upload of text");
    return null;
  }

  private @Nullable Void writeFiles(Data kind) throws IOException, InterruptedException {
    Made files = make(kind);
    made.put(kind, files);
    for (WorkloadKind workload : options.workloads()) {
      if (workload.data() == kind && workload.decodes()) {
        checksums.put(workload, workload.checksum(files.local(), files.columns()));
      }
    }
    upload(files.local(), files.objects(), "upload of " + files.local().getFileName());
    return null;
  }

  private Made make(Data kind) throws IOException {
    return switch (kind) {
      case PARQUET -> lineItem("lineitem.parquet");
      case COLUMNS -> text("columns.parquet", TextParquet.lineItem(options.bytes()), COLUMNS);
      case WIDE -> text("wide.parquet", TextParquet.wide(options.bytes()), TextParquet.TWO_OF_WIDE);
      case FILES -> manyFiles();
      case FILTERED -> filtered("filtered.parquet");
      case ORC -> orc("lineitem.orc");
      case TEXT, STREAMS, SMALL, BUCKETS, NEIGHBOURS ->
          throw new IllegalArgumentException("Slices of the text, and no files: " + kind);
    };
  }

  private Made whole(Path local, List<String> columns) throws IOException {
    ObjectSlice object = ObjectSlice.front(bucketUri + local.getFileName(), Files.size(local));
    return new Made(local, List.of(object), columns);
  }

  private Made lineItem(String name) throws IOException {
    Path local = directory.resolve(name);
    double scale = options.parquetScale();
    try (Progress.Bar bar =
        progress.count("generate " + name, LineItemParquet.approximateRows(scale), "rows")) {
      LineItemParquet.write(local, scale, bar::at);
    }
    return whole(local, COLUMNS);
  }

  private Made filtered(String name) throws IOException {
    Path local = directory.resolve(name);
    int groups = LineItemParquet.FILTERED_GROUPS;
    int rows = LineItemParquet.ROWS_OF_FILTERED_GROUP;
    try (Progress.Bar bar = progress.count("generate " + name, (long) groups * rows, "rows")) {
      LineItemParquet.writeFiltered(local, groups, rows, bar::at);
    }
    return whole(local, COLUMNS);
  }

  private Made orc(String name) throws IOException {
    Path local = directory.resolve(name);
    double scale = options.parquetScale();
    try (Progress.Bar bar =
        progress.count("generate " + name, LineItemParquet.approximateRows(scale), "rows")) {
      LineItemOrc.write(local, scale, bar::at);
    }
    return whole(local, COLUMNS);
  }

  private Made text(String name, TextParquet file, List<String> columns) throws IOException {
    Path local = directory.resolve(name);
    try (Progress.Bar bar = progress.bytes("generate " + name, file.textBytes())) {
      file.write(local, bar::at);
    }
    return whole(local, columns);
  }

  private Made manyFiles() throws IOException {
    Path local = directory.resolve("manyfiles");
    try (Progress.Bar bar =
        progress.bytes("generate small Parquet files", ParquetPack.textBytes(options.files()))) {
      return new Made(
          local,
          ParquetPack.write(local, bucketUri + "manyfiles/", options.files(), bar::at),
          COLUMNS);
    }
  }

  private void upload(Path local, Collection<ObjectSlice> objects, String what)
      throws IOException, InterruptedException {
    long bytes = objects.stream().mapToLong(ObjectSlice::length).sum();
    AtomicLong done = new AtomicLong();
    ExecutorService threads = Executors.newFixedThreadPool(UPLOAD_THREADS);
    try (Progress.Bar bar = progress.bytes(what, bytes)) {
      List<Future<?>> tasks = new ArrayList<>();
      for (ObjectSlice object : objects) {
        tasks.add(threads.submit(() -> upload(local, object, done, bar)));
      }
      await(tasks);
    } finally {
      threads.shutdownNow();
    }
  }

  private @Nullable Void upload(Path local, ObjectSlice object, AtomicLong done, Progress.Bar bar)
      throws IOException {
    upload(object.uri(), out -> copy(local, object, out, piece -> bar.at(done.addAndGet(piece))));
    return null;
  }

  /** What fills an object. */
  private interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  private void upload(String uri, Content content) throws IOException {
    uploading.readLock().lock();
    try {
      if (stopped) {
        throw new IOException("the job ends: " + uri + " is not written");
      }
      FSDataOutputStream out = bucket.create(new org.apache.hadoop.fs.Path(uri), true);
      uploads.add(out);
      try (out) {
        content.writeTo(out);
        if (stopped) {
          // Behind the one who aborts those that are there.
          var unused = out.abort();
        }
      } finally {
        uploads.remove(out);
      }
    } finally {
      uploading.readLock().unlock();
    }
  }

  private static void copy(Path local, ObjectSlice object, OutputStream out, IntConsumer copied)
      throws IOException {
    byte[] buffer = new byte[(int) Math.min(COPY_BYTES, object.length())];
    try (FileChannel channel = FileChannel.open(local);
        InputStream in = Channels.newInputStream(channel.position(object.reference()))) {
      for (long left = object.length(); left > 0; ) {
        int piece = in.readNBytes(buffer, 0, (int) Math.min(buffer.length, left));
        if (piece == 0) {
          throw new IOException(local + " ends within " + object);
        }
        out.write(buffer, 0, piece);
        left -= piece;
        copied.accept(piece);
      }
    }
  }

  /** A small object to start clients and connections with. */
  String warmUpUri() {
    return bucketUri + WARM_UP;
  }

  /** The objects that a workload reads. */
  Target.Subject subject(WorkloadKind workload) {
    Made files = made.get(workload.data());
    return files == null
        ? new Target.Subject(
            objects(workload), warmUpUri(), directory.resolve(TEXT).toString(), List.of(), null)
        : new Target.Subject(
            files.objects(),
            warmUpUri(),
            files.local().toString(),
            files.columns(),
            checksums.get(workload));
  }
}
