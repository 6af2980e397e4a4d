package io.s3e.bench;

import io.s3e.bench.data.LineItemParquet;
import io.s3e.bench.data.LineItemText;
import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.workload.ParquetScan;
import io.s3e.bench.workload.WorkloadKind;
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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FileSystem;
import org.jspecify.annotations.Nullable;

/**
 * The data of the chosen workloads alone, written into a bucket of its own: objects that are slices
 * of one local text file, and the Parquet file. The local files stay, to compare with.
 */
final class EmbeddedData {

  private static final String TEXT = "lineitem.tbl";
  private static final String PARQUET = "lineitem.parquet";

  /** The columns of TPC-H query 3. */
  private static final List<String> COLUMNS =
      List.of("l_orderkey", "l_extendedprice", "l_discount", "l_shipdate");

  private static final int UPLOAD_THREADS = 4;
  private static final int COPY_BYTES = 1 << 20;

  private final FileSystem bucket;
  private final String bucketUri;
  private final Path directory;
  private final JobOptions options;
  private final Progress progress;
  private long parquetChecksum;
  private long parquetBytes;

  private EmbeddedData(
      FileSystem bucket, String bucketUri, Path directory, JobOptions options, Progress progress) {
    this.bucket = bucket;
    this.bucketUri = bucketUri;
    this.directory = directory;
    this.options = options;
    this.progress = progress;
  }

  /**
   * Generates the data and uploads it.
   *
   * @param bucketUri URI of the bucket, with a slash at its end
   * @param directory where the local files go
   */
  static EmbeddedData write(
      FileSystem bucket, String bucketUri, Path directory, JobOptions options, Progress progress)
      throws IOException, InterruptedException {
    EmbeddedData data = new EmbeddedData(bucket, bucketUri, directory, options, progress);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      List<Future<?>> tasks = new ArrayList<>();
      tasks.add(threads.submit(data::writeText));
      if (options.workloads().stream().anyMatch(WorkloadKind::readsParquet)) {
        tasks.add(threads.submit(data::writeParquet));
      }
      await(tasks);
    } finally {
      threads.shutdownNow();
    }
    return data;
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

  private @Nullable Void writeParquet() throws IOException, InterruptedException {
    Path local = directory.resolve(PARQUET);
    double scale = options.parquetScale();
    try (Progress.Bar bar =
        progress.count("generate " + PARQUET, LineItemParquet.approximateRows(scale), "rows")) {
      LineItemParquet.write(local, scale, bar::at);
    }
    parquetChecksum = ParquetScan.checksum(local, COLUMNS);
    parquetBytes = Files.size(local);
    upload(local, List.of(parquet()), "upload of Parquet");
    return null;
  }

  private ObjectSlice parquet() {
    return ObjectSlice.front(bucketUri + PARQUET, parquetBytes);
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
    byte[] buffer = new byte[(int) Math.min(COPY_BYTES, object.length())];
    try (FileChannel channel = FileChannel.open(local);
        InputStream in = Channels.newInputStream(channel.position(object.reference()));
        OutputStream out = bucket.create(new org.apache.hadoop.fs.Path(object.uri()), true)) {
      for (long left = object.length(); left > 0; ) {
        int piece = in.readNBytes(buffer, 0, (int) Math.min(buffer.length, left));
        if (piece == 0) {
          throw new IOException(local + " ends within " + object);
        }
        out.write(buffer, 0, piece);
        left -= piece;
        bar.at(done.addAndGet(piece));
      }
    }
    return null;
  }

  /**
   * The objects that a workload reads.
   *
   * @param warmUpUri a small object to start clients and connections with
   */
  Target.Subject subject(WorkloadKind workload, String warmUpUri) {
    return workload.readsParquet()
        ? new Target.Subject(
            List.of(parquet()),
            warmUpUri,
            directory.resolve(PARQUET).toString(),
            COLUMNS,
            parquetChecksum)
        : new Target.Subject(
            objects(workload), warmUpUri, directory.resolve(TEXT).toString(), List.of(), null);
  }
}
