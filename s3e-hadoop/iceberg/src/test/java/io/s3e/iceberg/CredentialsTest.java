// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Fault;
import io.s3e.testing.Slow;
import io.s3e.testing.StoredContent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.iceberg.aws.s3.S3FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;
import org.apache.iceberg.io.StorageCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whose credentials requests are signed with: Iceberg decides that, and renews them. */
class CredentialsTest {
  private static final int SIZE = 1 << 20;

  private HostileStore store;

  @BeforeEach
  void open() throws IOException {
    store = new HostileStore();
  }

  @AfterEach
  void close() throws IOException {
    store.close();
  }

  private static byte[] read(S3FileIO io, String key, long size) throws IOException {
    try (SeekableInputStream in = io.newInputFile(HostileStore.location(key), size).newStream()) {
      return in.readAllBytes();
    }
  }

  private static byte[] bytes(StoredContent content, long from, int length) {
    byte[] bytes = new byte[length];
    content.copy(from, bytes, 0, bytes.length);
    return bytes;
  }

  private static StorageCredential vended(String prefix, String keyId) {
    return StorageCredential.create(
        HostileStore.location(prefix),
        Map.of(
            "s3.access-key-id",
            keyId,
            "s3.secret-access-key",
            "secret",
            "s3.session-token",
            "token-of-" + keyId));
  }

  /** Up to 1.9 Iceberg has one client for all prefixes. */
  @Test
  @Tag("iceberg-1.11")
  void eachPrefixIsReadWithItsOwn() throws IOException {
    StoredContent one = store.put("one/file", SIZE, 1);
    StoredContent two = store.put("two/file", SIZE, 2);
    StoredContent none = store.put("none/file", SIZE, 3);
    S3EFileIO io = new S3EFileIO();
    // As a catalog does it: before there are properties.
    io.setCredentials(List.of(vended("one/", "firsts"), vended("two/", "seconds")));
    try (io) {
      store.open(io);
      assertThat(read(io, "one/file", SIZE)).isEqualTo(bytes(one, 0, SIZE));
      assertThat(read(io, "two/file", SIZE)).isEqualTo(bytes(two, 0, SIZE));
      assertThat(read(io, "none/file", SIZE)).isEqualTo(bytes(none, 0, SIZE));
    }
    assertThat(store.signers("one")).containsExactly("firsts");
    assertThat(store.signers("two")).containsExactly("seconds");
    assertThat(store.signers("none")).containsExactly("catalogs");
    assertThat(store.server.gets())
        .filteredOn(request -> request.target().contains("/two/"))
        .allSatisfy(
            request ->
                assertThat(request.header("x-amz-security-token")).isEqualTo("token-of-seconds"));
  }

  /** What a catalog's server answers is not checked when the file IO is made. */
  @Test
  @Tag("iceberg-1.11")
  void whatIsVendedToS3eAndNotAcceptedIsToldOnceAndNotUsed() throws IOException {
    StoredContent one = store.put("one/file", SIZE, 1);
    Map<String, String> config = new HashMap<>(vended("one/", "firsts").config());
    // Another in each run: one JVM tells of it once.
    String value = "soon-" + System.nanoTime();
    config.put("s3e.read.timeout", value);
    S3EFileIO io = new S3EFileIO();
    io.setCredentials(List.of(StorageCredential.create(HostileStore.location("one/"), config)));
    try (io;
        CapturedLog log = new CapturedLog()) {
      store.open(io);
      for (int i = 0; i < 2; i++) {
        assertThat(read(io, "one/file", SIZE)).isEqualTo(bytes(one, 0, SIZE));
      }
      assertThat(log.lines("s3e.read.timeout is \"" + value + "\"; accepted is")).hasSize(1);
    }
    assertThat(store.signers("one")).containsExactly("firsts");
  }

  /** As where a REST catalog tells the key of a table: S3E's client would ask without it. */
  @ParameterizedTest
  @CsvSource({
    "s3.sse.type, custom",
    "s3.access-points.lake, arn:aws:s3:us-east-1:123456789012:accesspoint/point",
    "s3e.enabled, false"
  })
  @Tag("iceberg-1.11")
  void whatIsVendedAgainstS3eHoldsForItsPrefix(String key, String value) throws IOException {
    store.put("one/file.parquet", SIZE, 1);
    StoredContent two = store.put("two/file", SIZE, 2);
    Map<String, String> config = new HashMap<>(vended("one/", "firsts").config());
    config.put(key, value);
    config.put("s3.sse.key", "a2V5");
    config.put("s3.sse.md5", "bWQ1");
    S3EFileIO io = new S3EFileIO();
    io.setCredentials(List.of(StorageCredential.create(HostileStore.location("one/"), config)));
    try (io) {
      store.open(io);
      String location = HostileStore.location("one/file.parquet");
      for (InputFile file : List.of(io.newInputFile(location, SIZE), io.newInputFile(location))) {
        try (SeekableInputStream in = file.newStream()) {
          assertThat(in).isNotInstanceOf(S3ESeekableInputStream.class);
        }
      }
      assertThat(store.server.requests()).as("no HEAD for a length that S3E wants").isEmpty();
      assertThat(read(io, "two/file", SIZE)).isEqualTo(bytes(two, 0, SIZE));
      assertThat(store.server.gets())
          .allMatch(request -> String.valueOf(request.header("User-Agent")).contains("S3E/"));
    }
  }

  /** What one prefix may read, another's credentials may not, though it is in memory. */
  @Test
  @Tag("iceberg-1.11")
  @Slow
  void credentialsThatAreRefusedGetNothingFromMemory() throws IOException {
    StoredContent content = store.put("one/file", SIZE, 1);
    store.server.decide(
        request ->
            HostileStore.signer(request).equals("catalogs")
                ? Fault.none()
                : Fault.status(403, "AccessDenied"));
    S3EFileIO refused = new S3EFileIO();
    refused.setCredentials(List.of(vended("one/", "strangers")));
    try (S3EFileIO io = store.open(new S3EFileIO());
        S3EFileIO stranger = store.open(refused)) {
      assertThat(read(io, "one/file", SIZE)).isEqualTo(bytes(content, 0, SIZE));
      assertThatThrownBy(() -> read(stranger, "one/file", SIZE))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("AccessDenied");
    }
  }

  @Test
  void credentialsThatAreSetAnewAreTaken() throws IOException {
    StoredContent content = store.put("one/file", SIZE, 1);
    S3EFileIO io = new S3EFileIO();
    io.setCredentials(List.of(vended("one/", "firsts")));
    try (io) {
      store.open(io);
      assertThat(read(io, "one/file", SIZE)).isEqualTo(bytes(content, 0, SIZE));
      store.server.forgetRequests();
      io.setCredentials(List.of(vended("one/", "seconds")));
      store.open(io);
      assertThat(read(io, "one/file", SIZE)).isEqualTo(bytes(content, 0, SIZE));
    }
  }

  /** A catalog that vends other credentials each time; the store refuses the ones of before. */
  @Test
  @Slow
  void vendedCredentialsThatExpireAreRenewedUnderWay() throws Exception {
    long size = 256L << 20;
    StoredContent content = store.put("big/file", size, 9);
    Map<String, Instant> issued = new ConcurrentHashMap<>();
    Duration valid = Duration.ofSeconds(3);
    HttpServer catalog =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    catalog.createContext(
        "/v1/credentials",
        exchange -> {
          String keyId = "vended" + issued.size();
          Instant expiry = Instant.now().plus(valid);
          issued.put(keyId, expiry);
          byte[] answer = answer(keyId, expiry).getBytes(UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    catalog.start();
    store.server.decide(
        request -> {
          Instant expiry = issued.get(HostileStore.signer(request));
          return expiry != null && Instant.now().isBefore(expiry)
              ? Fault.none()
              : Fault.status(400, "ExpiredToken");
        });
    String uri = "http://127.0.0.1:" + catalog.getAddress().getPort();
    Instant deadline = Instant.now().plusSeconds(90);
    try (S3EFileIO io =
            store.open(
                new S3EFileIO(),
                "uri",
                uri,
                "client.refresh-credentials-endpoint",
                uri + "/v1/credentials");
        SeekableInputStream in =
            io.newInputFile(HostileStore.location("big/file"), size).newStream()) {
      byte[] bytes = new byte[64 << 10];
      Set<String> signers = Set.of();
      for (long at = 0; signers.size() < 3; at = (at + (7 << 20) + 4096) % (size - bytes.length)) {
        ((RangeReadable) in).readFully(at, bytes);
        assertThat(bytes).isEqualTo(bytes(content, at, bytes.length));
        signers = Set.copyOf(store.signers("big"));
        assertThat(Instant.now()).isBefore(deadline);
      }
      assertThat(signers).allMatch(signer -> signer.startsWith("vended"));
    } finally {
      catalog.stop(0);
    }
  }

  private static String answer(String keyId, Instant expiry) {
    return String.format(
        "{\"storage-credentials\":[{\"prefix\":\"s3\",\"config\":{\"s3.access-key-id\":\"%s\","
            + "\"s3.secret-access-key\":\"secret\",\"s3.session-token\":\"token\","
            + "\"s3.session-token-expires-at-ms\":\"%d\"}}]}",
        keyId, expiry.toEpochMilli());
  }
}
