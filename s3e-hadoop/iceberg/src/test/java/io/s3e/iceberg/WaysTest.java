// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.s3e.S3E;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Fault;
import io.s3e.testing.FaultyLog;
import io.s3e.testing.Slow;
import io.s3e.testing.StoredContent;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.aws.s3.S3FileIO;
import org.apache.iceberg.aws.s3.S3FileIOAwsClientFactory;
import org.apache.iceberg.exceptions.NotFoundException;
import org.apache.iceberg.io.SeekableInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3Client;

/** Which client sends the requests of a file IO, and what is said of it. */
class WaysTest {
  private static final int SIZE = 3 << 20;
  private static final String KEY = "data/file";
  private static final String LOCATION = HostileStore.location(KEY);
  private static final Map<String, String> NOTHING = Map.of();

  private HostileStore store;
  private StoredContent content;

  @BeforeEach
  void open() throws IOException {
    store = new HostileStore();
    content = store.put(KEY, SIZE, 5);
  }

  @AfterEach
  void close() throws IOException {
    store.close();
  }

  private void assertReads(S3FileIO io) throws IOException {
    assertReads(io, SIZE);
  }

  /** A length that is told is no end. */
  private void assertReads(S3FileIO io, long told) throws IOException {
    byte[] bytes = new byte[SIZE];
    content.copy(0, bytes, 0, bytes.length);
    try (SeekableInputStream in = io.newInputFile(LOCATION, told).newStream()) {
      assertThat(in.readAllBytes()).isEqualTo(bytes);
    }
  }

  private static String client(S3EFileIO io) {
    S3E tenant = StreamTenants.tenant(io, LOCATION);
    return tenant == null ? "none" : tenant.client().name();
  }

  private long byCrt() {
    return store.server.gets().stream()
        .filter(request -> String.valueOf(request.header("User-Agent")).contains("S3E/"))
        .count();
  }

  @Test
  void byDefaultItIsTheCrt() throws IOException {
    try (S3EFileIO io = store.open(new S3EFileIO())) {
      assertReads(io);
      assertThat(client(io)).startsWith("crt");
      assertThat(byCrt()).isEqualTo(store.server.gets().size());
      assertThat(store.server.requests()).as("no HEAD").allMatch(r -> r.method().equals("GET"));
    }
  }

  /** Of a data file it has to be seen first that it is read from front to end. */
  @ParameterizedTest
  @CsvSource({"metadata/m0.avro, 8, 6", "metadata/v1.metadata.json, 2, 3"})
  void filesOfMetadataAreReadByAFewLongRequests(String key, int mebibytes, int mostGets)
      throws IOException {
    int size = mebibytes << 20;
    StoredContent stored = store.put(key, size, 7);
    byte[] expected = new byte[size];
    stored.copy(0, expected, 0, size);
    try (S3EFileIO io = store.open(new S3EFileIO());
        SeekableInputStream in = io.newInputFile(HostileStore.location(key), size).newStream()) {
      byte[] bytes = new byte[size];
      int read = 0;
      while (read < size) {
        // As decoders of Avro and JSON ask.
        read += in.read(bytes, read, Math.min(8 << 10, size - read));
      }
      assertThat(bytes).isEqualTo(expected);
      assertThat(store.server.gets()).hasSizeLessThanOrEqualTo(mostGets);
    }
  }

  /** The CRT reads no such answer, and is asked for none once that is known. */
  @Test
  void aStoreWithoutEtagsIsReadByIcebergsClient() throws Exception {
    store.server.always(Fault.etag(null));
    try (CapturedLog log = new CapturedLog();
        S3EFileIO io = store.open(new S3EFileIO())) {
      assertReads(io);
      assertThat(client(io)).isEqualTo("iceberg");
      store.server.forgetRequests();
      assertReads(io);
      assertReads(io, SIZE - 1000);
      assertThat(store.server.gets()).isNotEmpty();
      assertThat(byCrt()).isZero();
      assertThat(store.server.requests()).as("no HEAD").allMatch(r -> r.method().equals("GET"));
      assertThat(log.await("no ETag")).hasSize(1);
    }
  }

  /** The line is due on a thread that the answers of others come by. */
  @Timeout(60)
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLogThatHangsOrThrowsKeepsNothingFromIcebergsClient(boolean hangs) throws IOException {
    store.server.always(Fault.etag(null));
    try (FaultyLog log = new FaultyLog("no ETag", hangs);
        S3EFileIO io = store.open(new S3EFileIO())) {
      assertReads(io);
      assertThat(client(io)).isEqualTo("iceberg");
      assertThat(log.awaitMet()).isTrue();
    }
  }

  /** The SDK takes such an endpoint, S3E's own client refuses it. */
  @Test
  void icebergsClientReadsWhereS3esRefusesTheEndpoint() throws Exception {
    String endpoint = store.server.endpoint().toString().replace("//", "//me:secret@");
    try (CapturedLog log = new CapturedLog();
        S3EFileIO io = store.open(new S3EFileIO(), "s3.endpoint", endpoint)) {
      assertReads(io);
      assertThat(client(io)).isEqualTo("iceberg");
      assertThat(log.await("cannot be made")).hasSize(1);
      assertThat(log.lines("secret")).isEmpty();
    }
  }

  @Test
  void icebergsCanBeChosen() throws IOException {
    // A run that is repeated has the same JVM.
    Tenants.forgetTold();
    try (CapturedLog log = new CapturedLog();
        S3EFileIO io = store.open(new S3EFileIO(), "s3e.client", "S3FileIO");
        S3EFileIO other = store.open(new S3EFileIO(), "s3e.client", "S3FileIO")) {
      assertReads(io);
      assertReads(other);
      assertThat(client(io)).isEqualTo("iceberg");
      assertThat(byCrt()).isZero();
      assertThat(log.lines("s3e.client is \"S3FileIO\"")).hasSize(1);
    }
  }

  /** As values of a properties file may have them, which the check lets pass. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "s3e.client  | ' s3fileio ' | iceberg",
        "s3e.client  | 'crt '       | crt",
        "s3e.enabled | 'true '      | crt",
        "s3e.enabled | ' false'     | none"
      })
  void blanksAroundAValueDoNotCount(String key, String value, String client) throws IOException {
    try (S3EFileIO io = store.open(new S3EFileIO(), key, value)) {
      assertReads(io);
      assertThat(client(io)).startsWith(client);
    }
    assertThat(S3EProperties.requiresOwnClient(Map.of(key, value)))
        .isEqualTo(value.contains("crt"));
  }

  /** S3E would ask without the key, and the store refuse. */
  @ParameterizedTest
  @ValueSource(strings = {"custom", "CUSTOM", "Custom"})
  void objectsWithAKeyOfTheirOwnAreLeftToIceberg(String type) {
    assertThat(ClientView.reasonAgainstS3e(Map.of("s3.sse.type", type)))
        .contains("s3.sse.type")
        .contains(type);
    assertThat(ClientView.reasonAgainstS3e(Map.of("s3.sse.type", "kms"))).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", ","})
  @Slow
  void noDirectoriesAreNoCacheOnDisk(String directories) throws IOException {
    Map<String, String> properties = Map.of("s3e.cache.dirs", directories);
    assertThat(S3EProperties.config(properties).diskCache().mode())
        .isEqualTo(DiskCacheConfig.Mode.MEMORY);
    try (S3EFileIO io = store.open(new S3EFileIO(), "s3e.cache.dirs", directories)) {
      assertReads(io);
    }
  }

  /** Two in one directory would take its space twice. */
  @Test
  void aDirectoryThatIsNamedTwiceIsOne() {
    String named = "/ssd, /ssd/,file:/ssd,/hdd/../ssd,/hdd";
    assertThat(S3EProperties.config(Map.of("s3e.cache.dirs", named)).diskCache().directories())
        .containsExactly(Path.of("/ssd"), Path.of("/hdd"));
  }

  @Test
  void theLeastBudgetIsTold() {
    assertThatThrownBy(() -> store.open(new S3EFileIO(), "s3e.memory.budget", "100K"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("s3e.memory.budget is \"100K\"")
        .hasMessageContaining("at least 128K");
    assertThat(S3EProperties.config(Map.of("s3e.memory.budget", "128K")).memoryBytes())
        .isEqualTo(128 << 10);
  }

  @Slow
  @Test
  void s3eCanBeTurnedOff() throws IOException {
    try (S3EFileIO io = store.open(new S3EFileIO(), "s3e.enabled", "false");
        SeekableInputStream in = io.newInputFile(LOCATION, SIZE).newStream()) {
      assertReads(io);
      assertThat(client(io)).isEqualTo("none");
      assertThat(in).isNotInstanceOf(S3ESeekableInputStream.class);
    }
  }

  @Test
  void aClientThatIsGivenReads() throws IOException {
    URI endpoint = store.server.endpoint();
    try (S3EFileIO io = new S3EFileIO(() -> s3(endpoint))) {
      assertReads(io);
      assertThat(client(io)).isEqualTo("iceberg");
      assertThat(store.signers("data")).containsExactly("owns");
    }
  }

  private static S3Client s3(URI endpoint) {
    return S3Client.builder()
        .endpointOverride(endpoint)
        .forcePathStyle(true)
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("owns", "secret")))
        .build();
  }

  /** A factory of somebody's own. */
  public static final class Factory implements S3FileIOAwsClientFactory {
    private String endpoint;

    @Override
    public S3Client s3() {
      return WaysTest.s3(URI.create(endpoint));
    }

    @Override
    public S3AsyncClient s3Async() {
      throw new UnsupportedOperationException("nobody asks for it");
    }

    @Override
    public void initialize(Map<String, String> properties) {
      endpoint = properties.get("s3.endpoint");
    }
  }

  @Test
  void theClientOfAFactoryReadsAndThatIsSaidOnce() throws IOException {
    // A run that is repeated has the same JVM.
    Tenants.forgetTold();
    try (CapturedLog log = new CapturedLog();
        S3EFileIO io =
            store.open(new S3EFileIO(), "s3.client-factory-impl", Factory.class.getName());
        S3EFileIO other =
            store.open(new S3EFileIO(), "s3.client-factory-impl", Factory.class.getName())) {
      assertReads(io);
      assertReads(other);
      assertThat(client(io)).isEqualTo("iceberg");
      assertThat(store.signers("data")).containsExactly("owns");
      assertThat(log.lines("s3.client-factory-impl is")).hasSize(1);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "s3.remote-signing-enabled, true",
    "s3.access-grants.enabled, true",
    "s3.acceleration-enabled, true",
    "client.factory, com.example.Factory",
    "http-client.proxy-endpoint, http://proxy:3128"
  })
  void whatOnlyIcebergsClientCanDoIsItsReason(String key, String value) {
    try (S3Client s3 = s3(store.server.endpoint())) {
      Map<String, String> properties = new HashMap<>(store.properties());
      assertThat(ClientView.of(s3, properties).reasonAgainstOwn()).isNull();
      properties.put(key, value);
      assertThat(ClientView.of(s3, properties).reasonAgainstOwn()).contains(key).contains(value);
    }
  }

  @Test
  void whoLogsInAtAProxyIsInNoReason() {
    URI aws = URI.create("https://s3.eu-west-1.amazonaws.com");
    String key = "http-client.proxy-endpoint";
    for (String user : List.of("", "me:se@cret@")) {
      Map<String, String> proxy = Map.of(key, "http://" + user + "proxy:3128");
      assertThat(Proxies.between(aws, proxy)).isEqualTo(key + " is \"http://proxy:3128\"");
    }
  }

  @ParameterizedTest
  @CsvSource({"50, 0, 25", "10, 0, 5", "1, 0, 1", "200, 0, 32", "200, 40, 40", "many, 40, 1"})
  void halfOfTheConnectionsOfIcebergsClientAreS3es(String connections, int wanted, int threads) {
    try (S3Client s3 = s3(store.server.endpoint())) {
      Map<String, String> properties =
          store.properties("http-client.apache.max-connections", connections);
      assertThat(ClientView.of(s3, properties).threads(wanted)).isEqualTo(threads);
    }
  }

  /** As {@code AWS_USE_FIPS_ENDPOINT} of the environment does. */
  @Test
  void anEndpointOfFipsIsAReason() {
    Map<String, String> properties = new HashMap<>(store.properties());
    properties.remove("s3.endpoint");
    for (int way = 0; way < 4; way++) {
      boolean isFips = way % 2 == 1;
      properties.put("s3.path-style-access", String.valueOf(way > 1));
      System.setProperty("aws.useFipsEndpoint", String.valueOf(isFips));
      try (S3FileIO io = new S3FileIO()) {
        io.initialize(properties);
        String reason = ClientView.of(io.client(), properties).reasonAgainstOwn();
        assertThat(reason != null && reason.contains("s3-fips.us-east-1")).isEqualTo(isFips);
      } finally {
        System.clearProperty("aws.useFipsEndpoint");
      }
    }
  }

  @Test
  void aProxyOfTheJvmOrTheEnvironmentIsAReasonUnlessTheStoreIsExcepted() {
    URI aws = URI.create("https://s3.eu-west-1.amazonaws.com");
    Map<String, String> jvm = Map.of("https.proxyHost", "proxy");
    assertThat(Proxies.between(aws, NOTHING, jvm::get, NOTHING::get)).contains("https.proxyHost");
    Map<String, String> excepted =
        Map.of("https.proxyHost", "proxy", "http.nonProxyHosts", "localhost|*.amazonaws.com");
    assertThat(Proxies.between(aws, NOTHING, excepted::get, NOTHING::get)).isNull();
    Map<String, String> shell = Map.of("HTTPS_PROXY", "http://me:secret@proxy:1");
    assertThat(Proxies.between(aws, NOTHING, NOTHING::get, shell::get))
        .contains("HTTPS_PROXY")
        .doesNotContain("secret");
    Map<String, String> exceptedToo =
        Map.of("HTTPS_PROXY", "http://proxy:1", "NO_PROXY", "127.0.0.1, .amazonaws.com");
    assertThat(Proxies.between(aws, NOTHING, NOTHING::get, exceptedToo::get)).isNull();
    Map<String, String> off = Map.of("http-client.proxy-use-environment-variable-values", "false");
    assertThat(Proxies.between(aws, off, NOTHING::get, shell::get)).isNull();
  }

  /** As behind a firewall that knows Java: the CRT's requests do not come through. */
  @Test
  @Slow
  void icebergsClientReadsWhereTheCrtDoesNotReachTheStore() throws Exception {
    store.server.decideAll(
        request ->
            String.valueOf(request.header("User-Agent")).contains("S3E/")
                ? Fault.resetAtOnce()
                : Fault.none());
    try (CapturedLog log = new CapturedLog();
        S3EFileIO io = store.open(new S3EFileIO())) {
      assertReads(io);
      assertThat(client(io)).isEqualTo("iceberg");
      assertThat(log.await("does not read the store")).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "s3://lake--x-s3/key",
        "s3://point--use1-az4--xa-s3/key",
        "s3://test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3/key",
        "s3://my-object-lambda-acc-1a4n8yjrb3kda96f67zwrwiiuse1a--ol-s3/key",
        "s3://arn:aws:s3:eu-west-1:1:accesspoint/name/key",
        "s3://lake/a?b",
        "s3://lake/a#b",
        "s3://lake",
        "gs://lake/key"
      })
  void whatS3eCannotNameIsLeftToIceberg(String location) {
    assertThat(ClientView.object(location)).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "s3e.memory.budget, much",
    "s3e.memory.budget, 17179869184G",
    "s3e.prefetch.window.max, 4K",
    "s3e.client, netty",
    "s3e.enabled, yes",
    "s3e.columnar, sometimes",
    "s3e.read.timeout, 8",
    "s3e.cache.dirs, ssd",
    "s3e.cache.dirs, '/ssd,ssd'",
    "s3e.cache.dirs, file:ssd"
  })
  void aBadValueIsToldWithPropertyValueAndWhatIsAccepted(String key, String value) {
    assertThatThrownBy(() -> store.open(new S3EFileIO(), key, value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(key)
        .hasMessageContaining(value)
        .hasMessageContaining("accepted");
  }

  @Test
  void anUnknownPropertyIsToldOnce() {
    // Another in each run: one JVM tells of it once.
    String name = "s3e.memory.bugdet-" + System.nanoTime();
    try (CapturedLog log = new CapturedLog();
        S3EFileIO io = store.open(new S3EFileIO(), name, "64M");
        S3EFileIO other = store.open(new S3EFileIO(), name, "32M")) {
      assertThat(other.properties()).containsEntry(name, "32M");
      assertThat(log.lines(name + " is no property")).hasSize(1);
      assertThat(io.properties()).containsKey(name);
    }
  }

  @Test
  void oneThatWasNeverInitializedCanBeClosedAndGivenCredentials() {
    S3EFileIO io = new S3EFileIO();
    io.setCredentials(java.util.List.of());
    io.close();
    io.close();
    assertThat(io.credentials()).isEmpty();
  }

  @Test
  @Slow
  void initializedAnewItReadsByTheNewProperties() throws IOException {
    try (S3EFileIO io = store.open(new S3EFileIO())) {
      assertReads(io);
      store.open(io, "s3e.client", "s3fileio");
      assertReads(io);
      assertThat(client(io)).isEqualTo("iceberg");
    }
  }

  /** The clients of 1.9 are not made anew. */
  @Test
  @Tag("iceberg-1.11")
  void oneThatIsClosedReadsAsS3FileIoDoes() throws IOException {
    S3EFileIO io = store.open(new S3EFileIO());
    assertReads(io);
    io.close();
    assertReads(io);
    assertThat(client(io)).startsWith("crt");
    S3E tenant = StreamTenants.tenant(io, LOCATION);
    assertThat(StreamTenants.isClosed(tenant)).as("nobody closes it again").isTrue();
    io.setCredentials(List.of());
  }

  @Test
  void theWayOutDoesNotDependOnABadValue() throws IOException {
    try (S3EFileIO io =
        store.open(new S3EFileIO(), "s3e.enabled", "false", "s3e.memory.budget", "lots")) {
      assertReads(io);
      assertThat(client(io)).isEqualTo("none");
    }
  }

  /** A caller may take a missing file for one that was deleted, and go on. */
  @Test
  void aMissingBucketIsNoMissingFile() throws IOException {
    for (String code : List.of("NoSuchKey", "NoSuchBucket")) {
      try (S3EFileIO io = store.open(new S3EFileIO());
          SeekableInputStream in = io.newInputFile(LOCATION, SIZE).newStream()) {
        store.server.decideAll(request -> Fault.status(404, code));
        Throwable told = catchThrowable(in::read);
        assertThat(told instanceof NotFoundException).as(code).isEqualTo(code.equals("NoSuchKey"));
        assertThat(told).isNotNull();
      }
    }
  }
}
