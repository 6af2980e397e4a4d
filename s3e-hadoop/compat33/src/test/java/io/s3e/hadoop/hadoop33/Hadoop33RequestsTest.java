// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import static io.s3e.testing.Eventually.awaitTrue;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.amazonaws.regions.DefaultAwsRegionProviderChain;
import io.s3e.block.ObjectRef;
import io.s3e.client.aws.AwsClients;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.HostileS3Server.Request;
import io.s3e.testing.SelfSigned;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.s3a.S3AFileStatus;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What S3E's GETs say on Hadoop 3.3, beside the HEAD of S3A's client before them. */
class Hadoop33RequestsTest {
  private static final ObjectRef OBJECT = new ObjectRef("data", "file");
  private static final Path FILE = new Path("s3a://data/file");

  /** Of S3A's client. */
  private static final String TRUSTS_ALL = "com.amazonaws.sdk.disableCertChecking";

  private static final String DEFAULT_READ_TIMEOUT = "fs.s3a.s3e.read.timeout=8m";

  private static final String SSE_C = "x-amz-server-side-encryption-customer-";

  private final byte[] content = new byte[200_000];
  private HostileS3Server server;

  @BeforeEach
  void start() throws Exception {
    server = HostileS3Server.start();
    new Random(33).nextBytes(content);
    server.put(OBJECT, content);
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private Configuration conf(String... settings) {
    Configuration conf = new Configuration();
    conf.set("hadoop.tmp.dir", System.getProperty("java.io.tmpdir"));
    conf.set("fs.s3a.endpoint", server.endpoint().toString());
    conf.set("fs.s3a.path.style.access", "true");
    conf.set("fs.s3a.access.key", "access");
    conf.set("fs.s3a.secret.key", "secret");
    conf.set("fs.s3a.attempts.maximum", "1");
    conf.set("fs.s3a.s3e.read.timeout", "5s");
    for (String setting : settings) {
      conf.set(setting.split("=", 2)[0], setting.split("=", 2)[1]);
    }
    return conf;
  }

  private FileSystem make(String... settings) throws Exception {
    FileSystem made =
        (FileSystem)
            Class.forName("io.s3e.hadoop.S3EFileSystem").getDeclaredConstructor().newInstance();
    made.initialize(URI.create("s3a://data/"), conf(settings));
    return made;
  }

  /** Reads what is asked for alone, and answers without an ETag too. */
  private FileSystem makeThatFindsVersions() throws Exception {
    return make(
        "fs.s3a.s3e.prefetch.enabled=false", "fs.s3a.change.detection.version.required=false");
  }

  private static byte[] all(FSDataInputStream in) throws IOException {
    try (in) {
      return in.readAllBytes();
    }
  }

  private Request readBy(FileSystem files) throws Exception {
    try (files) {
      assertThat(all(files.open(FILE))).isEqualTo(content);
    }
    Request get = server.gets().get(0);
    assertThat(get.header("User-Agent")).contains("S3E");
    return get;
  }

  private Request head() {
    return server.requests().stream()
        .filter(request -> request.method().equals("HEAD"))
        .findFirst()
        .orElseThrow();
  }

  /** As S3A's own {@code open}: no directory is looked for. */
  @Test
  void aFileThatIsNotThereCostsOneHead() throws Exception {
    try (FileSystem files = make()) {
      int before = server.requests().size();
      assertThatThrownBy(() -> files.open(new Path("s3a://data/nothing")))
          .isInstanceOf(FileNotFoundException.class);
      assertThat(server.requests().subList(before, server.requests().size()))
          .extracting(Request::method)
          .containsExactly("HEAD");
    }
  }

  /** Set before the first read, as applications do, for the stream, its opening or all of them. */
  @ParameterizedTest
  @ValueSource(strings = {"none", "stream", "opening", "key"})
  void aReadaheadIsKeptUntilTheFirstRead(String setBy) throws Exception {
    byte[] more = new byte[6 << 20];
    server.put(OBJECT, more);
    String key = "fs.s3a.readahead.range";
    try (FileSystem files = make((setBy.equals("key") ? key : "unset") + "=2097152");
        FSDataInputStream in =
            setBy.equals("opening")
                ? files.openFile(FILE).opt(key, "2097152").build().get()
                : files.open(FILE)) {
      if (setBy.equals("stream")) {
        in.setReadahead(2L << 20);
      }
      in.readFully(new byte[64 << 10]);
      in.readFully(new byte[64 << 10]);
    }
    long end = lastAsked();
    if (setBy.equals("none")) {
      assertThat(end).isLessThan(1 << 20);
    } else {
      assertThat(end).isGreaterThanOrEqualTo(2 << 20);
    }
  }

  @Test
  void aReadaheadThatIsNoNumberIsTakenAsByS3a() throws Exception {
    List<String> outcomes = new ArrayList<>();
    for (FileSystem files : List.of(new S3AFileSystem(), make())) {
      try (files) {
        if (outcomes.isEmpty()) {
          files.initialize(URI.create("s3a://data/"), conf());
        }
        server.ifMatch(HostileS3Server.IfMatch.IGNORED);
        try (FSDataInputStream in =
            files.openFile(FILE).opt("fs.s3a.readahead.range", "many").build().get()) {
          outcomes.add("read " + in.read());
        } catch (IOException | RuntimeException | ExecutionException e) {
          outcomes.add(e.getClass().getName());
        }
      }
    }
    assertThat(outcomes.get(1)).isEqualTo(outcomes.get(0));
  }

  /** The first name that is known holds; with none, the policy is what the reads look like. */
  @ParameterizedTest
  @CsvSource({
    "opener, whole-file, true",
    "opener, 'unheard, whole-file', true",
    "opener, 'parquet, whole-file', false",
    "opener, unheard, false",
    "key, sequential, true",
    "key, random, false"
  })
  void aPolicyIsThatOfTheOpenerOrOfTheKey(String told, String names, boolean isAhead)
      throws Exception {
    server.put(OBJECT, new byte[24 << 20]);
    String fadvise = "fs.s3a.experimental.input.fadvise";
    boolean byKey = told.equals("key");
    try (FileSystem files = make((byKey ? fadvise : "unset") + "=" + names);
        FSDataInputStream in =
            byKey
                ? files.open(FILE)
                : files.openFile(FILE).opt("fs.option.openfile.read.policy", names).build().get()) {
      in.readFully(new byte[1000]);
      if (isAhead) {
        awaitTrue("more than the read is asked for", () -> lastAsked() >= 1 << 20);
      } else {
        in.readFully(12 << 20, new byte[1000]);
        assertThat(lastAsked()).isBetween(12L << 20, 13L << 20);
      }
    }
  }

  private long lastAsked() {
    return server.gets().stream()
        .mapToLong(get -> Long.parseLong(get.header("Range").replaceAll(".*-", "")))
        .max()
        .orElseThrow();
  }

  @Test
  void anObjectIsNamedInThePathAndSignedForTheRegion() throws Exception {
    Request get = readBy(make("fs.s3a.endpoint.region=eu-west-3"));
    assertThat(get.target()).isEqualTo("/data/file").isEqualTo(head().target());
    assertThat(get.header("Authorization"))
        .contains("Credential=access/")
        .contains("/eu-west-3/s3/aws4_request");
    assertThat(head().header("Authorization")).contains("/eu-west-3/s3/aws4_request");
  }

  @Test
  void withoutARegionBothSignForTheCentralOne() throws Exception {
    Request get = readBy(make());
    assertThat(get.header("Authorization")).contains("/us-east-1/s3/aws4_request");
    assertThat(head().header("Authorization")).contains("/us-east-1/s3/aws4_request");
  }

  /** Empty is not unset: S3A leaves the region to the SDK then, which has a chain to ask. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anEmptyRegionOfAwsIsThatOfTheSdksChain(boolean isEmpty) throws Exception {
    String key = (isEmpty ? "fs.s3a.endpoint.region" : "unset") + "=";
    System.setProperty("aws.region", "eu-west-3");
    try (S3AFileSystem files = (S3AFileSystem) make("fs.s3a.endpoint=", key)) {
      String region = new DefaultAwsRegionProviderChain().getRegion();
      assertThat(Reads.outlook(files).store())
          .isEqualTo(AwsClients.storeName(Optional.empty(), isEmpty ? region : "us-east-1"));
    } finally {
      System.clearProperty("aws.region");
    }
  }

  /** S3A says which Hadoop it is of, after the prefix. */
  @ParameterizedTest
  @ValueSource(strings = {"", "nightly"})
  void gatewaysSeeS3asUserAgent(String prefix) throws Exception {
    Request get = readBy(make("fs.s3a.user.agent.prefix=" + prefix));
    String asS3a = (prefix.isEmpty() ? "" : prefix + ", ") + "Hadoop " + VersionInfo.getVersion();
    assertThat(head().header("User-Agent")).startsWith(asS3a);
    assertThat(get.header("User-Agent")).startsWith(asS3a + " S3E/");
  }

  /** The status of another file system, which tells the ETag as the header has it, or as S3A. */
  private static final class StatusWithEtag extends FileStatus implements EtagSource {
    private static final long serialVersionUID = 1L;
    private final String etag;

    StatusWithEtag(long length, String etag) {
      super(length, false, 1, length, 0, FILE);
      this.etag = etag;
    }

    @Override
    public String getEtag() {
      return etag;
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anEtagOfAStatusIsSentWithItsQuotes(boolean hasQuotes) throws Exception {
    String etag = server.put(OBJECT, content);
    assertThat(etag).startsWith("\"").endsWith("\"");
    String told = hasQuotes ? etag : etag.replace("\"", "");
    try (FileSystem files = make();
        FSDataInputStream in =
            files
                .openFile(FILE)
                .withFileStatus(new StatusWithEtag(content.length, told))
                .build()
                .get()) {
      assertThat(in.readAllBytes()).isEqualTo(content);
      assertThat(server.gets())
          .isNotEmpty()
          .allMatch(get -> etag.equals(get.header("If-Match")))
          .allMatch(get -> get.header("User-Agent").contains("S3E"));
    }
  }

  @Test
  void anAccessPointOfObjectLambdaIsLeftToS3a() throws Exception {
    String alias = "masked-1a4n8yjrb3kda96f67zwrwiiuse1a--ol-s3";
    // It compares what it is asked for with the quotes, which S3A leaves out.
    server.ifMatch(HostileS3Server.IfMatch.IGNORED);
    server.put(new ObjectRef(alias, "file"), content);
    FileSystem files =
        (FileSystem)
            Class.forName("io.s3e.hadoop.S3EFileSystem").getDeclaredConstructor().newInstance();
    try (files) {
      files.initialize(URI.create("s3a://" + alias), conf());
      assertThat(files.hasPathCapability(new Path("/file"), "fs.s3a.s3e")).isFalse();
      assertThat(all(files.open(new Path("/file")))).isEqualTo(content);
    }
    assertThat(server.gets()).isNotEmpty().allMatch(Hadoop33RequestsTest::isS3as);
  }

  @Test
  void aSessionOfS3asCredentialsIsTold() throws Exception {
    Request get =
        readBy(
            make(
                "fs.s3a.aws.credentials.provider="
                    + "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider",
                "fs.s3a.session.token=a-session"));
    assertThat(get.header("x-amz-security-token"))
        .isEqualTo("a-session")
        .isEqualTo(head().header("x-amz-security-token"));
  }

  /** Version 1 of the SDK sends such a key by TLS alone. */
  @Test
  void aKeyOfTheCustomersGoesWithEachGet(@TempDir java.nio.file.Path directory) throws Exception {
    SelfSigned certificate = startTls(directory);
    String key = Base64.getEncoder().encodeToString(new byte[32]);
    System.setProperty(TRUSTS_ALL, "true");
    try {
      Request get =
          readBy(
              make(
                  "fs.s3a.s3e.tls.ca.file=" + certificate.pem(),
                  "fs.s3a.encryption.algorithm=SSE-C",
                  "fs.s3a.encryption.key=" + key));
      for (String name : List.of("algorithm", "key", "key-MD5")) {
        assertThat(get.header(SSE_C + name))
            .as(name)
            .isNotEmpty()
            .isEqualTo(head().header(SSE_C + name));
      }
      assertThat(get.header(SSE_C + "key")).isEqualTo(key);
    } finally {
      System.clearProperty(TRUSTS_ALL);
    }
  }

  private SelfSigned startTls(java.nio.file.Path directory) throws Exception {
    SelfSigned certificate = SelfSigned.create(directory);
    server.close();
    server = HostileS3Server.startTls(certificate.serverContext());
    server.put(OBJECT, content);
    return certificate;
  }

  /** S3E's own client has no certificate to present. */
  @Test
  void aStoreOfTlsIsLeftToS3aWhereTheJvmHasAKeyStore(@TempDir java.nio.file.Path directory)
      throws Exception {
    System.setProperty("javax.net.ssl.keyStore", directory.resolve("k.p12").toString());
    try {
      assertThat(readBy(make()).target()).as("without TLS").isEqualTo("/data/file");
      SelfSigned certificate = startTls(directory);
      System.setProperty(TRUSTS_ALL, "true");
      // It compares what it is asked for with the quotes, which S3A leaves out.
      server.ifMatch(HostileS3Server.IfMatch.IGNORED);
      try (FileSystem files = make("fs.s3a.s3e.tls.ca.file=" + certificate.pem())) {
        assertThat(files.hasPathCapability(FILE, "fs.s3a.s3e")).isFalse();
        assertThat(all(files.open(FILE))).isEqualTo(content);
      }
      assertThat(server.gets()).isNotEmpty().allMatch(Hadoop33RequestsTest::isS3as);
    } finally {
      System.clearProperty(TRUSTS_ALL);
      System.clearProperty("javax.net.ssl.keyStore");
    }
  }

  @Test
  void theRequesterPays() throws Exception {
    assumeFalse(VersionInfo.getVersion().startsWith("3.3.4"), "S3A learnt it in 3.3.5");
    Request get = readBy(make("fs.s3a.requester.pays.enabled=true"));
    assertThat(get.header("x-amz-request-payer"))
        .isEqualTo("requester")
        .isEqualTo(head().header("x-amz-request-payer"));
  }

  private long heads() {
    return server.requests().stream().filter(request -> request.method().equals("HEAD")).count();
  }

  @Test
  void openedByNameAloneAFileIsThatOfS3asHead() throws Exception {
    byte[] small = Arrays.copyOf(content, 100);
    String etag = server.put(OBJECT, small);
    try (FileSystem files = make()) {
      try (FSDataInputStream in = files.openFile(FILE).build().get()) {
        server.put(OBJECT, content);
        assertThatThrownBy(in::read).isInstanceOf(RemoteFileChangedException.class);
      }
      assertThat(heads()).isEqualTo(1);
      assertThat(server.gets())
          .isNotEmpty()
          .allMatch(get -> get.header("If-Match").equals(etag))
          .allMatch(get -> get.header("User-Agent").contains("S3E"));
      assertThat(all(files.openFile(FILE).build().get())).isEqualTo(content);
      assertThat(heads()).isEqualTo(2);
    }
  }

  @Test
  void openedByItsLengthAloneAFileIsThatOfItsFirstGet() throws Exception {
    assumeFalse(VersionInfo.getVersion().startsWith("3.3.4"), "S3A learnt it in 3.3.5");
    byte[] large = new byte[24 << 20];
    server.put(OBJECT, large);
    try (FileSystem files = make("fs.s3a.s3e.prefetch.enabled=false");
        FSDataInputStream in =
            files
                .openFile(FILE)
                .opt("fs.option.openfile.length", Integer.toString(large.length))
                .build()
                .get()) {
      assertThat(in.read()).isZero();
      assertThat(heads()).isZero();
      assertThat(server.gets()).hasSize(1).allMatch(get -> get.header("If-Match") == null);
      large[0] = 1;
      String etag = server.put(OBJECT, large);
      assertThatThrownBy(() -> in.readFully(large.length / 2, new byte[1000]))
          .isInstanceOf(RemoteFileChangedException.class);
      assertThat(server.gets().get(1).header("If-Match")).isNotEmpty().isNotEqualTo(etag);
    }
  }

  /** Of a version that nobody tells; 3.3.4 has no other way to open one. */
  private static FSDataInputStream openUntold(FileSystem files, Path path, long length)
      throws Exception {
    FileStatus status = new S3AFileStatus(length, 0, path, length, "owner", null, null);
    return files.openFile(path).withFileStatus(status).build().get();
  }

  /** S3A's stream, which knows of no version, would take the bytes of the next one. */
  @Test
  void aVersionThatS3eHasFoundIsHeldWhereS3aReadsAllOthers() throws Exception {
    byte[] large = new byte[24 << 20];
    server.put(OBJECT, large);
    server.put(new ObjectRef("data", "other"), content);
    server.decide(request -> request.target().endsWith("/other") ? Fault.etag(null) : Fault.none());
    try (FileSystem files = makeThatFindsVersions();
        FSDataInputStream in = openUntold(files, FILE, large.length)) {
      assertThat(in.read()).isZero();
      Path other = new Path("s3a://data/other");
      assertThat(all(openUntold(files, other, content.length))).isEqualTo(content);
      assertThat(files.hasPathCapability(FILE, "fs.s3a.s3e")).as("by S3E").isFalse();
      Arrays.fill(large, (byte) 1);
      server.put(OBJECT, large);
      assertThatThrownBy(() -> in.readFully(large.length / 2, new byte[1000]))
          .isInstanceOf(RemoteFileChangedException.class);
    }
  }

  @Test
  void aVersionThatS3eHasFoundIsNotReadOnByS3aWhereItsETagIsMissingOnce() throws Exception {
    byte[] large = new byte[24 << 20];
    server.put(OBJECT, large);
    try (FileSystem files = makeThatFindsVersions();
        FSDataInputStream in = openUntold(files, FILE, large.length)) {
      assertThat(in.read()).isZero();
      server.always(Fault.etag(null));
      assertThatThrownBy(() -> in.readFully(large.length / 2, new byte[1000]))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("ETag");
      assertThat(server.gets()).noneMatch(Hadoop33RequestsTest::isS3as);
    }
  }

  @Test
  void aStoreWithoutConditionalGetsIsReadInModeClient() throws Exception {
    server.decide(
        request ->
            request.header("If-Match") == null
                ? Fault.none()
                : Fault.status(501, "NotImplemented"));
    try (FileSystem files = make("fs.s3a.change.detection.mode=client")) {
      assertThat(all(files.open(FILE))).isEqualTo(content);
      assertThat(all(files.openFile(FILE).build().get())).isEqualTo(content);
    }
    assertThat(server.gets()).isNotEmpty().allMatch(get -> get.header("If-Match") == null);
  }

  /** Of 1000 bytes each. By reflection: 3.3.4, where this is compiled too, has no such types. */
  private static List<Object> ranges(long... starts) throws ReflectiveOperationException {
    Method create =
        Class.forName("org.apache.hadoop.fs.FileRange")
            .getMethod("createFileRange", long.class, int.class);
    List<Object> ranges = new ArrayList<>();
    for (long start : starts) {
      ranges.add(create.invoke(null, start, 1000));
    }
    return ranges;
  }

  private static void readVectored(FSDataInputStream in, List<?> ranges)
      throws ReflectiveOperationException {
    IntFunction<ByteBuffer> allocate = ByteBuffer::allocate;
    FSDataInputStream.class
        .getMethod("readVectored", List.class, IntFunction.class)
        .invoke(in, ranges, allocate);
  }

  @Test
  void aVectoredReadThatIsTheFirstCountsItsRangesAndOneOfNoRangesDoesNothing() throws Exception {
    assumeFalse(VersionInfo.getVersion().startsWith("3.3.4"), "Hadoop learnt it in 3.3.5");
    try (FileSystem files = make();
        FSDataInputStream in = files.open(FILE)) {
      FileSystem.Statistics statistics = FileSystem.getStatistics("s3a", files.getClass());
      long before = statistics.getBytesRead();
      readVectored(in, List.of());
      assertThat(files.hasPathCapability(FILE, "fs.s3a.s3e.client.crt")).as("made").isFalse();
      List<Object> ranges = ranges(100_000, 20_000);
      readVectored(in, ranges);
      for (Object range : ranges) {
        assertThat(((Future<?>) get(range, "getData")).get(30, SECONDS)).isNotNull();
      }
      assertThat(statistics.getBytesRead() - before).isEqualTo(2_000);
      assertThat(files.hasPathCapability(FILE, "fs.s3a.s3e.client.crt")).as("made").isTrue();
    }
  }

  @Test
  void rangesOfAVectoredReadAreAskedForAtOnce() throws Exception {
    assumeFalse(VersionInfo.getVersion().startsWith("3.3.4"), "Hadoop learnt it in 3.3.5");
    byte[] large = new byte[48 << 20];
    new Random(34).nextBytes(large);
    server.put(OBJECT, large);
    List<Object> ranges = ranges(8L << 20, 16L << 20, 24L << 20, 32L << 20);
    try (FileSystem files = make("fs.s3a.s3e.prefetch.enabled=false");
        FSDataInputStream in = files.openFile(FILE).build().get()) {
      assertThat(in.read()).isEqualTo(large[0] & 0xff);
      int before = server.gets().size();
      CountDownLatch answered = new CountDownLatch(1);
      server.decide(request -> held(answered));
      readVectored(in, ranges);
      awaitTrue("all are asked for", () -> server.gets().size() == before + ranges.size());
      answered.countDown();
      for (Object range : ranges) {
        ByteBuffer data = (ByteBuffer) ((Future<?>) get(range, "getData")).get(30, SECONDS);
        int offset = Math.toIntExact((long) get(range, "getOffset"));
        assertThat(data).isEqualTo(ByteBuffer.wrap(large, offset, 1000));
      }
    }
  }

  private static Fault held(CountDownLatch answered) {
    try {
      assertThat(answered.await(30, SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return Fault.none();
  }

  private static Object get(Object range, String getter) throws ReflectiveOperationException {
    return Class.forName("org.apache.hadoop.fs.FileRange").getMethod(getter).invoke(range);
  }

  private static boolean isS3as(Request request) {
    return request.header("User-Agent").contains("aws-sdk-java");
  }

  /** As behind a firewall that knows S3A's client alone, and resets or drops the others. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Timeout(30)
  void whereOnlyS3asClientReachesTheStoreItReads(boolean drops) throws Exception {
    // It compares what it is asked for with the quotes, which S3A leaves out.
    server.ifMatch(HostileS3Server.IfMatch.IGNORED);
    server.decideAll(
        request ->
            isS3as(request) ? Fault.none() : drops ? Fault.stallAtOnce() : Fault.resetAtOnce());
    try (CapturedLog log = new CapturedLog();
        FileSystem files = make(DEFAULT_READ_TIMEOUT)) {
      assertThat(fallbacks(files)).isZero();
      assertThat(all(files.open(FILE))).isEqualTo(content);
      int asked = server.gets().size();
      assertThat(all(files.open(FILE))).isEqualTo(content);
      assertThat(server.gets().subList(asked, server.gets().size()))
          .isNotEmpty()
          .allMatch(Hadoop33RequestsTest::isS3as);
      assertThat(files.hasPathCapability(FILE, "fs.s3a.s3e")).isFalse();
      assertThat(fallbacks(files)).isOne();
      assertThat(log.lines("WARN"))
          .filteredOn(line -> line.contains("by S3A's own stream, which is slower"))
          .hasSize(1);
    }
  }

  private static long fallbacks(FileSystem files) {
    return count(files, "s3e_client_fallback");
  }

  @Test
  void connectionsThatFailAtFirstLeaveTheStoreToS3e() throws Exception {
    server.ifMatch(HostileS3Server.IfMatch.IGNORED);
    AtomicInteger failures = new AtomicInteger(3);
    server.decide(
        request ->
            isS3as(request) || failures.getAndDecrement() <= 0
                ? Fault.none()
                : Fault.resetAtOnce());
    try (FileSystem files = make(DEFAULT_READ_TIMEOUT)) {
      assertThat(all(files.open(FILE))).isEqualTo(content);
      server.forgetRequests();
      assertThat(all(files.open(FILE))).isEqualTo(content);
      assertThat(server.gets()).noneMatch(Hadoop33RequestsTest::isS3as);
      assertThat(files.hasPathCapability(FILE, "fs.s3a.s3e.client.crt")).isTrue();
    }
  }

  /** The threads of one stream: S3A's reads for one of them, while S3E's brings another's bytes. */
  @Test
  @Timeout(60)
  void whoWaitsForS3eGetsItsBytesThoughS3aHasReadForAnother() throws Exception {
    server.ifMatch(HostileS3Server.IfMatch.IGNORED);
    byte[] large = new byte[8 << 20];
    new Random(34).nextBytes(large);
    server.put(OBJECT, large);
    int middle = large.length / 2;
    AtomicBoolean hasReadByS3a = new AtomicBoolean();
    server.decide(
        request -> {
          if (isS3as(request)) {
            hasReadByS3a.set(true);
            return Fault.none();
          }
          if (!request.header("Range").startsWith("bytes=0-")) {
            return Fault.delay(Duration.ofSeconds(3));
          }
          return hasReadByS3a.get() ? Fault.none() : Fault.resetAtOnce();
        });
    try (FileSystem files = make(DEFAULT_READ_TIMEOUT, "fs.s3a.s3e.prefetch.enabled=false");
        FSDataInputStream in = files.open(FILE)) {
      CompletableFuture<byte[]> other =
          CompletableFuture.supplyAsync(
              () -> {
                byte[] read = new byte[1000];
                try {
                  in.readFully(middle, read);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
                return read;
              });
      awaitTrue("the middle is asked for", () -> !server.gets().isEmpty());
      byte[] front = new byte[1000];
      for (int i = 0; i < 3; i++) {
        in.readFully(0, front);
        assertThat(front).isEqualTo(Arrays.copyOf(large, front.length));
      }
      assertThat(hasReadByS3a).isTrue();
      assertThat(other.get(30, SECONDS))
          .isEqualTo(Arrays.copyOfRange(large, middle, middle + 1000));
    }
  }

  @Test
  @Timeout(30)
  void aStoreThatIsDownForBothFailsSoonAndIsReadByS3eOnceItIsBack() throws Exception {
    try (FileSystem files =
        make(DEFAULT_READ_TIMEOUT, "fs.s3a.retry.limit=1", "fs.s3a.retry.interval=100ms")) {
      try (FSDataInputStream in = files.open(FILE)) {
        server.reach(HostileS3Server.Reach.REFUSES);
        assertThatThrownBy(in::read)
            .isInstanceOf(IOException.class)
            .hasRootCauseInstanceOf(ConnectException.class)
            .satisfies(e -> assertThat(e.getSuppressed()).as("S3E's failure").hasSize(1));
      }
      server.reach(HostileS3Server.Reach.ANSWERS);
      server.forgetRequests();
      assertThat(all(files.open(FILE))).isEqualTo(content);
      assertThat(server.gets()).isNotEmpty().noneMatch(Hadoop33RequestsTest::isS3as);
    }
  }

  /** S3A's table has an EOFException for it, which applications take for the end of the file. */
  @Test
  void aRangeThatIsRefusedInsideTheFileIsNoEndOfIt() throws Exception {
    server.always(Fault.status(416, "InvalidRange"));
    try (FileSystem files = make();
        FSDataInputStream in = files.open(FILE)) {
      assertThatThrownBy(in::read)
          .isInstanceOf(IOException.class)
          .isNotInstanceOf(EOFException.class)
          .hasMessageContaining("s3a://data/file")
          .hasMessageContaining("InvalidRange");
    }
  }

  @Test
  void timeOutsAndRefusedConnectionsAreOfJavasClasses() throws Exception {
    byte[] large = new byte[24 << 20];
    server.put(OBJECT, large);
    try (FileSystem files = make("fs.s3a.s3e.prefetch.enabled=false");
        FSDataInputStream in = files.open(FILE)) {
      assertThat(in.read()).isZero();
      server.always(Fault.stallAtOnce());
      assertThatThrownBy(() -> in.readFully(large.length / 2, new byte[1000]))
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessageContaining("s3://data/file");
      server.reach(HostileS3Server.Reach.REFUSES);
      assertThatThrownBy(() -> in.readFully(large.length / 2, new byte[1000]))
          .isInstanceOf(ConnectException.class)
          .hasMessageContaining("s3://data/file");
    }
  }

  private static long gets(FileSystem files) {
    return count(files, "s3e_gets");
  }

  private static long count(FileSystem files, String name) {
    return ((IOStatisticsSource) files).getIOStatistics().counters().get(name);
  }

  /** S3A logs them at its close, and programs ask for them after it. */
  @Test
  void whatWasCountedStaysAfterTheClose() throws Exception {
    FileSystem files = make();
    try (files) {
      assertThat(all(files.open(FILE))).isEqualTo(content);
    }
    assertThat(gets(files)).isEqualTo(server.gets().size());
  }

  @Test
  void whatWasCountedStaysWhereS3aReadsFromThenOn() throws Exception {
    server.ifMatch(HostileS3Server.IfMatch.IGNORED);
    server.decide(request -> isS3as(request) ? Fault.none() : Fault.etag(null));
    try (FileSystem files = make()) {
      assertThat(all(files.open(FILE))).isEqualTo(content);
      assertThat(files.hasPathCapability(FILE, "fs.s3a.s3e.client.crt")).as("S3E reads").isFalse();
      assertThat(gets(files))
          .isEqualTo(server.gets().stream().filter(get -> !isS3as(get)).count())
          .isPositive();
      assertThat(fallbacks(files)).isOne();
    }
  }

  @Test
  void aClosedFileSystemLeavesNoConnection() throws Exception {
    FileSystem files = make();
    FSDataInputStream forgotten = files.open(FILE);
    assertThat(forgotten.read()).isEqualTo(content[0] & 0xff);
    assertThat(server.openConnections()).isPositive();
    files.close();
    awaitTrue("no connection is open", () -> server.openConnections() == 0);
    forgotten.close();
  }
}
