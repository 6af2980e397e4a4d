// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.s3e.Engines;
import io.s3e.block.ObjectRef;
import io.s3e.hadoop.hadoop341.StreamSpi;
import io.s3e.hadoop.stream.S3EReadable;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.Pause;
import io.s3e.testing.Slow;
import io.s3e.testserver.S3TestServer;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.DefaultS3ClientFactory;
import org.apache.hadoop.fs.s3a.S3AEncryptionMethods;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AInputStream;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.impl.MetricsSystemImpl;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.s3.S3Client;

/** The effects of S3EFileSystem's configuration, on every version of Hadoop. */
class S3EFileSystemTest {
  private static final int SIZE = 1 << 20;
  private static final String OTHER_BUCKET = "s3e-other";
  private static final String SECRET = Base64.getEncoder().encodeToString(new byte[32]);

  private RecordingProxy proxy;
  private Configuration conf;
  private final byte[] data = S3AReads.random(SIZE);
  private final Path file = new Path("/settings/file");

  @BeforeEach
  void startProxy() throws Exception {
    proxy = new RecordingProxy(S3AServer.endpoint());
    conf = S3AReads.small(S3AServer.s3e(proxy.endpoint()));
  }

  @AfterEach
  void stopProxy() throws Exception {
    proxy.close();
  }

  private void write(FileSystem fs) throws IOException {
    write(fs, data);
  }

  private void write(FileSystem fs, byte[] bytes) throws IOException {
    try (FSDataOutputStream out = fs.create(file, true)) {
      out.write(bytes);
    }
    proxy.clear();
  }

  private byte[] read(FileSystem fs) throws IOException {
    try (FSDataInputStream in = fs.open(file)) {
      byte[] read = new byte[SIZE];
      in.readFully(read);
      return read;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "crt", "s3a"})
  void everyClientReads(String client) throws Exception {
    conf.set("fs.s3a.s3e.client", client);
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      assertArrayEquals(data, read(fs));
      assertThat(proxy.reads("file")).isNotEmpty();
    }
  }

  /** To read slower is better than not to read, also where the CRT alone was asked for. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "crt"})
  void s3AsClientReadsWhereTheCrtHasTooLittleMemory(String client) throws Exception {
    conf.set("fs.s3a.s3e.client", client);
    conf.set("fs.s3a.s3e.block.size", "8M");
    conf.set("fs.s3a.s3e.request.size", "8M");
    conf.set("fs.s3a.s3e.memory.budget", "16M");
    // The budget is that of whoever began: a test before may have left one who is about to end.
    Engines.awaitNone();
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      assertArrayEquals(data, read(fs));
      assertThat(fs.hasPathCapability(file, "fs.s3a.s3e.client.s3a")).isTrue();
      List<String> told = log.await("by S3A's client");
      assertThat(told).hasSize(1);
      assertThat(told.get(0)).contains("WARN", "fewer than two blocks", "fs.s3a.s3e.memory.budget");
    }
  }

  /** Of openFile() S3A itself has a NullPointerException, which Hadoop 3.4.2 and later show. */
  @Test
  void openingOnAClosedFileSystemSaysSo() throws Exception {
    FileSystem fs = S3AReads.open(conf);
    write(fs);
    assertArrayEquals(data, read(fs));
    fs.close();
    assertThatThrownBy(() -> fs.open(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("FileSystem is closed!");
    if (!StreamSpi.isPresent()) {
      assertThatThrownBy(() -> fs.openFile(file).build().get())
          .hasCauseInstanceOf(IOException.class)
          .hasMessageContaining("FileSystem is closed!");
    }
  }

  @Test
  void closingEndsAllThatReadsWhateverOneStepOfItThrows() throws Exception {
    FileSystem fs = S3AReads.open(conf);
    write(fs);
    FSDataInputStream in = fs.open(file);
    assertThat(in.read()).isEqualTo(data[0] & 0xff);
    MetricsSystem before = DefaultMetricsSystem.instance();
    DefaultMetricsSystem.setInstance(
        new MetricsSystemImpl("broken") {
          @Override
          public synchronized void unregisterSource(String name) {
            // Other tests are not to find it.
            before.unregisterSource(name);
            throw new IllegalStateException("of the metrics");
          }
        });
    try {
      assertThatThrownBy(fs::close).hasMessage("of the metrics");
    } finally {
      DefaultMetricsSystem.setInstance(before);
    }
    assertThatThrownBy(() -> in.readFully(SIZE - 10, new byte[10])).isInstanceOf(IOException.class);
    in.close();
  }

  @Test
  void oneBucketReadsByS3AsStream() throws Exception {
    S3AServer.createBucket(OTHER_BUCKET);
    conf.set("fs.s3a.bucket." + OTHER_BUCKET + ".s3e.enabled", "false");
    try (FileSystem fs = S3AReads.open(conf);
        FileSystem other = FileSystem.newInstance(URI.create("s3a://" + OTHER_BUCKET), conf)) {
      write(fs);
      write(other);
      assertArrayEquals(data, read(other));
      try (FSDataInputStream in = fs.open(file)) {
        assertThat(in.getWrappedStream()).isInstanceOf(S3EReadable.class);
      }
      try (FSDataInputStream in = other.open(file)) {
        assertThat(in.getWrappedStream().getClass().getName())
            .startsWith("org.apache.hadoop.fs.s3a.");
      }
    }
  }

  @Test
  void aBucketsStreamTypeDoesNotSwitchS3EOff() throws Exception {
    conf.set("fs.s3a.input.stream.type", "classic");
    conf.set("fs.s3a.bucket." + S3AServer.BUCKET + ".input.stream.type", "classic");
    conf.set("fs.s3a.bucket." + S3AServer.BUCKET + ".prefetch.enabled", "true");
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      try (FSDataInputStream in = fs.open(file)) {
        assertThat(in.getWrappedStream()).isInstanceOf(S3EReadable.class);
      }
    }
  }

  @Test
  void aBucketHasSettingsOfItsOwn() throws Exception {
    conf.set("fs.s3a.bucket." + S3AServer.BUCKET + ".s3e.request.size", "64K");
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      assertArrayEquals(data, read(fs));
    }
    assertThat(proxy.reads("file"))
        .hasSize(SIZE / (64 << 10))
        .allSatisfy(get -> assertThat(length(get)).isEqualTo(64 << 10));
  }

  private static long length(RecordingProxy.Request get) {
    String[] range = get.headers().get("Range").substring("bytes=".length()).split("-");
    return Long.parseLong(range[1]) - Long.parseLong(range[0]) + 1;
  }

  @Test
  void aBadSettingFailsTheFileSystem() {
    conf.set("fs.s3a.bucket." + S3AServer.BUCKET + ".s3e.block.size", "7M");
    assertThatThrownBy(() -> S3AReads.open(conf))
        .hasStackTraceContaining(
            "fs.s3a.bucket.s3e-test.s3e.block.size = \"7M\" (bucket s3e-test): expected a size");
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "s3a"})
  void customerKeysAreSent(String client) throws Exception {
    conf.set("fs.s3a.encryption.algorithm", "SSE-C");
    conf.set("fs.s3a.encryption.key", SECRET);
    conf.set("fs.s3a.s3e.client", client);
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      assertArrayEquals(data, read(fs));
    }
    assertThat(proxy.reads("file"))
        .isNotEmpty()
        .allSatisfy(
            get -> {
              assertThat(get.headers())
                  .containsEntry("x-amz-server-side-encryption-customer-algorithm", "AES256")
                  .containsEntry("x-amz-server-side-encryption-customer-key", SECRET);
              assertThat(get.headers().get("x-amz-server-side-encryption-customer-key-MD5"))
                  .isNotNull();
            });
  }

  /** Whatever the settings say of encryption, S3A knows best. */
  @Test
  void s3aReadsWhereItDecrypts() throws Exception {
    try (CapturedLog log = new CapturedLog();
        FileSystem fs =
            new S3EFileSystem() {
              private boolean isAsked;

              @Override
              public boolean isCSEEnabled() {
                isAsked = true;
                return true;
              }

              @Override
              public S3AEncryptionMethods getS3EncryptionAlgorithm() {
                return isAsked ? S3AEncryptionMethods.CSE_KMS : super.getS3EncryptionAlgorithm();
              }
            }) {
      fs.initialize(URI.create("s3a://" + S3AServer.BUCKET), conf);
      assertThat(log.lines("by S3A's own stream: objects are encrypted in the client")).hasSize(1);
      write(fs);
      assertArrayEquals(data, read(fs));
      assertThat(fs.hasPathCapability(file, "fs.s3a.s3e")).isFalse();
      try (FSDataInputStream in = fs.open(file)) {
        assertThat(in.getWrappedStream()).isInstanceOf(S3AInputStream.class);
      }
    }
  }

  /** A delegation token's keys, for example, are in no configuration. */
  @Tag("stream-spi")
  @Test
  void s3aReadsByItsStreamWhereItTellsTheFactoryOfEncryption() throws Exception {
    Configuration plain = S3AReads.small(S3AServer.factoryAlone(proxy.endpoint()));
    AtomicBoolean isEncrypted = new AtomicBoolean();
    try (CapturedLog log = new CapturedLog();
        FileSystem fs =
            new S3AFileSystem() {
              @Override
              public S3AEncryptionMethods getS3EncryptionAlgorithm() {
                return isEncrypted.get()
                    ? S3AEncryptionMethods.CSE_KMS
                    : super.getS3EncryptionAlgorithm();
              }
            }) {
      fs.initialize(URI.create("s3a://" + S3AServer.BUCKET), plain);
      write(fs);
      assertArrayEquals(data, read(fs));
      isEncrypted.set(true);
      for (int opened = 0; opened < 2; opened++) {
        try (FSDataInputStream in = fs.open(file)) {
          assertThat(in.getWrappedStream()).isInstanceOf(S3AInputStream.class);
        }
      }
      assertThat(log.lines("by S3A's classic stream: objects are encrypted")).hasSize(1);
    }
  }

  /** The blocks of one file system are in memory for its own streams, and for nobody else's. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "s3a"})
  void whatACustomersKeyOpensIsServedToItsFileSystemAlone(String client) throws Exception {
    conf.set("fs.s3a.s3e.client", client);
    assertThat(bytesReadByAnother()).as("without a key").isLessThan(SIZE);
    conf.set("fs.s3a.encryption.algorithm", "SSE-C");
    conf.set("fs.s3a.encryption.key", SECRET);
    assertThat(bytesReadByAnother()).as("with a key").isEqualTo(SIZE);
  }

  /** What a file system gets from the store of a file that another one has in memory. */
  private long bytesReadByAnother() throws IOException {
    try (FileSystem fs = S3AReads.open(conf);
        FileSystem other = S3AReads.open(conf)) {
      write(fs);
      assertArrayEquals(data, read(fs));
      proxy.clear();
      assertArrayEquals(data, read(fs));
      assertThat(proxy.reads("file")).as("the same file system reads from memory").isEmpty();
      assertArrayEquals(data, read(other));
      return proxy.reads("file").stream().mapToLong(S3EFileSystemTest::length).sum();
    }
  }

  @Test
  void customersKeysAreInNoLog() throws Exception {
    conf.set("fs.s3a.encryption.algorithm", "SSE-C");
    conf.set("fs.s3a.encryption.key", SECRET);
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      assertArrayEquals(data, read(fs));
      try (FSDataInputStream in = fs.open(file)) {
        assertThat(in.toString()).doesNotContain(SECRET);
      }
      assertThat(fs.toString()).doesNotContain(SECRET);
      assertThat(log.lines(SECRET)).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "s3a"})
  void requesterPaysIsSent(String client) throws Exception {
    conf.setBoolean("fs.s3a.requester.pays.enabled", true);
    conf.set("fs.s3a.s3e.client", client);
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      assertArrayEquals(data, read(fs));
    }
    assertThat(proxy.reads("file"))
        .isNotEmpty()
        .allSatisfy(
            get -> assertThat(get.headers()).containsEntry("x-amz-request-payer", "requester"));
  }

  /** Older versions of S3A send no such headers. */
  @Tag("hadoop-3.5")
  @ParameterizedTest
  @ValueSource(strings = {"auto", "s3a"})
  void customHeadersAreSent(String client) throws Exception {
    conf.set("fs.s3a.client.s3.custom.headers", "x-team=storage;lake");
    conf.set("fs.s3a.s3e.client", client);
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      assertArrayEquals(data, read(fs));
    }
    assertThat(proxy.reads("file"))
        .isNotEmpty()
        .allSatisfy(get -> assertThat(get.headers().get("x-team")).isEqualTo("storage,lake"));
  }

  @Test
  void changesMayBeIgnored() throws Exception {
    conf.set("fs.s3a.change.detection.mode", "none");
    conf.set("fs.s3a.s3e.prefetch.enabled", "false");
    byte[] other = data.clone();
    other[SIZE - 1] ^= 1;
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      try (FSDataInputStream in = fs.open(file)) {
        assertThat(in.read()).isEqualTo(data[0] & 0xff);
        in.unbuffer();
        write(fs, other);
        assertThat(in.read(SIZE - 1, new byte[1], 0, 1)).isEqualTo(1);
      }
    }
    assertThat(proxy.reads("file"))
        .isNotEmpty()
        .allSatisfy(get -> assertThat(get.headers()).doesNotContainKey("If-Match"));
  }

  @Test
  void changesMayBeWarnedOf() throws Exception {
    conf.set("fs.s3a.change.detection.mode", "warn");
    conf.set("fs.s3a.s3e.prefetch.enabled", "false");
    byte[] other = data.clone();
    other[SIZE - 1] ^= 1;
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      try (FSDataInputStream in = fs.open(file)) {
        assertThat(in.read()).isEqualTo(data[0] & 0xff);
        in.unbuffer();
        write(fs, other);
        byte[] last = new byte[1];
        in.readFully(SIZE - 1, last);
        in.readFully(SIZE / 2, last);
      }
      assertThat(log.lines("change detected on")).hasSize(1);
    }
  }

  @Test
  void changesMayBeFoundWithoutConditions() throws Exception {
    conf.set("fs.s3a.change.detection.mode", "client");
    byte[] other = data.clone();
    other[0] ^= 1;
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      try (FSDataInputStream in = fs.open(file)) {
        write(fs, other);
        assertThatThrownBy(in::read)
            .isInstanceOf(org.apache.hadoop.fs.s3a.RemoteFileChangedException.class);
      }
    }
    assertThat(proxy.reads("file"))
        .isNotEmpty()
        .allSatisfy(get -> assertThat(get.headers()).doesNotContainKey("If-Match"));
  }

  @Test
  void aStoreWithoutETagsIsRefusedWhereOneIsRequired() throws Exception {
    // The CRT refuses such a store by itself, whatever is configured.
    conf.set("fs.s3a.s3e.client", "s3a");
    conf.set("fs.s3a.change.detection.version.required", "true");
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      proxy.rewriteResponseHeads(head -> head.replaceAll("(?im)^etag:[^\r]*\r\n", ""));
      try (FSDataInputStream in =
          fs.openFile(file).opt("fs.option.openfile.length", "1000").build().get()) {
        assertThatThrownBy(in::read)
            .isInstanceOf(org.apache.hadoop.fs.s3a.NoVersionAttributeException.class);
      }
      assertThat(proxy.reads("file")).hasSize(1);
    }
  }

  @Test
  void whyS3AsClientReadsIsSaidOnce() throws Exception {
    conf.set("fs.s3a.s3.client.factory.impl", OtherFactory.class.getName());
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      assertArrayEquals(data, read(fs));
      assertArrayEquals(data, read(fs));
      List<String> said = log.lines("by S3A's client");
      assertThat(said).hasSize(1);
      assertThat(said.get(0))
          .contains("INFO")
          .contains("s3a://s3e-test")
          .contains("fs.s3a.s3.client.factory.impl is");
      assertThat(fs.toString()).contains("by s3a");
    }
  }

  @Test
  void aClientThatCannotBeLookedAtReadsItself() throws Exception {
    conf.set("fs.s3a.s3.client.factory.impl", MuteFactory.class.getName());
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      assertArrayEquals(data, read(fs));
      assertThat(log.await("cannot be made")).hasSize(1);
      assertThat(fs.toString()).contains("by s3a");
    }
  }

  /** A client factory of somebody's own. */
  public static final class OtherFactory extends DefaultS3ClientFactory {}

  /** Its clients have no {@code utilities()}, which S3Client's contract leaves open. */
  public static final class MuteFactory extends DefaultS3ClientFactory {
    @Override
    public S3Client createS3Client(URI uri, S3ClientCreationParameters parameters)
        throws IOException {
      S3Client whole = super.createS3Client(uri, parameters);
      return (S3Client)
          Proxy.newProxyInstance(
              MuteFactory.class.getClassLoader(),
              new Class<?>[] {S3Client.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("utilities")) {
                  throw new UnsupportedOperationException("utilities");
                }
                try {
                  return method.invoke(whole, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    }
  }

  @Test
  @Slow
  void aForgottenStreamIsReportedAndClosed() throws Exception {
    try (CapturedLog log = new CapturedLog();
        FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      forgetOne(fs);
      awaitTrue(
          "the leak is reported",
          Duration.ofSeconds(60),
          () -> {
            System.gc();
            return !log.lines("Stream not closed while reading").isEmpty();
          });
      assertThat(log.lines("Stream not closed").get(0)).contains("settings/file");
      awaitTrue("the stack is reported", () -> !log.lines("forgetOne").isEmpty());
      assertArrayEquals(data, read(fs));
    }
  }

  /** In a frame of its own, so that nothing on the stack keeps the stream. */
  private void forgetOne(FileSystem fs) throws IOException {
    FSDataInputStream in = fs.open(file);
    byte[] some = new byte[100_000];
    in.readFully(some);
    assertArrayEquals(Arrays.copyOf(data, some.length), some);
  }

  @Test
  void aRefusedReaderIsToldSo() throws Exception {
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs);
      proxy.rewriteResponseHeads(
          head -> head.replaceFirst("HTTP/1.1 206 [^\r]*", "HTTP/1.1 403 Forbidden"));
      try (FSDataInputStream in = fs.open(file)) {
        assertThatThrownBy(in::read)
            .isInstanceOf(java.nio.file.AccessDeniedException.class)
            .hasMessageContaining("settings/file");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "s3a"})
  void aWrongSecretIsRefused(String client) throws Exception {
    conf.set("fs.s3a.s3e.client", client);
    try (FileSystem fs = S3AReads.open(conf)) {
      write(fs);
    }
    conf.set("fs.s3a.secret.key", "wrong");
    try (FileSystem fs = S3AReads.open(conf);
        FSDataInputStream in =
            fs.openFile(file).opt("fs.option.openfile.length", "1000").build().get()) {
      assertThatThrownBy(in::read).isInstanceOf(java.nio.file.AccessDeniedException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "s3a"})
  void nobodysRequestsAreNotSigned(String client) throws Exception {
    try (S3TestServer open = S3TestServer.inMemoryAnonymous().withBucket(S3AServer.BUCKET);
        RecordingProxy before = new RecordingProxy(open.endpoint())) {
      conf.set("fs.s3a.endpoint", before.endpoint().toString());
      conf.set(
          "fs.s3a.aws.credentials.provider",
          "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider");
      conf.set("fs.s3a.s3e.client", client);
      try (FileSystem fs = S3AReads.open(conf)) {
        write(fs);
        assertArrayEquals(data, read(fs));
      }
      assertThat(before.reads("file"))
          .isNotEmpty()
          .allSatisfy(get -> assertThat(get.headers()).doesNotContainKey("Authorization"));
    }
  }

  @Test
  @Slow
  void manyFileSystemsShareTheMemory() throws Exception {
    try (FileSystem first = S3AReads.open(conf)) {
      write(first);
      for (int i = 0; i < 5; i++) {
        try (FileSystem second = S3AReads.open(conf);
            FileSystem third = S3AReads.open(conf)) {
          assertArrayEquals(data, read(first));
          assertArrayEquals(data, read(second));
          assertArrayEquals(data, read(third));
        }
      }
    }
  }

  /** S3A delivers them: its tasks keep the stream. */
  @Test
  @Slow
  void rangesOfAForgottenStreamCome() throws Exception {
    try (HostileS3Server server = HostileS3Server.start();
        FileSystem fs = S3AReads.open(S3AReads.small(S3AServer.s3e(server.endpoint())))) {
      ObjectRef object = new ObjectRef(S3AServer.BUCKET, "settings/file");
      server.put(object, data);
      server.decideAll(
          request ->
              request.method().equals("GET") ? Fault.delay(Duration.ofSeconds(2)) : Fault.none());
      FileRange range = FileRange.createFileRange(1000, 100);
      forgetVectored(fs, range);
      while (!range.getData().isDone()) {
        System.gc();
        Pause.millis(50, "a cleaner has its turn");
      }
      ByteBuffer read = range.getData().get(60, TimeUnit.SECONDS);
      assertThat(read).isEqualTo(ByteBuffer.wrap(data, 1000, 100));
    }
  }

  /** In a frame of its own, so that nothing on the stack keeps the stream. */
  private void forgetVectored(FileSystem fs, FileRange range) throws IOException {
    fs.open(file).readVectored(List.of(range), ByteBuffer::allocate);
  }

  /** Nothing that it reads by leads back to it, but for its blocks, and those leave memory. */
  @Test
  @Slow
  void aForgottenFileSystemGoes() throws Exception {
    conf.set("fs.s3a.s3e.memory.budget", "16M");
    byte[] large = new byte[40 << 20];
    try (FileSystem other = S3AReads.open(conf)) {
      write(other);
      Path path = new Path("/settings/large");
      try (FSDataOutputStream out = other.create(path, true)) {
        out.write(large);
      }
      WeakReference<FileSystem> forgotten = forgetFileSystem();
      awaitTrue(
          "it is collected",
          Duration.ofSeconds(60),
          () -> {
            try (FSDataInputStream in = other.open(path)) {
              in.readFully(0, large);
            }
            System.gc();
            return forgotten.get() == null;
          });
    }
  }

  /** In a frame of its own, so that nothing on the stack keeps the file system. */
  private WeakReference<FileSystem> forgetFileSystem() throws Exception {
    // In no cache of Hadoop's.
    S3EFileSystem fs = new S3EFileSystem();
    fs.initialize(URI.create("s3a://" + S3AServer.BUCKET), conf);
    assertArrayEquals(data, read(fs));
    return new WeakReference<>(fs);
  }
}
