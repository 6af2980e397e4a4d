package io.s3e.bench;

import io.s3e.bench.data.LineItemParquet;
import io.s3e.bench.data.LineItemText;
import io.s3e.bench.process.ChildJvm;
import io.s3e.bench.server.ServerProcess;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.workload.ParquetScan;
import io.s3e.bench.workload.WorkloadKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.jspecify.annotations.Nullable;

/**
 * The embedded server in a process of its own, with TPC-H lineitem written into it through S3A.
 * Owns the process.
 */
final class EmbeddedTarget implements Target {

  private static final String BUCKET = "s3e-bench";
  private static final String TEXT = "lineitem.tbl";
  private static final String PARQUET = "lineitem.parquet";
  private static final String WARM_UP = "warm-up";
  private static final String WARM_UP_URI = "s3a://" + BUCKET + '/' + WARM_UP;
  private static final int WARM_UP_BYTES = 1 << 20;

  /** The columns of TPC-H query 3. */
  private static final List<String> COLUMNS =
      List.of("l_orderkey", "l_extendedprice", "l_discount", "l_shipdate");

  private static final String ACCESS_KEY = "s3e-bench";
  private static final String SECRET_KEY = "only-for-the-embedded-server";
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int COPY_BYTES = 1 << 20;

  private final ChildJvm server;
  private final RunDirectory directory;
  private final JobOptions options;
  private final Map<String, String> hadoop;
  private long parquetChecksum;

  private EmbeddedTarget(ChildJvm server, RunDirectory directory, JobOptions options)
      throws IOException, InterruptedException {
    this.server = server;
    this.directory = directory;
    this.options = options;
    ServerProcess.Start start =
        new ServerProcess.Start(
            directory.objects().toString(),
            BUCKET,
            ACCESS_KEY,
            SECRET_KEY,
            options.timeToFirstByteMillis(),
            options.bytesPerSecond());
    String endpoint = server.call(ServerProcess.START, start, PATIENCE, String.class);
    hadoop =
        Map.of(
            "fs.s3a.endpoint",
            endpoint,
            "fs.s3a.endpoint.region",
            "us-east-1",
            "fs.s3a.path.style.access",
            "true",
            "fs.s3a.connection.ssl.enabled",
            "false",
            "fs.s3a.aws.credentials.provider",
            "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
            "fs.s3a.access.key",
            ACCESS_KEY,
            "fs.s3a.secret.key",
            SECRET_KEY,
            "hadoop.tmp.dir",
            directory.tmp().toString());
  }

  /** Starts the server and fills it with what the workloads need. */
  static EmbeddedTarget start(
      JobOptions options, Set<WorkloadKind> workloads, RunDirectory directory, Progress progress)
      throws IOException, InterruptedException {
    List<String> jvmOptions = List.of("-Xmx512m", "-Djava.io.tmpdir=" + directory.tmp());
    ChildJvm server =
        ChildJvm.start(
            "the S3 server",
            ServerProcess.class,
            jvmOptions,
            directory.logs().resolve("server.log"));
    boolean ready = false;
    try {
      EmbeddedTarget target = new EmbeddedTarget(server, directory, options);
      target.fill(workloads, progress);
      ready = true;
      return target;
    } finally {
      if (!ready) {
        server.close();
      }
    }
  }

  private void fill(Set<WorkloadKind> workloads, Progress progress)
      throws IOException, InterruptedException {
    boolean parquet = workloads.stream().anyMatch(WorkloadKind::readsParquet);
    boolean text = workloads.stream().anyMatch(workload -> !workload.readsParquet());
    Configuration configuration = new Configuration();
    hadoop.forEach(configuration::set);
    URI bucket = URI.create("s3a://" + BUCKET + "/");
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (FileSystem s3a = FileSystem.newInstance(bucket, configuration)) {
      try (OutputStream out = s3a.create(new org.apache.hadoop.fs.Path("/" + WARM_UP), true)) {
        out.write(new byte[WARM_UP_BYTES]);
      }
      Future<?> textDone = text ? threads.submit(() -> writeText(s3a, progress)) : null;
      Future<?> parquetDone = parquet ? threads.submit(() -> writeParquet(s3a, progress)) : null;
      await(textDone);
      await(parquetDone);
    } finally {
      threads.shutdownNow();
    }
  }

  private static void await(@Nullable Future<?> task) throws IOException, InterruptedException {
    if (task == null) {
      return;
    }
    try {
      task.get();
    } catch (ExecutionException e) {
      throw new IOException("The data could not be written: " + e.getCause(), e.getCause());
    }
  }

  private @Nullable Void writeText(FileSystem s3a, Progress progress) throws IOException {
    Path local = directory.data().resolve(TEXT);
    try (Progress.Bar bar = progress.bytes("generate " + TEXT, options.bytes())) {
      LineItemText.write(local, options.bytes(), bar::at);
    }
    upload(local, s3a, TEXT, progress);
    return null;
  }

  private @Nullable Void writeParquet(FileSystem s3a, Progress progress) throws IOException {
    Path local = directory.data().resolve(PARQUET);
    double scale = options.parquetScale();
    try (Progress.Bar bar =
        progress.count("generate " + PARQUET, LineItemParquet.approximateRows(scale), "rows")) {
      LineItemParquet.write(local, scale, bar::at);
    }
    parquetChecksum = ParquetScan.checksum(local, COLUMNS);
    upload(local, s3a, PARQUET, progress);
    return null;
  }

  private static void upload(Path local, FileSystem s3a, String key, Progress progress)
      throws IOException {
    org.apache.hadoop.fs.Path remote = new org.apache.hadoop.fs.Path("/" + key);
    byte[] buffer = new byte[COPY_BYTES];
    try (Progress.Bar bar = progress.bytes("upload " + key, Files.size(local));
        InputStream in = Files.newInputStream(local);
        OutputStream out = s3a.create(remote, true)) {
      long done = 0;
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        out.write(buffer, 0, n);
        done += n;
        bar.at(done);
      }
    }
  }

  @Override
  public String description() {
    String pace =
        options.bytesPerSecond() == 0
            ? "unlimited bandwidth"
            : String.format(Locale.ROOT, "%.0f MB/s a connection", options.bytesPerSecond() / 1e6);
    return "embedded S3 server, plain HTTP, %d ms to the first byte, %s"
        .formatted(options.timeToFirstByteMillis(), pace);
  }

  @Override
  public Map<String, String> hadoop() {
    return hadoop;
  }

  @Override
  public Subject subject(WorkloadKind workload) {
    String key = workload.readsParquet() ? PARQUET : TEXT;
    String uri = "s3a://" + BUCKET + '/' + key;
    return workload.readsParquet()
        ? new Subject(uri, WARM_UP_URI, null, COLUMNS, parquetChecksum)
        : new Subject(uri, WARM_UP_URI, directory.data().resolve(key).toString(), List.of(), null);
  }

  @Override
  public ServerStats serverStats() throws IOException, InterruptedException {
    return server.call(ServerProcess.STATS, null, PATIENCE, ServerStats.class);
  }

  @Override
  public void close() {
    server.close();
  }
}
