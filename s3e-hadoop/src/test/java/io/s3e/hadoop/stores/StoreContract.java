// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.stores;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.testserver.S3TestServer;
import java.io.FileNotFoundException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * What S3E asks of a store, through S3A's file system: every read is by the CRT, and gives the
 * bytes that were written. A store differs in what {@link Trait} names, and in nothing else.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class StoreContract {
  /** What not every store does. */
  enum Trait {
    /** Refuses requests that are signed with another secret. */
    CHECKS_SIGNATURES,
    /** Answers 412 where the ETag is another than {@code If-Match} says. */
    HONOURS_IF_MATCH,
    /** Takes an object of no bytes as S3A's client puts it. */
    TAKES_EMPTY_OBJECTS,
    /** Takes the bucket from the host {@code BUCKET.localhost}. */
    VIRTUAL_HOSTS
  }

  static final String BUCKET = "s3e-stores";
  private static final int SIZE = (6 << 20) + 321;

  private final byte[] data = bytes(SIZE, 3);
  private S3EFileSystem fs;

  /** Starts the store. */
  abstract URI start(java.nio.file.Path work) throws Exception;

  /** Ends it. */
  abstract void stop() throws Exception;

  abstract boolean has(Trait trait);

  private URI endpoint;

  @BeforeAll
  void open(@TempDir java.nio.file.Path work) throws Exception {
    endpoint = start(work);
    try (S3Client s3 = client()) {
      s3.createBucket(request -> request.bucket(BUCKET));
    }
    fs = open(configuration(endpoint));
  }

  @AfterAll
  void close() throws Exception {
    if (fs != null) {
      fs.close();
    }
    stop();
  }

  private static byte[] bytes(int size, long seed) {
    byte[] bytes = new byte[size];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  static Configuration configuration(URI endpoint) {
    Configuration conf = S3AReads.small(S3AServer.s3e(endpoint));
    conf.set("fs.s3a.multipart.size", "5M");
    return conf;
  }

  static S3EFileSystem open(Configuration conf) throws Exception {
    return (S3EFileSystem) FileSystem.newInstance(URI.create("s3a://" + BUCKET), conf);
  }

  private S3Client client() {
    return S3Client.builder()
        .endpointOverride(endpoint)
        .region(Region.US_EAST_1)
        .forcePathStyle(true)
        .httpClient(ApacheHttpClient.create())
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsBasicCredentials.create(S3TestServer.ACCESS_KEY, S3TestServer.SECRET_KEY)))
        .build();
  }

  private Path write(String key, byte[] content) throws Exception {
    Path path = new Path("/" + key);
    try (FSDataOutputStream out = fs.create(path, true)) {
      out.write(content);
    }
    return path;
  }

  private void requireByCrt() throws Exception {
    assertThat(fs.hasPathCapability(new Path("/"), "fs.s3a.s3e.client.crt")).isTrue();
    assertThat(fs.getIOStatistics().counters()).containsEntry("s3e_client_fallback", 0L);
  }

  private byte[] slice(int from, int length) {
    return Arrays.copyOfRange(data, from, from + length);
  }

  /** As one PUT, and as an upload of parts, whose ETag is no digest of the bytes. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4 << 20, SIZE})
  void whatWasWrittenIsRead(int size) throws Exception {
    assumeTrue(
        size > 0 || has(Trait.TAKES_EMPTY_OBJECTS),
        "this store refuses S3A's PUT of an object of no bytes");
    byte[] content = Arrays.copyOf(data, size);
    Path path = write("scan/of-" + size, content);
    String etag = ((S3AFileStatus) fs.getFileStatus(path)).getETag();
    assertThat(etag).isNotEmpty();
    assertThat(etag.matches("\"?[0-9a-f]{32}-\\d+\"?"))
        .as("ETag %s of an upload of parts", etag)
        .isEqualTo(size > 5 << 20);
    try (FSDataInputStream in = fs.open(path)) {
      assertArrayEquals(content, in.readAllBytes());
      assertThat(in.read()).isEqualTo(-1);
    }
    requireByCrt();
  }

  @Test
  void positionsGiveTheirBytes() throws Exception {
    Path path = write("positions", data);
    try (FSDataInputStream in = fs.open(path)) {
      byte[] some = new byte[70_000];
      for (int at : new int[] {0, 65_535, 5_000_000, SIZE - some.length, 1_234_567}) {
        in.readFully(at, some);
        assertArrayEquals(slice(at, some.length), some);
      }
      in.seek(SIZE - 5);
      assertThat(in.read(some)).isEqualTo(5);
      assertThat(in.read(some)).isEqualTo(-1);
    }
    requireByCrt();
  }

  @Test
  void rangesGiveTheirBytes() throws Exception {
    Path path = write("ranges", data);
    List<FileRange> ranges = new ArrayList<>();
    for (int at : new int[] {5_500_000, 100, 2_000_000, 3_333_333}) {
      ranges.add(FileRange.createFileRange(at, 90_001));
    }
    try (FSDataInputStream in = fs.open(path)) {
      in.readVectored(ranges, ByteBuffer::allocate);
      for (FileRange range : ranges) {
        byte[] some = new byte[range.getLength()];
        range.getData().get(60, TimeUnit.SECONDS).get(some);
        assertArrayEquals(slice((int) range.getOffset(), some.length), some);
      }
    }
    requireByCrt();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "plus+and&amp", "semi;colon=equals", "ünï/cödé", "tilde~(x)"})
  void keysNeedNoCare(String key) throws Exception {
    Path path = write("keys/" + key, slice(0, 100_000));
    try (FSDataInputStream in = fs.open(path)) {
      assertArrayEquals(slice(0, 100_000), in.readAllBytes());
    }
    requireByCrt();
  }

  @Test
  void whatIsNotThereIsNotFound() {
    assertThatThrownBy(() -> fs.open(new Path("/none"))).isInstanceOf(FileNotFoundException.class);
  }

  /** Whether the store compares or not, bytes of two versions are never mixed. */
  @Test
  void anOverwrittenObjectIsNotReadOn() throws Exception {
    Path path = write("changing", data);
    try (FSDataInputStream in =
        fs.openFile(path).opt("fs.option.openfile.read.policy", "random").build().get()) {
      byte[] some = new byte[1000];
      in.readFully(0, some);
      assertArrayEquals(slice(0, 1000), some);
      write("changing", bytes(SIZE, 4));
      assertThatThrownBy(() -> in.readFully(4_000_000, some))
          .isInstanceOf(RemoteFileChangedException.class);
    }
    requireByCrt();
  }

  @Test
  void aConditionIsHonouredOrNot() throws Exception {
    write("condition", slice(0, 1000));
    GetObjectRequest request =
        GetObjectRequest.builder()
            .bucket(BUCKET)
            .key("condition")
            .ifMatch("\"00000000000000000000000000000000\"")
            .build();
    try (S3Client s3 = client()) {
      if (has(Trait.HONOURS_IF_MATCH)) {
        assertThatThrownBy(() -> s3.getObjectAsBytes(request))
            .isInstanceOfSatisfying(
                S3Exception.class, e -> assertThat(e.statusCode()).isEqualTo(412));
      } else {
        assertArrayEquals(slice(0, 1000), s3.getObjectAsBytes(request).asByteArray());
      }
    }
  }

  @Test
  void aWrongSecretIsRefusedWhereSecretsAreLookedAt() throws Exception {
    assumeTrue(has(Trait.CHECKS_SIGNATURES), "this store takes any signature");
    Path path = write("secret", slice(0, 1000));
    Configuration conf = configuration(endpoint);
    conf.set("fs.s3a.secret.key", "wrong-secret");
    try (S3EFileSystem other = open(conf)) {
      assertThatThrownBy(() -> other.open(path).read()).isInstanceOf(AccessDeniedException.class);
    }
  }

  @Test
  void aBucketInTheHostIsRead() throws Exception {
    assumeTrue(has(Trait.VIRTUAL_HOSTS), "this store takes the bucket from the path alone");
    String host = BUCKET + ".localhost";
    assumeTrue(isLoopback(host), () -> host + " is no name of this machine");
    Path path = write("host", data);
    Configuration conf = configuration(URI.create("http://localhost:" + endpoint.getPort()));
    conf.setBoolean("fs.s3a.path.style.access", false);
    try (S3EFileSystem other = open(conf);
        FSDataInputStream in = other.open(path)) {
      assertArrayEquals(data, in.readAllBytes());
      assertThat(other.hasPathCapability(path, "fs.s3a.s3e.client.crt")).isTrue();
    }
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
