// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.ClientProvider;
import io.s3e.client.ForwardingClient;
import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import io.s3e.client.ResponseHead.LengthSource;
import io.s3e.client.Transport;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.stream.Announcement;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.DiskWrites;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tenants of one engine: what they share, and what one never gets of another. */
@Timeout(120)
class TenantsTest {
  private static final int BLOCK = 64 << 10;
  private static final int REQUEST = 8 * BLOCK;
  private static final int SIZE = 64 * BLOCK + 17;
  private static final ClientLimits LENDING =
      new ClientLimits(BLOCK, 8, 0, REQUEST, 16, 16L * REQUEST);
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final String ETAG = "\"v1\"";
  private static final String KEY_HEADER = "x-amz-server-side-encryption-customer-key";

  private final byte[] content = MemoryObjectClient.bytes(SIZE, 11);
  private final MemoryBudget budget = new MemoryBudget(512L * BLOCK);
  private final ExecutorService readers = Executors.newCachedThreadPool();

  @AfterEach
  void everythingIsGivenBack() {
    readers.shutdownNow();
    Engines.endIdle();
    assertThat(budget.reserved()).as("bytes reserved after the last tenant").isZero();
  }

  private MemoryObjectClient client(ClientLimits limits) {
    MemoryObjectClient client = new MemoryObjectClient(limits);
    client.put(OBJECT, content, ETAG);
    return client;
  }

  private MemoryObjectClient client() {
    return client(ClientLimits.copying(REQUEST, 8, 0));
  }

  private static S3EConfig config() {
    return S3EConfig.DEFAULTS.toBuilder()
        .blockBytes(BLOCK)
        .requestBytes(REQUEST)
        .store("memory")
        .readTimeout(Duration.ofSeconds(30))
        .retryBase(Duration.ofMillis(1))
        .build();
  }

  private S3E tenant(MemoryObjectClient client) {
    return S3E.create(config(), budget, memory -> client);
  }

  /** With a cache on disk, guesses of other tenants wait until S3 has answered for a version. */
  @Test
  void announcementsOfEveryTenantAreSentBesideADisk(@TempDir Path directory) throws Exception {
    DiskCacheConfig disk =
        DiskCacheConfig.DEFAULTS.toBuilder()
            .mode(Mode.DISK)
            .directories(List.of(directory))
            .capacityBytes(64L << 20)
            .build();
    S3EConfig config = config().toBuilder().diskCache(disk).build();
    MemoryObjectClient one = client();
    MemoryObjectClient two = client();
    try (S3E first = S3E.create(config, budget, memory -> one);
        S3E second = S3E.create(config, budget, memory -> two)) {
      for (S3E tenant : List.of(first, second)) {
        DiskWrites.await(tenant, Duration.ofSeconds(30));
      }
      for (S3E tenant : List.of(first, second)) {
        Announcement announced =
            tenant.announce(OBJECT, OpenOptions.DEFAULTS.withSize(content.length));
        assertThat(announced).isNotNull();
        assertThat(announced.awaitAnswer(Duration.ofSeconds(30))).isTrue();
        announced.release();
      }
    }
    assertThat(one.gets()).hasSize(1);
    assertThat(two.gets()).hasSize(1);
    awaitTrue("the disk's memory is given back", () -> budget.reserved() == 0);
  }

  private void readAll(S3E tenant) throws IOException {
    try (S3EInputStream in = tenant.open(OBJECT)) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
  }

  @Test
  void bytesOfOneTenantServeAnotherAfterARequestOfItsOwn() throws Exception {
    MemoryObjectClient one = client();
    MemoryObjectClient two = client();
    try (S3E first = tenant(one);
        S3E second = tenant(two)) {
      readAll(first);
      try (S3EInputStream in = second.open(OBJECT)) {
        in.readFullyAt(0, new byte[1], 0, 1);
      }
      readAll(second);
      assertThat(two.gets()).as("GETs of the second tenant").isNotEmpty();
      assertThat(two.bytesAsked()).as("bytes of the second tenant").isLessThan(SIZE / 2);

      int sent = two.gets().size();
      readAll(second);
      assertThat(two.gets()).hasSize(sent);
    }
  }

  /** As openers do that know a length and no ETag: the first answer tells which version it is. */
  @Test
  void bytesThatAreReadWithoutAnEtagServeOthersToo() throws Exception {
    MemoryObjectClient one = client();
    MemoryObjectClient two = client();
    OpenOptions sized = OpenOptions.DEFAULTS.withSize(content.length);
    try (S3E first = tenant(one);
        S3E second = tenant(two)) {
      for (S3E tenant : List.of(first, second)) {
        try (S3EInputStream in = tenant.open(OBJECT, sized)) {
          assertThat(in.read()).isEqualTo(content[0] & 0xff);
          byte[] rest = new byte[content.length];
          in.readFullyAt(0, rest, 0, rest.length);
          assertThat(rest).isEqualTo(content);
        }
      }
      assertThat(one.bytesAsked()).as("bytes of the first tenant").isEqualTo(content.length);
      assertThat(two.bytesAsked()).as("bytes of the second tenant").isLessThan(SIZE / 2);
    }
  }

  @Test
  void vectoredReadsOfAllTenantsUseTheEnginesThreads() throws Exception {
    List<S3E> tenants = new ArrayList<>();
    for (int i = 0; i < 8 * Runtime.getRuntime().availableProcessors(); i++) {
      tenants.add(tenant(client()));
    }
    Set<String> before = vectoredThreads();
    for (S3E tenant : tenants) {
      try (S3EInputStream in = tenant.open(OBJECT)) {
        readVectored(in).get(30, TimeUnit.SECONDS);
        readVectored(in).get(30, TimeUnit.SECONDS);
      }
    }
    Set<String> made = vectoredThreads();
    made.removeAll(before);
    assertThat(made).hasSizeBetween(1, tenants.size() - 1);

    // A tenant that is gone takes no other's threads along.
    S3E last = tenants.remove(0);
    try (S3EInputStream closed = tenants.get(0).open(OBJECT);
        S3EInputStream in = last.open(OBJECT)) {
      tenants.forEach(S3E::close);
      assertThatThrownBy(() -> readVectored(closed).get(30, TimeUnit.SECONDS))
          .hasMessageContaining("closed");
      assertThat(readVectored(in).get(30, TimeUnit.SECONDS).array())
          .isEqualTo(Arrays.copyOf(content, 100));
    }
    last.close();
    awaitTrue("no thread of the engine", () -> before.containsAll(vectoredThreads()));
  }

  @Test
  void aTenantWhoseCallbacksHangLeavesThreadsToTheOthers() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    int ranges = 4 * Runtime.getRuntime().availableProcessors();
    try (S3E one = tenant(client());
        S3E two = tenant(client());
        S3EInputStream hanging = one.open(OBJECT);
        S3EInputStream in = two.open(OBJECT)) {
      List<ByteRange> far =
          IntStream.range(0, ranges).mapToObj(i -> ByteRange.ofLength(i * 4L * BLOCK, 10)).toList();
      hanging.readVectored(
          far,
          length -> {
            awaitUninterruptibly(hangs);
            return ByteBuffer.allocate(length);
          },
          buffer -> {});
      assertThat(readVectored(in).get(30, TimeUnit.SECONDS).array())
          .isEqualTo(Arrays.copyOf(content, 100));
    } finally {
      hangs.countDown();
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static CompletableFuture<ByteBuffer> readVectored(S3EInputStream in) throws IOException {
    List<ByteRange> ranges = List.of(ByteRange.ofLength(0, 100));
    return in.readVectored(ranges, ByteBuffer::allocate, buffer -> {}).get(0);
  }

  private static Set<String> vectoredThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(thread -> thread.getName() + " " + thread.getId())
        .filter(name -> name.startsWith("s3e-vectored-"))
        .collect(Collectors.toCollection(HashSet::new));
  }

  @Test
  void aTenantThatMayNotReadGetsNothingOfWhatAnotherHasRead() throws Exception {
    MemoryObjectClient one = client();
    MemoryObjectClient two = client();
    try (S3E first = tenant(one);
        S3E second = S3E.create(config(), budget, memory -> new Refusing(two, request -> true))) {
      readAll(first);
      assertThatThrownBy(() -> readAll(second)).hasMessageContaining("403");
      for (int block = 0; block < SIZE / BLOCK; block += 5) {
        long position = (long) block * BLOCK;
        try (S3EInputStream in = second.open(OBJECT)) {
          assertThatThrownBy(() -> in.readAt(position, new byte[100], 0, 100))
              .hasMessageContaining("403");
        }
      }
      readAll(first);
    }
  }

  @Test
  void aCustomersKeyOpensNothingThatAnotherKeyHasFetched() throws Exception {
    MemoryObjectClient one = client();
    Predicate<GetRequest> isWrong = request -> !"right".equals(request.headers().get(KEY_HEADER));
    try (S3E tenant = S3E.create(config(), budget, memory -> new Refusing(one, isWrong))) {
      OpenOptions right = OpenOptions.DEFAULTS.withHeaders(Map.of(KEY_HEADER, "right"));
      OpenOptions wrong = OpenOptions.DEFAULTS.withHeaders(Map.of(KEY_HEADER, "wrong"));
      try (S3EInputStream in = tenant.open(OBJECT, right)) {
        assertThat(in.readAllBytes()).isEqualTo(content);
      }
      int sent = one.gets().size();
      try (S3EInputStream in = tenant.open(OBJECT, right)) {
        assertThat(in.readAllBytes()).isEqualTo(content);
      }
      assertThat(one.gets()).as("the same key again").hasSize(sent);
      for (OpenOptions other : List.of(wrong, OpenOptions.DEFAULTS)) {
        try (S3EInputStream in = tenant.open(OBJECT, other)) {
          assertThatThrownBy(in::readAllBytes).hasMessageContaining("403");
        }
      }
    }
  }

  /** An object of the same name may be another store's, and what another user reads is no word. */
  @Test
  void anErrorTellsOfNoGetsOfAnotherTenant() throws Exception {
    MemoryObjectClient one = client();
    one.faults(
        (request, number) -> {
          long start = request.range().start();
          String range = "bytes " + start + "-" + (request.range().end() - 1) + "/" + SIZE;
          long length = request.range().length();
          return Answer.GOOD.withHead(
              new ResponseHead(
                  206, range, length, ETAG, null, null, null, LengthSource.STORE, "OTHERS"));
        });
    MemoryObjectClient two = client();
    S3EConfig elsewhere = config().toBuilder().store("elsewhere").build();
    try (S3E first = tenant(one);
        S3E second = S3E.create(elsewhere, budget, memory -> new Refusing(two, request -> true))) {
      readAll(first);
      assertThat(second.gets().latest(OBJECT, 9)).anyMatch(get -> get.json().contains("OTHERS"));
      assertThatThrownBy(() -> readAll(second))
          .hasMessageContaining("; its latest GETs: (1) ")
          .hasMessageContaining("403")
          .hasMessageNotContaining("OTHERS");
    }
  }

  /** A store that answers some GETs with 403. */
  private record Refusing(ObjectClient client, Predicate<GetRequest> isRefused)
      implements ForwardingClient {
    @Override
    public Exchange get(GetRequest request, ResponseHandler handler) {
      if (!isRefused.test(request)) {
        return client.get(request, handler);
      }
      handler.onSent();
      handler.onFailure(new RequestFailure(Kind.FORBIDDEN, "GET", "403", null));
      return () -> {};
    }
  }

  @Test
  void theEndOfATenantEndsItsReadersAndNobodyElses() throws Exception {
    MemoryObjectClient hanging = client();
    hanging.faults((request, number) -> Answer.GOOD.silentAfter(0));
    MemoryObjectClient healthy = client();
    try (S3E other = tenant(healthy)) {
      S3E closing = tenant(hanging);
      List<Future<?>> stuck = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        stuck.add(readers.submit(() -> run(() -> readAll(closing))));
      }
      awaitTrue(() -> hanging.active() > 0);
      long from = System.nanoTime();
      closing.close();
      for (Future<?> reader : stuck) {
        assertThat(reader.get(5, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
      }
      assertThat(Duration.ofNanos(System.nanoTime() - from)).isLessThan(Duration.ofSeconds(5));
      readAll(other);
    }
  }

  /** A transport that lanes are shared over; only its limits matter. */
  private record Lanes(ClientLimits limits, AtomicInteger closes) implements Transport {
    @Override
    public void close() {
      closes.incrementAndGet();
    }
  }

  @Test
  @Slow
  void aNeighbourThatHangsLeavesRoomOnTheSameConnections() throws Exception {
    AtomicInteger closes = new AtomicInteger();
    List<Transport.Lease<Lanes>> leases = new ArrayList<>();
    MemoryObjectClient hanging = client(LENDING);
    hanging.faults((request, number) -> Answer.GOOD.silentAfter(0));
    MemoryObjectClient healthy = client(LENDING);
    try (S3E stuck = S3E.create(config(), budget, over(closes, leases, hanging));
        S3E well = S3E.create(config(), budget, over(closes, leases, healthy))) {
      List<Future<?>> reading = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        long position = (long) i * BLOCK;
        reading.add(
            readers.submit(
                () ->
                    run(
                        () -> {
                          try (S3EInputStream in = stuck.open(OBJECT)) {
                            in.readAt(position, new byte[100], 0, 100);
                          }
                        })));
      }
      awaitTrue(() -> hanging.active() >= 7);
      for (int i = 0; i < 200; i++) {
        byte[] bytes = new byte[100];
        int position = i * 20_000;
        try (S3EInputStream in = well.open(OBJECT)) {
          long from = System.nanoTime();
          in.readAt(position, bytes, 0, 100);
          assertThat(Duration.ofNanos(System.nanoTime() - from))
              .as("read %s", i)
              .isLessThan(Duration.ofSeconds(3));
        }
        assertThat(bytes)
            .isEqualTo(java.util.Arrays.copyOfRange(content, position, position + 100));
      }
      readAll(well);
    }
    leases.forEach(Transport.Lease::close);
    assertThat(closes).as("closes of the transport").hasValue(1);
  }

  /** As where its client has gone back to one that copies. */
  @Test
  void aTenantWhoseClientLendsNoMoreLeavesTheOthersTheirSlots() throws Exception {
    AtomicInteger closes = new AtomicInteger();
    List<Transport.Lease<Lanes>> leases = new ArrayList<>();
    MemoryObjectClient back = client(LENDING);
    MemoryObjectClient well = client(LENDING);
    ForwardingClient copying =
        new ForwardingClient() {
          @Override
          public ObjectClient client() {
            return back;
          }

          @Override
          public Exchange get(GetRequest request, ResponseHandler handler) {
            if (!request.lend()) {
              return back.get(request, handler);
            }
            handler.onFailure(RequestFailure.notLent(request.subject()));
            return () -> {};
          }
        };
    try (S3E one = S3E.create(config(), budget, over(closes, leases, copying));
        S3E two = S3E.create(config(), budget, over(closes, leases, well))) {
      readAll(one);
      assertThat(back.gets()).isNotEmpty().noneMatch(GetRequest::lend);
      // By a key of its own nothing of what the first has read serves it.
      OpenOptions apart = OpenOptions.DEFAULTS.withHeaders(Map.of(KEY_HEADER, "key"));
      try (S3EInputStream in = two.open(OBJECT, apart)) {
        assertThat(in.readAllBytes()).isEqualTo(content);
      }
      assertThat(well.gets()).as("GETs of a neighbour").anyMatch(GetRequest::lend);
    }
    leases.forEach(Transport.Lease::close);
  }

  private ClientProvider over(
      AtomicInteger closes, List<Transport.Lease<Lanes>> leases, ObjectClient client) {
    return (ClientMemory memory) -> {
      leases.add(memory.lease("lanes", granted -> new Lanes(LENDING, closes)));
      return client;
    };
  }

  @Test
  void manyTenantsOpenAtOnceAndAllRead() throws Exception {
    List<Future<?>> reading = new ArrayList<>();
    List<S3E> tenants = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      reading.add(
          readers.submit(
              () -> {
                S3E tenant = tenant(client());
                synchronized (tenants) {
                  tenants.add(tenant);
                }
                readAll(tenant);
                return null;
              }));
    }
    for (Future<?> one : reading) {
      one.get(60, TimeUnit.SECONDS);
    }
    assertThat(budget.reserved()).isLessThanOrEqualTo(budget.limit());
    tenants.forEach(S3E::close);
  }

  @Test
  void theFirstTenantsBudgetAndBlockSizeStandUntilTheLastOneCloses() throws Exception {
    S3EConfig small = config().toBuilder().memoryBytes(16L << 20).build();
    S3EConfig large = small.toBuilder().memoryBytes(32L << 20).blockBytes(2 * BLOCK).build();
    S3E first = S3E.create(small, memory -> client());
    S3E second = S3E.create(large, memory -> client());
    assertThat(second.memoryLimit()).isEqualTo(16L << 20);
    assertThat(second.config().blockBytes()).isEqualTo(BLOCK);
    first.close();
    readAll(second);
    second.close();
    try (S3E third = S3E.create(large, memory -> client())) {
      assertThat(third.memoryLimit()).isEqualTo(32L << 20);
      assertThat(third.config().blockBytes()).isEqualTo(2 * BLOCK);
      readAll(third);
    }
  }

  /** What is the JVM's is the first tenant's: another may have asked for less than its blocks. */
  @Test
  void aTenantThatAskedForLessThanTwoOfTheEnginesBlocksReads() throws Exception {
    S3EConfig small = config().toBuilder().memoryBytes(2L * BLOCK).build();
    S3EConfig large = config().toBuilder().memoryBytes(16L << 20).blockBytes(4 * BLOCK).build();
    try (S3E first = S3E.create(large, memory -> client());
        S3E second = S3E.create(small, memory -> client())) {
      assertThat(second.config().blockBytes()).isEqualTo(4 * BLOCK);
      assertThat(second.config().memoryBytes()).isEqualTo(16L << 20);
      readAll(second);
      readAll(first);
    }
  }

  @Test
  void aTenantWhoseWindowIsLessThanOneOfTheEnginesBlocksReads() throws Exception {
    S3EConfig small = config().toBuilder().maxWindowBytes(2L * BLOCK).build();
    S3EConfig large = config().toBuilder().memoryBytes(16L << 20).blockBytes(4 * BLOCK).build();
    try (S3E first = S3E.create(large, memory -> client());
        S3E second = S3E.create(small, memory -> client());
        S3E third = S3E.create(config(), memory -> client())) {
      assertThat(second.config().maxWindowBytes()).isEqualTo(4 * BLOCK);
      assertThat(third.config().maxWindowBytes()).isEqualTo(S3EConfig.AUTOMATIC);
      readAll(second);
      readAll(first);
    }
  }

  private record Stuck(ObjectClient client) implements ForwardingClient {
    @Override
    public void close() {
      client.close();
      throw new IllegalStateException("stuck");
    }
  }

  @Test
  void aTenantWhoseClientFailsToCloseLeavesTheEngine() throws Exception {
    S3E tenant = S3E.create(config(), budget, memory -> new Stuck(client()));
    readAll(tenant);
    assertThat(budget.reserved()).isPositive();
    assertThatThrownBy(tenant::close).hasMessage("stuck");
    assertThat(budget.reserved()).isZero();
  }

  private record Unlinked(ObjectClient client) implements ForwardingClient {
    @Override
    public void close() {
      client.close();
      throw new NoClassDefFoundError("away");
    }
  }

  @Test
  void aTenantThatCannotBeMadeHoldsNothingWhateverItsClientThrows() {
    S3EConfig broken = config().toBuilder().diskCache(null).build();
    MemoryObjectClient owner = client(ClientLimits.copying(REQUEST, 8, REQUEST));
    assertThatThrownBy(() -> S3E.create(broken, budget, memory -> new Unlinked(owner)))
        .isInstanceOf(NullPointerException.class)
        .hasSuppressedException(new NoClassDefFoundError("away"));
    assertThat(budget.reserved()).isZero();
  }

  private interface Reading {
    void read() throws IOException;
  }

  private static Exception run(Reading reading) {
    try {
      reading.read();
      return null;
    } catch (IOException | RuntimeException e) {
      return e;
    }
  }
}
