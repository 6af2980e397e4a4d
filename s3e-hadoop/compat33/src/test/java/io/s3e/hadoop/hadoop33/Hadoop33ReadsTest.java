// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.hadoop33;

import static io.s3e.testing.Eventually.awaitTrue;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.amazonaws.auth.AWSCredentials;
import com.amazonaws.auth.AWSCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import io.s3e.hadoop.client.OpenEngines;
import io.s3e.hadoop.conf.ToldBefore;
import io.s3e.hadoop.stats.OpenerStatistics;
import io.s3e.metrics.EngineMetrics;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Seed;
import io.s3e.testserver.S3TestServer;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.s3a.S3AInputStream;
import org.apache.hadoop.fs.s3a.auth.NoAuthWithAWSException;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** S3E beside S3A of Hadoop 3.3 and version 1 of the AWS SDK, as one key in the configuration. */
class Hadoop33ReadsTest {
  private static final URI BUCKET = URI.create("s3a://data/");
  private static final int SIZE = 3_300_000;

  private static S3TestServer server;
  private final byte[] content = new byte[SIZE];
  private final Path file = new Path("s3a://data/dir/file with space");
  private FileSystem s3a;
  private FileSystem s3e;

  @BeforeAll
  static void startServer() throws Exception {
    server = S3TestServer.inMemory().withBucket("data");
  }

  @AfterAll
  static void stopServer() throws Exception {
    server.close();
  }

  @BeforeEach
  void open() throws Exception {
    s3a = make("org.apache.hadoop.fs.s3a.S3AFileSystem", conf());
    s3e = make("io.s3e.hadoop.S3EFileSystem", conf());
    new Random(33).nextBytes(content);
    write(s3a, file, content);
  }

  @AfterEach
  void close() throws Exception {
    s3e.close();
    s3a.close();
  }

  private static Configuration conf() {
    Configuration conf = new Configuration();
    conf.set("hadoop.tmp.dir", System.getProperty("java.io.tmpdir"));
    conf.set("fs.s3a.endpoint", server.endpoint().toString());
    conf.set("fs.s3a.path.style.access", "true");
    conf.set("fs.s3a.access.key", S3TestServer.ACCESS_KEY);
    conf.set("fs.s3a.secret.key", S3TestServer.SECRET_KEY);
    conf.set(
        "fs.s3a.aws.credentials.provider", "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider");
    conf.set("fs.s3a.attempts.maximum", "1");
    conf.set("fs.s3a.retry.limit", "1");
    conf.set("fs.s3a.s3e.read.timeout", "20s");
    return conf;
  }

  private static FileSystem make(String type, Configuration conf) throws Exception {
    FileSystem made = (FileSystem) Class.forName(type).getDeclaredConstructor().newInstance();
    made.initialize(BUCKET, conf);
    return made;
  }

  private static void write(FileSystem fs, Path path, byte[] bytes) throws IOException {
    try (FSDataOutputStream out = fs.create(path, true)) {
      out.write(bytes);
    }
  }

  private static byte[] all(FSDataInputStream in) throws IOException {
    try (in) {
      return in.readAllBytes();
    }
  }

  /** The same calls, by S3A's stream and by S3E's: what applications watch says the same. */
  @Test
  void readsAreCountedAsS3aCountsThem() throws Exception {
    List<IOStatisticsSnapshot> counts = new ArrayList<>();
    for (FileSystem fs : List.of(s3a, s3e)) {
      IOStatisticsSnapshot kept = new IOStatisticsSnapshot();
      try (FSDataInputStream in = fs.open(file)) {
        byte[] bytes = new byte[1000];
        in.readFully(0, bytes);
        in.readFully(bytes);
        assertThat(in.read()).isEqualTo(content[1000] & 0xff);
        in.seek(SIZE - 10);
        assertThat(in.read(bytes)).isEqualTo(10);
        assertThat(in.read(bytes)).isEqualTo(-1);
        kept.aggregate(in.getIOStatistics());
      }
      counts.add(kept);
    }
    for (String name :
        List.of("stream_read_fully_operations", "stream_read_exceptions", "stream_read_bytes")) {
      assertThat(counts.get(1).counters().get(name))
          .as(name)
          .isEqualTo(counts.get(0).counters().get(name));
    }
    // S3A's may take several for one call, by what a socket has.
    assertThat(counts.get(1).counters().get("stream_read_operations")).isEqualTo(3);
    for (IOStatisticsSnapshot each : counts) {
      assertThat(each.counters().get("stream_read_operations_incomplete")).isPositive();
    }
  }

  /** A framework's account, as Spark's plugin keeps one for each task. */
  @Test
  void whatAStreamReadsIsCountedForItsOpenerAndTheFileSystem() throws Exception {
    IOStatisticsSnapshot account = new IOStatisticsSnapshot();
    OpenerStatistics.keepAccounts(() -> account);
    try {
      assertThat(all(s3e.open(file))).isEqualTo(content);
    } finally {
      OpenerStatistics.keepAccounts(null);
    }
    assertThat(account.counters())
        .containsEntry("stream_read_bytes", (long) content.length)
        .containsEntry("s3e_fetched_bytes", (long) content.length);
    long gets = account.counters().get("s3e_gets");
    assertThat(gets).isPositive();
    assertThat(((IOStatisticsSource) s3e).getIOStatistics().counters())
        .containsEntry("s3e_gets", gets)
        .containsEntry("s3e_fetched_bytes", (long) content.length);
    assertThat(s3e.hasPathCapability(file, "fs.s3a.s3e.client.crt")).isTrue();
    OpenEngines.Work work = OpenEngines.work();
    assertThat(work.metrics().get(EngineMetrics.Counter.GETS)).isGreaterThanOrEqualTo(gets);
    assertThat(work.memoryLimit()).isPositive();
  }

  /** A stream that S3A is to read is S3E's until its first read. */
  @Test
  void whatS3asStreamReadsIsNotCountedAsReadByS3e() throws Exception {
    Configuration conf = conf();
    conf.set("fs.s3a.change.detection.mode", "warn");
    IOStatisticsSnapshot account = new IOStatisticsSnapshot();
    OpenerStatistics.keepAccounts(() -> account);
    try (FileSystem byS3a = make("io.s3e.hadoop.S3EFileSystem", conf)) {
      assertThat(all(byS3a.open(file))).isEqualTo(content);
      assertThat(byS3a.hasPathCapability(file, "fs.s3a.s3e")).isFalse();
    } finally {
      OpenerStatistics.keepAccounts(null);
    }
    assertThat(account.counters().getOrDefault("stream_read_bytes", 0L)).isZero();
    assertThat(account.counters().getOrDefault("s3e_fetched_bytes", 0L)).isZero();
  }

  @Test
  void whatAStreamReadsIsCountedAlsoWhereS3asStreamDoesNotClose() throws Exception {
    IOStatisticsSnapshot account = new IOStatisticsSnapshot();
    OpenerStatistics.keepAccounts(() -> account);
    try {
      FSDataInputStream in = s3e.open(file);
      assertThat(in.readAllBytes()).isEqualTo(content);
      Object theirs = field(Hadoop33InputStream.class, "theirs").get(in.getWrappedStream());
      Field client = field(S3AInputStream.class, "client");
      Object callbacks = client.get(theirs);
      client.set(
          theirs,
          Proxy.newProxyInstance(
              client.getType().getClassLoader(),
              new Class<?>[] {client.getType()},
              (proxy, method, arguments) -> {
                if (method.getName().equals("close")) {
                  throw new IOException("of the audit");
                }
                return method.invoke(callbacks, arguments);
              }));
      assertThatThrownBy(in::close).hasMessage("of the audit");
    } finally {
      OpenerStatistics.keepAccounts(null);
    }
    assertThat(account.counters()).containsEntry("stream_read_bytes", (long) content.length);
  }

  private static Field field(Class<?> type, String name) throws Exception {
    Field field = type.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  @Test
  void theEndOfTheProcessEndsReads() throws Exception {
    try (FSDataInputStream in = s3e.open(file)) {
      assertThat(in.read()).isEqualTo(content[0] & 0xff);
      long before = OpenEngines.work().metrics().get(EngineMetrics.Counter.GETS);
      OpenEngines.closeAll();
      assertThatThrownBy(() -> s3e.open(file).read()).isInstanceOf(IOException.class);
      assertThat(OpenEngines.work().metrics().get(EngineMetrics.Counter.GETS))
          .as("counts of what is closed")
          .isGreaterThanOrEqualTo(before);
      assertThat(OpenEngines.work().memoryLimit()).as("open engines").isZero();
    }
  }

  @Test
  void noClassOfTheFileSystemFailsToLink() throws Exception {
    Class<?> type = Class.forName("io.s3e.hadoop.S3EFileSystem");
    assertThat(type.getDeclaredMethods()).isNotEmpty();
    assertThat(type.getMethods()).isNotEmpty();
    assertThat(type.getDeclaredFields()).isNotEmpty();
    assertThat(type.getDeclaredConstructors()).hasSize(1);
  }

  @Test
  void s3eReadsAndItsGetsCountAsS3as() throws Exception {
    long before = OpenEngines.work().metrics().get(EngineMetrics.Counter.GETS);
    try (FSDataInputStream in = s3e.open(file)) {
      assertThat(in.getWrappedStream().toString()).startsWith("S3E of s3a://data/dir/file");
      byte[] read = new byte[SIZE];
      in.readFully(0, read);
      assertThat(read).isEqualTo(content);
      assertThat(((IOStatisticsSource) in).getIOStatistics().counters())
          .containsEntry(
              "stream_read_opened",
              OpenEngines.work().metrics().get(EngineMetrics.Counter.GETS) - before)
          .containsEntry("action_http_get_request", 0L)
          .containsEntry("stream_read_bytes", (long) SIZE);
    }
    assertThat(s3e.hasPathCapability(file, "fs.s3a.s3e")).isTrue();
  }

  @Test
  void everyWayToReadGivesWhatS3aGives() throws Exception {
    Random random = new Random(Seed.draw());
    try (FSDataInputStream ours = s3e.open(file);
        FSDataInputStream theirs = s3a.open(file)) {
      for (int step = 0; step < 300; step++) {
        long at = random.nextInt(10) == 0 ? SIZE - random.nextInt(20) : random.nextInt(SIZE + 10);
        int length = random.nextInt(random.nextInt(20) == 0 ? 1_000_000 : 5_000);
        switch (random.nextInt(6)) {
          case 0 -> {
            ours.seek(Math.min(at, SIZE));
            theirs.seek(Math.min(at, SIZE));
          }
          case 1 -> assertThat(ours.read()).isEqualTo(theirs.read());
          case 2 -> assertSameInOrder(ours, theirs, length);
          case 3 -> assertSameAt(ours, theirs, at, length);
          case 4 -> {
            if (random.nextBoolean()) {
              ours.unbuffer();
              theirs.unbuffer();
            }
            ours.setReadahead((long) length);
            theirs.setReadahead((long) length);
          }
          default -> assertThat(ours.skip(length)).isEqualTo(theirs.skip(length));
        }
        assertThat(ours.getPos()).as("position after step %s", step).isEqualTo(theirs.getPos());
      }
      assertThatThrownBy(() -> ours.seek(-1)).isInstanceOf(EOFException.class);
    }
  }

  /** Both may read less than they are asked for: all of it is asked. */
  private static void assertSameInOrder(FSDataInputStream ours, FSDataInputStream theirs, int n)
      throws IOException {
    byte[] mine = new byte[n];
    byte[] others = new byte[n];
    assertThat(ours.readNBytes(mine, 0, n)).isEqualTo(theirs.readNBytes(others, 0, n));
    assertThat(mine).isEqualTo(others);
  }

  private static void assertSameAt(FSDataInputStream ours, FSDataInputStream theirs, long at, int n)
      throws IOException {
    byte[] mine = new byte[n];
    byte[] others = new byte[n];
    String failed = "";
    try {
      theirs.readFully(at, others);
    } catch (EOFException e) {
      failed = e.getClass().getName();
    }
    String failedToo = "";
    try {
      ours.readFully(at, mine);
    } catch (EOFException e) {
      failedToo = e.getClass().getName();
      mine = others;
    }
    assertThat(failedToo).isEqualTo(failed);
    assertThat(mine).isEqualTo(others);
  }

  @ParameterizedTest
  @ValueSource(strings = {"normal", "sequential", "random"})
  void filesAreOpenedWithWhatTheOpenerKnows(String policy) throws Exception {
    FileStatus status = s3e.getFileStatus(file);
    try (FSDataInputStream in =
        s3e.openFile(file)
            .opt("fs.s3a.experimental.input.fadvise", policy)
            .withFileStatus(status)
            .build()
            .get()) {
      assertThat(in.getWrappedStream().toString()).startsWith("S3E of ");
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    assertThat(all(s3e.openFile(file).build().get())).isEqualTo(content);
    assertThatThrownBy(() -> s3e.openFile(file).must("fs.s3a.unheard.of", "x").build())
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void whatIsMissingOrADirectoryIsNotFound() {
    assertThatThrownBy(() -> s3e.open(new Path("s3a://data/none")))
        .isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> s3e.open(new Path("s3a://data/dir")))
        .isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void callbacksHearOfAFailureAsByS3a() throws Exception {
    Path missing = new Path("s3a://data/none");
    for (FileSystem fs : List.of(s3a, s3e)) {
      assertThat(
              fs.openFile(missing)
                  .build()
                  .<Class<?>>handle((in, e) -> e == null ? null : e.getClass())
                  .get(30, SECONDS))
          .isEqualTo(FileNotFoundException.class);
    }
  }

  @Test
  void anObjectThatIsDeletedAfterItsOpeningIsNotFound() throws Exception {
    try (FSDataInputStream in = s3e.open(file)) {
      s3a.delete(file, false);
      assertThatThrownBy(in::read).isInstanceOf(FileNotFoundException.class);
    }
  }

  @Test
  void anObjectThatIsReplacedAfterItsOpeningIsTold() throws Exception {
    try (FSDataInputStream in = s3e.open(file)) {
      write(s3a, file, Arrays.copyOf(content, SIZE / 2));
      assertThatThrownBy(in::read).isInstanceOf(RemoteFileChangedException.class);
    }
  }

  @Test
  void whatIsWrittenAndRenamedIsRead() throws Exception {
    Path made = new Path("s3a://data/made/a");
    Path renamed = new Path("s3a://data/renamed/b");
    write(s3e, made, Arrays.copyOf(content, 100_000));
    s3e.mkdirs(renamed.getParent());
    assertThat(s3e.rename(made, renamed)).isTrue();
    assertThat(all(s3e.open(renamed))).isEqualTo(Arrays.copyOf(content, 100_000));
    assertThatThrownBy(() -> s3e.open(made)).isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void anEmptyFileEndsAtOnce() throws Exception {
    Path empty = new Path("s3a://data/empty");
    write(s3e, empty, new byte[0]);
    assertThat(all(s3e.open(empty))).isEmpty();
    for (FileSystem files : List.of(s3a, s3e)) {
      try (FSDataInputStream in = files.open(empty)) {
        in.seek(5);
        assertThat(in.getPos()).as(files.toString()).isZero();
      }
    }
  }

  @Test
  void whatIsNoPartOfAnArrayIsRefusedAsByS3a() throws Exception {
    for (FileSystem files : List.of(s3a, s3e)) {
      try (FSDataInputStream in = files.open(file)) {
        assertThatThrownBy(() -> in.read((byte[]) null, 0, 1))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> in.read(new byte[3], 0, -1))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> in.read(new byte[3], 0, 4))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
    }
  }

  /** S3A's streams let one thread read at a time. */
  @Test
  void threadsThatShareAPositionReadEachByteOnce() throws Exception {
    for (FileSystem files : List.of(s3a, s3e)) {
      long[] counts = new long[256];
      try (FSDataInputStream in = files.open(file)) {
        List<CompletableFuture<Void>> readers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
          readers.add(CompletableFuture.runAsync(() -> countRest(in, counts)));
        }
        CompletableFuture.allOf(readers.toArray(CompletableFuture[]::new)).get(60, SECONDS);
        assertThat(in.getPos()).as(files.toString()).isEqualTo(SIZE);
      }
      long[] expected = new long[256];
      for (byte each : content) {
        expected[each & 0xff]++;
      }
      assertThat(counts).as(files.toString()).isEqualTo(expected);
    }
  }

  private static void countRest(FSDataInputStream in, long[] counts) {
    byte[] some = new byte[1000];
    try {
      for (int got = in.read(some); got >= 0; got = in.read(some)) {
        synchronized (counts) {
          for (int i = 0; i < got; i++) {
            counts[some[i] & 0xff]++;
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void wrongCredentialsAreDenied() throws Exception {
    Configuration conf = conf();
    conf.set("fs.s3a.secret.key", "not the secret");
    try (FileSystem wrong = make("io.s3e.hadoop.S3EFileSystem", conf)) {
      assertThatThrownBy(() -> wrong.open(file)).isInstanceOf(AccessDeniedException.class);
    }
  }

  /** Credentials of S3A's provider, which end after the file has been opened. */
  public static final class Ending implements AWSCredentialsProvider {
    static volatile boolean ended;

    @Override
    public AWSCredentials getCredentials() {
      if (ended) {
        throw new NoAuthWithAWSException("the vault is closed");
      }
      return new BasicAWSCredentials(S3TestServer.ACCESS_KEY, S3TestServer.SECRET_KEY);
    }

    @Override
    public void refresh() {}
  }

  @Test
  void credentialsThatEndAreToldAsS3aTellsThem() throws Exception {
    Configuration conf = conf();
    conf.set("fs.s3a.aws.credentials.provider", Ending.class.getName());
    Ending.ended = false;
    try (FileSystem ending = make("io.s3e.hadoop.S3EFileSystem", conf);
        FSDataInputStream in = ending.open(file)) {
      Ending.ended = true;
      assertThatThrownBy(in::read)
          .isInstanceOf(AccessDeniedException.class)
          .hasMessageContaining("the vault is closed");
    } finally {
      Ending.ended = false;
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fs.s3a.change.detection.mode=warn",
        "fs.s3a.signing-algorithm=AWSS3V4SignerType",
        "fs.s3a.change.detection.source=versionid",
        "fs.s3a.s3e.enabled=false",
        "fs.s3a.bucket.data.s3e.enabled=false",
        "fs.s3a.s3e.client=s3a"
      })
  void whatOnlyS3aCanIsReadByS3a(String setting) throws Exception {
    Configuration conf = conf();
    conf.set(setting.split("=", 2)[0], setting.split("=", 2)[1]);
    conf.set("fs.s3a.change.detection.version.required", "false");
    try (FileSystem plain = make("io.s3e.hadoop.S3EFileSystem", conf);
        FSDataInputStream in = plain.open(file)) {
      assertThat(plain.hasPathCapability(file, "fs.s3a.s3e")).as("before the first read").isFalse();
      byte[] read = new byte[SIZE];
      in.readFully(0, read);
      assertThat(read).isEqualTo(content);
      assertThat(((IOStatisticsSource) in).getIOStatistics().counters().get("stream_read_opened"))
          .isPositive();
      var counters = ((IOStatisticsSource) plain).getIOStatistics().counters();
      assertThat(counters.getOrDefault("s3e_client_fallback", 0L)).as("as it is told").isZero();
    }
  }

  @Test
  void withoutOpenTelemetryOneLineSaysThatThereAreNoSpansAndReadsGoOn() throws Exception {
    Configuration conf = conf();
    conf.set("fs.s3a.s3e.explain", "spans");
    ToldBefore.forget();
    try (CapturedLog log = new CapturedLog();
        FileSystem plain = make("io.s3e.hadoop.S3EFileSystem", conf);
        FileSystem other = make("io.s3e.hadoop.S3EFileSystem", conf)) {
      assertThat(all(plain.open(file))).isEqualTo(content);
      assertThat(all(other.open(file))).isEqualTo(content);
      assertThat(log.lines("WARN"))
          .filteredOn(line -> line.contains("opentelemetry-api is not on the class path"))
          .hasSize(1);
    }
  }

  @Test
  void aClosedStreamAndAClosedFileSystemReadNothing() throws Exception {
    FSDataInputStream in = s3e.open(file);
    assertThat(in.read()).isEqualTo(content[0] & 0xff);
    in.close();
    in.close();
    assertThatThrownBy(in::read).isInstanceOf(IOException.class).hasMessageContaining("closed");

    FileSystem second = make("io.s3e.hadoop.S3EFileSystem", conf());
    FSDataInputStream late = second.open(file);
    FSDataInputStream begun = second.open(file);
    assertThat(begun.read()).isEqualTo(content[0] & 0xff);
    second.close();
    assertThatThrownBy(late::read).isInstanceOf(IOException.class);
    assertThat(all(s3e.open(file))).isEqualTo(content);
  }

  /** Nothing that it reads by leads back to it. */
  @Test
  void aForgottenFileSystemGoesAndEndsWhatItHasReadBy() throws Exception {
    OpenEngines.closeAll();
    WeakReference<FileSystem> forgotten = readAndForget();
    assertThat(OpenEngines.work().memoryLimit()).isPositive();
    long gets = OpenEngines.work().metrics().get(EngineMetrics.Counter.GETS);
    awaitTrue(
        "it is collected",
        Duration.ofSeconds(60),
        () -> {
          System.gc();
          return forgotten.get() == null;
        });
    awaitTrue("its engine is closed", () -> OpenEngines.work().memoryLimit() == 0);
    awaitTrue(
        "its counts stay",
        () -> OpenEngines.work().metrics().get(EngineMetrics.Counter.GETS) == gets);
  }

  /** In a frame of its own, so that nothing on the stack keeps the file system. */
  private WeakReference<FileSystem> readAndForget() throws Exception {
    FileSystem made = make("io.s3e.hadoop.S3EFileSystem", conf());
    assertThat(all(made.open(file))).isEqualTo(content);
    return new WeakReference<>(made);
  }

  /** A FileContext gives its file system statistics of its own once that is made. */
  @Test
  void whatAFileContextReadsIsCountedByIt() throws Exception {
    Configuration conf = conf();
    conf.set("fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem");
    conf.set("fs.AbstractFileSystem.s3a.impl", "io.s3e.hadoop.S3EAbstractFileSystem");
    FileContext context = FileContext.getFileContext(BUCKET, conf);
    FileContext.clearStatistics();
    try (FSDataInputStream in = context.open(file)) {
      in.readFully(0, new byte[1000]);
    }
    assertThat(FileContext.getStatistics(BUCKET).getBytesRead()).isEqualTo(1000);
  }
}
