// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.client.CredentialsSource;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.Eventually;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.time.Duration;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.iceberg.aws.s3.S3FileIO;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;
import org.apache.iceberg.io.StorageCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** File IOs are tenants of the JVM's engine: with others they share memory, and leave nothing. */
class SharedEngineTest {
  private static final int SIZE = 8 << 20;
  private static final String KEY = "data/shared";

  private HostileStore store;
  private byte[] content;

  @BeforeEach
  void open() throws IOException {
    store = new HostileStore();
    content = new byte[SIZE];
    store.put(KEY, SIZE, 3).copy(0, content, 0, content.length);
  }

  @AfterEach
  void close() throws IOException {
    store.close();
  }

  /** A tenant as the file system of s3a:// is one. */
  private S3E s3a() {
    AwsClientSettings settings =
        AwsClientSettings.builder()
            .endpoint(store.server.endpoint())
            .region("us-east-1")
            .pathStyle(true)
            .credentials(CredentialsSource.of("s3as", "secret"))
            .build();
    String name = AwsClients.storeName(Optional.of(store.server.endpoint()), "us-east-1");
    return S3E.create(S3EConfig.DEFAULTS.toBuilder().store(name).build(), AwsClients.crt(settings));
  }

  private byte[] byIceberg(S3FileIO io) throws IOException {
    byte[] bytes = new byte[SIZE];
    try (SeekableInputStream in = io.newInputFile(HostileStore.location(KEY), SIZE).newStream()) {
      // The first answer is the proof.
      assertThat(in.read()).isEqualTo(content[0] & 0xff);
      ((RangeReadable) in).readFully(0, bytes);
    }
    return bytes;
  }

  private byte[] byS3a(S3E tenant) throws IOException {
    byte[] bytes = new byte[SIZE];
    try (S3EInputStream in =
        tenant.open(new ObjectRef(HostileStore.BUCKET, KEY), OpenOptions.DEFAULTS.withSize(SIZE))) {
      assertThat(in.read()).isEqualTo(content[0] & 0xff);
      in.readFullyAt(0, bytes, 0, SIZE);
    }
    return bytes;
  }

  @Test
  void whatS3aHasFetchedServesIcebergAfterAnAnswerOfItsOwn() throws IOException {
    try (S3E s3a = s3a();
        S3EFileIO io = store.open(new S3EFileIO())) {
      assertThat(byS3a(s3a)).isEqualTo(content);
      store.server.forgetRequests();
      assertThat(byIceberg(io)).isEqualTo(content);
      assertThat(store.signers("data")).containsExactly("catalogs");
      assertThat(store.bytesAsked()).isPositive().isLessThan(SIZE / 2);
    }
  }

  @Test
  void whatIcebergHasFetchedServesS3aAfterAnAnswerOfItsOwn() throws IOException {
    try (S3E s3a = s3a();
        S3EFileIO io = store.open(new S3EFileIO())) {
      assertThat(byIceberg(io)).isEqualTo(content);
      store.server.forgetRequests();
      assertThat(byS3a(s3a)).isEqualTo(content);
      assertThat(store.signers("data")).containsExactly("s3as");
      assertThat(store.bytesAsked()).isPositive().isLessThan(SIZE / 2);
    }
  }

  @Test
  void thereIsOneBudget() throws IOException {
    try (S3E s3a = s3a();
        S3EFileIO io = store.open(new S3EFileIO(), "s3e.memory.budget", "64M")) {
      S3E tenant = StreamTenants.tenant(io, HostileStore.location(KEY));
      assertThat(tenant.memoryLimit()).as("the first tenant's").isEqualTo(s3a.memoryLimit());
      assertThat(tenant.config().store()).isEqualTo(s3a.config().store());
      assertThat(tenant.config().blockBytes()).isEqualTo(s3a.config().blockBytes());
    }
  }

  @Test
  @Slow
  void twoHundredThatComeAndGoBesideAReaderLeaveNothing() throws Exception {
    try (S3EFileIO reader = store.open(new S3EFileIO())) {
      assertThat(byIceberg(reader)).isEqualTo(content);
      AtomicBoolean isOver = new AtomicBoolean();
      AtomicReference<Throwable> failure = new AtomicReference<>();
      Thread beside =
          new Thread(
              () -> {
                try {
                  while (!isOver.get()) {
                    assertThat(Arrays.equals(byIceberg(reader), content)).isTrue();
                  }
                } catch (Throwable e) {
                  failure.set(e);
                }
              },
              "the reader beside");
      beside.start();
      List<S3E> tenants = new ArrayList<>();
      try {
        for (int i = 0; i < 200; i++) {
          try (S3EFileIO io = store.open(new S3EFileIO());
              SeekableInputStream in =
                  io.newInputFile(HostileStore.location(KEY), SIZE).newStream()) {
            assertThat(in.read()).isEqualTo(content[0] & 0xff);
            tenants.add(StreamTenants.tenant(io, HostileStore.location(KEY)));
          }
        }
      } finally {
        isOver.set(true);
        beside.join(60_000);
      }
      assertThat(beside.isAlive()).isFalse();
      assertThat(failure.get()).isNull();
      assertThat(tenants).allSatisfy(each -> assertThat(each.memoryBytes()).isZero());
      // Those of the readers, and idle ones that end by themselves.
      Eventually.awaitTrue("connections end", () -> store.server.openConnections() < 40);
      Eventually.awaitTrue("threads end", () -> threads("s3e-credentials") <= 1);
      assertThat(threads("s3e-get-")).isZero();
      assertThat(byIceberg(reader)).isEqualTo(content);
    }
  }

  private static long threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(name))
        .count();
  }

  /** What the engine holds of it must not keep it from being finalized, which closes it. */
  @Test
  @Slow
  void oneThatIsForgottenIsClosed() throws Exception {
    S3E tenant = forgotten();
    Eventually.awaitTrue(
        "the tenant is closed",
        () -> {
          System.gc();
          System.runFinalization();
          return StreamTenants.isClosed(tenant);
        });
  }

  private S3E forgotten() throws IOException {
    S3EFileIO io = store.open(new S3EFileIO());
    assertThat(byIceberg(io)).isEqualTo(content);
    return StreamTenants.tenant(io, HostileStore.location(KEY));
  }

  /** The other way round: a stream alone keeps its file IO open. */
  @Test
  @Slow
  void aStreamKeepsItsFileIoOpen() throws Exception {
    try (SeekableInputStream in = streamOfAForgottenIo()) {
      Store.collectGarbage();
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
  }

  private SeekableInputStream streamOfAForgottenIo() {
    return store.open(new S3EFileIO()).newInputFile(HostileStore.location(KEY), SIZE).newStream();
  }

  @Test
  void whatIsOpenedWhileCredentialsOrPropertiesAreSetIsNotKept() {
    try (S3EFileIO io = store.open(new S3EFileIO())) {
      List<S3E> tenants = new ArrayList<>();
      Runnable meanwhile = () -> tenants.add(StreamTenants.tenant(io, HostileStore.location(KEY)));
      io.setCredentials(
          new AbstractList<>() {
            @Override
            public StorageCredential get(int index) {
              meanwhile.run();
              return StorageCredential.create("gs://other", Map.of("key", "value"));
            }

            @Override
            public int size() {
              return 1;
            }
          });
      assertThat(tenants).isNotEmpty().allMatch(StreamTenants::isClosed);
      tenants.clear();
      // What S3E looks at it copies.
      Map<String, String> properties = store.properties();
      io.initialize(
          new AbstractMap<>() {
            @Override
            public Set<Entry<String, String>> entrySet() {
              meanwhile.run();
              return properties.entrySet();
            }
          });
      assertThat(tenants).isNotEmpty().allMatch(StreamTenants::isClosed);
    }
  }

  /** Its file IO stays, and so would what is fetched ahead. */
  @Test
  @Slow
  void aStreamThatIsForgottenIsClosedAndToldOf() throws Exception {
    String location = HostileStore.location("data/big");
    store.put("data/big", 1L << 30, 4);
    try (CapturedLog log = new CapturedLog();
        S3EFileIO io = store.open(new S3EFileIO())) {
      S3E tenant = StreamTenants.tenant(io, location);
      long before = forgetOne(io, location, tenant);
      Eventually.awaitTrue(
          "the stream is told of",
          () -> {
            System.gc();
            return !log.lines("not closed").isEmpty();
          });
      assertThat(log.lines("not closed")).hasSize(1);
      assertThat(log.lines("not closed").get(0)).contains("WARN", location);
      // By itself the slow GET is given up later.
      Eventually.awaitTrue(
          "the GET ends", Duration.ofSeconds(8), () -> tenant.memoryBytes() < before);
    }
  }

  /**
   * In a frame of its own, so that nothing on the stack keeps the stream; with a slow GET ahead.
   *
   * @return the tenant's memory with it, in bytes
   */
  private long forgetOne(S3EFileIO io, String location, S3E tenant) throws IOException {
    SeekableInputStream in = io.newInputFile(location, 1L << 30).newStream();
    assertThat(in.readNBytes(8 << 20)).hasSize(8 << 20);
    store.server.shape(Duration.ZERO, 100_000);
    int sent = store.server.gets().size();
    while (store.server.gets().size() == sent) {
      assertThat(in.read()).isNotNegative();
    }
    long held = tenant.memoryBytes();
    assertThat(in.read()).isNotNegative();
    return held;
  }

  /** A broadcast table that leaves Spark's memory is closed while tasks read its files. */
  @Test
  void aStreamIsReadOnAfterItsIoIsClosedAndEndsItsTenant() throws IOException {
    S3EFileIO io = store.open(new S3EFileIO());
    S3E tenant = StreamTenants.tenant(io, HostileStore.location(KEY));
    byte[] bytes = new byte[1000];
    try (SeekableInputStream in = io.newInputFile(HostileStore.location(KEY), SIZE).newStream()) {
      assertThat(in.read()).isEqualTo(content[0] & 0xff);
      io.close();
      ((RangeReadable) in).readFully(SIZE - bytes.length, bytes);
      assertThat(bytes).isEqualTo(Arrays.copyOfRange(content, SIZE - bytes.length, SIZE));
      assertThat(StreamTenants.isClosed(tenant)).isFalse();
    }
    assertThat(StreamTenants.isClosed(tenant)).isTrue();

    // Nobody closes it a second time, not even its finalizer.
    try (SeekableInputStream in = io.newInputFile(HostileStore.location(KEY), SIZE).newStream()) {
      tenant = ((S3ESeekableInputStream) in).tenant;
      assertThat(in.read()).isEqualTo(content[0] & 0xff);
      assertThat(StreamTenants.isClosed(tenant)).isFalse();
    }
    assertThat(StreamTenants.isClosed(tenant)).as("its tenant has gone").isTrue();
  }
}
