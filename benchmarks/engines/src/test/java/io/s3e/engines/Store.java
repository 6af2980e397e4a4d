// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.s3e.bench.server.FirstByteTime;
import io.s3e.bench.server.SelfSignedCertificate;
import io.s3e.bench.server.ServerStats;
import io.s3e.bench.server.Shape;
import io.s3e.bench.server.ShapedS3Server;
import io.s3e.testing.Eventually;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * The build's S3 server in this JVM, with one bucket, and the tests' own way into it, past shape
 * and counts. Owns the server.
 */
public final class Store implements AutoCloseable {
  public static final String BUCKET = "engines";
  public static final String ROOT = "s3a://" + BUCKET + "/";

  /** As S3 is: what an engine asks for depends on how long answers take. */
  private static final Shape SHAPE =
      new Shape(FirstByteTime.constant(TimeUnit.MILLISECONDS.toNanos(30)), 60_000_000, 0);

  private static final String ACCESS_KEY = "engines";
  private static final String SECRET_KEY = "only-for-the-tests";

  private final Path objects;
  private final ShapedS3Server server;
  private final @Nullable SelfSignedCertificate certificate;
  private final S3Client client;
  private final Path requests;
  private final ObjectMapper json = new ObjectMapper();

  private Store(
      Path objects,
      ShapedS3Server server,
      @Nullable SelfSignedCertificate certificate,
      Path requests) {
    this.objects = objects;
    this.server = server;
    this.certificate = certificate;
    this.requests = requests;
    client =
        S3Client.builder()
            .endpointOverride(server.backEndpoint())
            .region(Region.US_EAST_1)
            .forcePathStyle(true)
            .httpClientBuilder(ApacheHttpClient.builder())
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(ACCESS_KEY, SECRET_KEY)))
            .build();
  }

  /** Starts an empty store that answers after 30 ms with 60 MB/s a connection. */
  public static Store start(Path directory) throws IOException {
    return start(directory, SHAPE);
  }

  /** Starts a store of that pace whose objects lie, and may lie already, in {@code directory}. */
  public static Store start(Path directory, Shape shape) throws IOException {
    return start(directory, shape, null);
  }

  /** As the first, but that of the buckets of the same objects one GET in twenty is refused. */
  public static Store startRefusing(Path directory) throws IOException {
    return start(directory, SHAPE, null, BUCKET + '-');
  }

  /** As above, and one answer in ten is late by a second and a half. */
  public static Store startRefusingAndLate(Path directory) throws IOException {
    FirstByteTime late = new FirstByteTime(TimeUnit.MILLISECONDS.toNanos(30), 0, 0.1, 51, 25);
    return start(directory, new Shape(late, 60_000_000, 0), null, BUCKET + '-');
  }

  /**
   * As above.
   *
   * @param certificate what it shows of itself; null for plain HTTP
   */
  public static Store start(
      Path directory, Shape shape, @Nullable SelfSignedCertificate certificate) throws IOException {
    return start(directory, shape, certificate, null);
  }

  private static Store start(
      Path directory,
      Shape shape,
      @Nullable SelfSignedCertificate certificate,
      @Nullable String refusing)
      throws IOException {
    Path objects = directory.resolve("objects");
    Files.createDirectories(objects.resolve(BUCKET));
    Path requests = directory.resolve("requests.jsonl");
    ShapedS3Server.Settings settings =
        new ShapedS3Server.Settings(
            objects, 0, ACCESS_KEY, SECRET_KEY, shape, certificate, requests, null, refusing);
    return new Store(objects, ShapedS3Server.start(settings), certificate, requests);
  }

  public URI endpoint() {
    return server.endpoint();
  }

  /** S3A's keys that lead to it. */
  public Map<String, String> keys() {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put("fs.s3a.endpoint", endpoint().toString());
    keys.put("fs.s3a.endpoint.region", "us-east-1");
    keys.put("fs.s3a.path.style.access", "true");
    keys.put("fs.s3a.connection.ssl.enabled", Boolean.toString(certificate != null));
    if (certificate != null) {
      keys.put("fs.s3a.s3e.tls.ca.file", certificate.pem().toString());
    }
    keys.put(
        "fs.s3a.aws.credentials.provider", "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider");
    keys.put("fs.s3a.access.key", ACCESS_KEY);
    keys.put("fs.s3a.secret.key", SECRET_KEY);
    return keys;
  }

  /**
   * One more bucket, with the objects of {@link #BUCKET}, which no cache knows yet.
   *
   * @return its root
   */
  public String bucketOfSameObjects() throws IOException {
    String name = BUCKET + '-' + UUID.randomUUID();
    Files.createSymbolicLink(objects.resolve(name), Path.of(BUCKET));
    return "s3a://" + name + '/';
  }

  /** Options of an engine's JVM, so that it trusts the server. */
  public List<String> jvmOptions() {
    return certificate == null ? List.of() : certificate.jvmOptions();
  }

  public void put(String key, byte[] content) {
    client.putObject(r -> r.bucket(BUCKET).key(key), RequestBody.fromBytes(content));
  }

  public void put(String key, Path file) {
    client.putObject(r -> r.bucket(BUCKET).key(key), RequestBody.fromFile(file));
  }

  public byte[] get(String key) {
    return client.getObjectAsBytes(r -> r.bucket(BUCKET).key(key)).asByteArrayUnsafe();
  }

  /** The keys that begin with {@code prefix}, sorted, without the marks of directories. */
  public List<String> keys(String prefix) {
    return client.listObjectsV2Paginator(r -> r.bucket(BUCKET).prefix(prefix)).contents().stream()
        .map(S3Object::key)
        .filter(key -> !key.endsWith("/"))
        .sorted()
        .toList();
  }

  /** Of all objects below a directory whose names begin with {@code part-}, in order. */
  public String digestOfParts(String directory) {
    MessageDigest digest = sha256();
    for (String key : keys(directory + "/")) {
      if (key.substring(key.lastIndexOf('/') + 1).startsWith("part-")) {
        digest.update(get(key));
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Of lines that an engine wrote. */
  static String digest(List<String> lines) {
    MessageDigest digest = sha256();
    for (String line : lines) {
      digest.update((line + "\n").getBytes(StandardCharsets.UTF_8));
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What the server has done since it started, once no request is under way. */
  public ServerStats stats() throws InterruptedException {
    Eventually.awaitTrue("no request is under way", () -> server.stats().activeRequests() == 0);
    return server.stats();
  }

  /** How many requests had ended; the beginning of {@link #since}. */
  public int mark() throws IOException, InterruptedException {
    return lines().size();
  }

  /** What was asked of the server after {@code mark}. */
  public Traffic since(int mark) throws IOException, InterruptedException {
    List<Traffic.Request> asked = new ArrayList<>();
    List<String> all = lines();
    for (String line : all.subList(mark, all.size())) {
      JsonNode node = json.readTree(line);
      asked.add(
          new Traffic.Request(
              node.get("operation").asText(),
              node.get("path").asText(),
              node.path("range").asText(""),
              node.path("agent").asText(""),
              node.get("status").asInt(),
              node.get("sent").asLong()));
    }
    return new Traffic(asked);
  }

  /** One for each request, once none is under way. */
  private List<String> lines() throws IOException, InterruptedException {
    List<String> lines = new ArrayList<>();
    Eventually.awaitTrue(
        "every request has its line",
        () -> {
          ServerStats stats = server.stats();
          server.flushRequestLog();
          lines.clear();
          lines.addAll(Files.readAllLines(requests));
          long began =
              stats.operations().values().stream().mapToLong(ServerStats.Counts::requests).sum();
          return stats.activeRequests() == 0 && lines.size() == began;
        });
    return lines;
  }

  @Override
  public void close() throws IOException {
    client.close();
    server.close();
  }
}
