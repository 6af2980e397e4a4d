package io.s3e.bench;

import io.s3e.bench.process.ChildJvm;
import io.s3e.bench.server.ServerProcess;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.workload.WorkloadKind;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.jspecify.annotations.Nullable;

/**
 * The embedded server in a process of its own, with TPC-H lineitem written into it through S3A.
 * Owns the process.
 */
final class EmbeddedTarget implements Target {

  private static final String BUCKET = "s3e-bench";
  private static final String BUCKET_URI = "s3a://" + BUCKET + '/';
  private static final String WARM_UP_URI = BUCKET_URI + "warm-up";
  private static final int WARM_UP_BYTES = 1 << 20;

  private static final String ACCESS_KEY = "s3e-bench";
  private static final String SECRET_KEY = "only-for-the-embedded-server";
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final ChildJvm server;
  private final RunDirectory directory;
  private final JobOptions options;
  private final Map<String, String> hadoop;
  private @Nullable EmbeddedData data;

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
  static EmbeddedTarget start(JobOptions options, RunDirectory directory, Progress progress)
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
      target.data = target.fill(progress);
      ready = true;
      return target;
    } finally {
      if (!ready) {
        server.close();
      }
    }
  }

  private EmbeddedData fill(Progress progress) throws IOException, InterruptedException {
    Configuration configuration = new Configuration();
    hadoop.forEach(configuration::set);
    // Nothing is there yet that a file could overwrite or hide: no requests to look for it.
    configuration.setBoolean("fs.s3a.create.performance", true);
    try (FileSystem s3a = FileSystem.newInstance(URI.create(BUCKET_URI), configuration)) {
      try (OutputStream out = s3a.create(new org.apache.hadoop.fs.Path(WARM_UP_URI), true)) {
        out.write(new byte[WARM_UP_BYTES]);
      }
      return EmbeddedData.write(s3a, BUCKET_URI, directory.data(), options, progress);
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
    if (data == null) {
      throw new IllegalStateException("The data is not written yet");
    }
    return data.subject(workload, WARM_UP_URI);
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
