// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import com.fasterxml.jackson.databind.JsonNode;
import io.s3e.bench.data.ObjectSlice;
import io.s3e.bench.process.ChildJvm;
import io.s3e.bench.server.SelfSignedCertificate;
import io.s3e.bench.server.ServerProcess;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.workload.WorkloadKind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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
  private static final String WARM_UP_URI = BUCKET_URI + EmbeddedData.WARM_UP;
  private static final String HANGING_BUCKET =
      ObjectSlice.bucketBeside(BUCKET, ObjectSlice.HANGING);
  private static final String REFUSING_BUCKET =
      ObjectSlice.bucketBeside(BUCKET, ObjectSlice.REFUSING);

  private static final String ACCESS_KEY = "s3e-bench";
  private static final String SECRET_KEY = "only-for-the-embedded-server";
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final String CA_FILE = "fs.s3a.s3e.tls.ca.file";

  /**
   * Beginnings of keys beside its own that say how another store is reached, by whom, and how its
   * objects are encrypted. A store of passwords comes before the passwords of {@link #entries}.
   */
  private static final List<String> OF_ANOTHER_STORE =
      List.of(
          CA_FILE,
          "fs.s3a.accesspoint.",
          "fs.s3a.assumed.role.",
          "fs.s3a.bucket.",
          "fs.s3a.custom.signers",
          "fs.s3a.delegation.",
          "fs.s3a.encryption.",
          "fs.s3a.endpoint.",
          "fs.s3a.proxy.",
          "fs.s3a.s3.client.factory.impl",
          "fs.s3a.security.credential.provider.path",
          "fs.s3a.server-side-encryption",
          "fs.s3a.session.token",
          "fs.s3a.signing-algorithm",
          "hadoop.security.credential.provider.path");

  private final ChildJvm server;
  private final RunDirectory directory;
  private final JobOptions options;
  private final ServerProcess.Started started;
  private final Map<String, String> hadoop;
  private @Nullable EmbeddedData data;
  private int runs;

  private EmbeddedTarget(ChildJvm server, RunDirectory directory, JobOptions options)
      throws IOException, InterruptedException {
    this.server = server;
    this.directory = directory;
    this.options = options;
    ServerSettings settings = options.server();
    Path requestLog = settings.requestLog();
    ServerProcess.Start start =
        new ServerProcess.Start(
            directory.objects().toString(),
            BUCKET,
            ACCESS_KEY,
            SECRET_KEY,
            settings.shape(),
            settings.tls() ? directory.tmp().resolve("tls").toString() : null,
            requestLog == null ? null : requestLog.toAbsolutePath().toString(),
            bucketsBeside(options),
            HANGING_BUCKET,
            REFUSING_BUCKET);
    started = server.call(ServerProcess.START, start, PATIENCE, ServerProcess.Started.class);
    hadoop = entries(started.endpoint(), directory.tmp());
    SelfSignedCertificate certificate = started.certificate();
    if (certificate != null) {
      hadoop.put(CA_FILE, certificate.pem().toString());
    }
  }

  /** Those that show the same objects; one of them refuses some GETs, one hangs. */
  private static List<String> bucketsBeside(JobOptions options) {
    int most = options.workloads().stream().mapToInt(WorkloadKind::bucketsBeside).max().orElse(0);
    return most == 0
        ? List.of(REFUSING_BUCKET)
        : Stream.concat(
                IntStream.rangeClosed(1, most).mapToObj(Integer::toString),
                Stream.of(ObjectSlice.HANGING, ObjectSlice.REFUSING))
            .map(suffix -> ObjectSlice.bucketBeside(BUCKET, suffix))
            .toList();
  }

  /** S3A's settings for an endpoint of the server. */
  private static Map<String, String> entries(String endpoint, Path tmp) {
    Map<String, String> entries = new LinkedHashMap<>();
    entries.put("fs.s3a.endpoint", endpoint);
    entries.put("fs.s3a.endpoint.region", "us-east-1");
    entries.put("fs.s3a.path.style.access", "true");
    entries.put("fs.s3a.connection.ssl.enabled", Boolean.toString(endpoint.startsWith("https:")));
    entries.put(
        "fs.s3a.aws.credentials.provider", "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider");
    entries.put("fs.s3a.access.key", ACCESS_KEY);
    entries.put("fs.s3a.secret.key", SECRET_KEY);
    entries.put("hadoop.tmp.dir", tmp.toString());
    return entries;
  }

  /**
   * Whether an entry of a file of the user's is about a store: it would lead readers of the
   * embedded one astray. All buckets here are the server's own.
   */
  static boolean isOfAStore(String key) {
    return entries("", Path.of("")).containsKey(key)
        || OF_ANOTHER_STORE.stream().anyMatch(key::startsWith);
  }

  /** Starts the server and fills it with what the workloads need. */
  static EmbeddedTarget start(JobOptions options, RunDirectory directory, Progress progress)
      throws IOException, InterruptedException {
    List<String> jvmOptions = new ArrayList<>(ServerProcess.jvmOptions());
    jvmOptions.add("-Djava.io.tmpdir=" + directory.tmp());
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
    entries(started.backEndpoint(), directory.tmp()).forEach(configuration::set);
    // Nothing is there yet that a file could overwrite or hide: no requests to look for it.
    configuration.setBoolean("fs.s3a.create.performance", true);
    try (FileSystem s3a = FileSystem.newInstance(URI.create(BUCKET_URI), configuration)) {
      EmbeddedData filled = new EmbeddedData(s3a, BUCKET_URI, directory.data(), options, progress);
      filled.write();
      return filled;
    }
  }

  @Override
  public String description() {
    return "embedded S3 server, " + options.server().description();
  }

  @Override
  public Map<String, String> hadoop() {
    return Collections.unmodifiableMap(hadoop);
  }

  @Override
  public List<String> jvmOptions() {
    SelfSignedCertificate certificate = started.certificate();
    return certificate == null ? List.of() : certificate.jvmOptions();
  }

  @Override
  public Subject subject(WorkloadKind workload) {
    if (data == null) {
      throw new IllegalStateException("The data is not written yet");
    }
    Subject subject = data.subject(workload);
    return switch (workload.store()) {
      case WELL -> subject;
      case REFUSING ->
          renamed(
              subject,
              subject.objects().stream()
                  .map(object -> object.besideBucket(ObjectSlice.REFUSING))
                  .toList(),
              ObjectSlice.REFUSING);
    };
  }

  /** Each call shows the bucket, and those beside it, under one more name. */
  @Override
  public Subject unread(Subject subject) throws IOException {
    String suffix = "run" + ++runs;
    show(BUCKET, suffix);
    List<ObjectSlice> renamed = new ArrayList<>();
    for (ObjectSlice object : subject.objects()) {
      String bucket = URI.create(object.uri()).getHost();
      if (bucket.equals(HANGING_BUCKET)) {
        renamed.add(object);
      } else {
        show(bucket, suffix);
        renamed.add(object.besideBucket(suffix));
      }
    }
    return renamed(subject, renamed, suffix);
  }

  /** The same by other names of its objects, and of the small one as its bucket is now called. */
  private static Subject renamed(Subject subject, List<ObjectSlice> objects, String suffix) {
    String warmUp = subject.warmUpUri();
    return new Subject(
        objects,
        ObjectSlice.besideBucket(warmUp == null ? WARM_UP_URI : warmUp, suffix),
        subject.reference(),
        subject.columns(),
        subject.checksum());
  }

  private void show(String bucket, String suffix) throws IOException {
    Path link = directory.objects().resolve(ObjectSlice.bucketBeside(bucket, suffix));
    if (!Files.exists(link)) {
      Files.createSymbolicLink(link, Path.of(BUCKET));
    }
  }

  @Override
  public ServerStats serverStats() throws IOException, InterruptedException {
    return server.call(ServerProcess.STATS, null, PATIENCE, ServerStats.class);
  }

  /** Ends the server; what it wrote of its requests is complete then. */
  @Override
  public void close() throws IOException {
    try (server) {
      if (server.isAlive()) {
        server.call(ServerProcess.STOP, null, PATIENCE, JsonNode.class);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
