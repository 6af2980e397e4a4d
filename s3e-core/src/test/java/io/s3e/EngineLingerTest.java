// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.BlockLease;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.ClientProvider;
import io.s3e.client.ForwardingClient;
import io.s3e.client.ObjectClient;
import io.s3e.client.Transport;
import io.s3e.disk.CacheKey;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.fetch.ExplainConfig;
import io.s3e.fetch.FetchTimer;
import io.s3e.fetch.GetRecord;
import io.s3e.fetch.GetSink;
import io.s3e.memory.Admission;
import io.s3e.memory.BlockIndex;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.DiskWrites;
import io.s3e.testing.GetLines;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An engine, and its transports, between the last tenant and the next one. */
@Timeout(120)
@Tag("waits")
class EngineLingerTest {
  private static final int BLOCK = 64 << 10;
  private static final int REQUEST = 8 * BLOCK;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final Duration FOR_EVER = Duration.ofHours(1);
  private static final Duration MOMENT = Duration.ofMillis(20);
  private static final S3EConfig CONFIG =
      S3EConfig.DEFAULTS.toBuilder()
          .blockBytes(BLOCK)
          .requestBytes(REQUEST)
          .memoryBytes(256L * BLOCK)
          .store("memory")
          .build();

  private final byte[] content = MemoryObjectClient.bytes(40 * BLOCK + 17, 5);
  private final MemoryBudget budget = new MemoryBudget(256L * BLOCK);
  private final List<Wire> wires = new ArrayList<>();

  @AfterEach
  void nothingIsLeft() throws Exception {
    Engines.endIdle();
    awaitTrue("memory is given back", () -> budget.reserved() == 0);
    assertThat(accounts()).as("accounts of the JVM").isZero();
    assertThat(wires).allMatch(wire -> wire.closed);
  }

  /** Connections that own what they are offered, in slots. */
  private static final class Wire implements Transport {
    private final ClientLimits limits;
    private volatile boolean isWhole = true;
    private volatile boolean closed;
    private volatile boolean failsToClose;
    private volatile @Nullable CountDownLatch closing;

    Wire(ClientMemory memory) {
      int slots = (int) (memory.ownedBytes() / REQUEST);
      limits = new ClientLimits(BLOCK, 8, 0, REQUEST, slots, (long) slots * REQUEST);
    }

    @Override
    public ClientLimits limits() {
      return limits;
    }

    @Override
    public boolean isWhole() {
      return isWhole;
    }

    @Override
    public void close() {
      assertThat(closed).as("closed before").isFalse();
      CountDownLatch goesOn = closing;
      try {
        assertThat(goesOn == null || goesOn.await(60, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      closed = true;
      if (failsToClose) {
        throw new IllegalStateException("a thread of it goes on");
      }
    }
  }

  /** A client that leaves its wire when it is closed. */
  private record Wired(ObjectClient client, Transport.Lease<Wire> lease)
      implements ForwardingClient {
    @Override
    public ClientLimits limits() {
      return lease.transport().limits();
    }

    @Override
    public void close() {
      client.close();
      lease.close();
    }
  }

  private ObjectClient client(ClientMemory memory, Object key, List<MemoryObjectClient> made) {
    Transport.Lease<Wire> lease =
        memory.lease(
            key,
            granted -> {
              Wire wire = new Wire(granted);
              wires.add(wire);
              return wire;
            });
    MemoryObjectClient client = new MemoryObjectClient(lease.transport().limits());
    client.put(OBJECT, content, "\"e\"");
    made.add(client);
    return new Wired(client, lease);
  }

  private S3E tenant(Engine engine, S3EConfig config, Object key, List<MemoryObjectClient> made) {
    return S3E.create(
        config, engine, memory -> client(memory, key, made), DiskCache::open, System::nanoTime);
  }

  private S3E tenant(Object key, Duration linger) {
    return tenant(Engine.join(CONFIG, budget, linger), CONFIG, key, new ArrayList<>());
  }

  private void readAll(S3E tenant) throws IOException {
    try (S3EInputStream in = tenant.open(OBJECT)) {
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
  }

  private static long accounts() throws JMException {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    return server.queryNames(new ObjectName("io.s3e:type=MemoryAccount"), null).size();
  }

  private static List<Long> timers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("s3e-timer"))
        .map(Thread::getId)
        .sorted()
        .toList();
  }

  @Test
  void oneEngineAndOneTransportServeTenantsThatComeAndGo() throws Exception {
    List<Long> before = timers();
    List<MemoryObjectClient> clients = new ArrayList<>();
    List<Engine> engines = new ArrayList<>();
    List<Long> during = List.of();
    for (int i = 0; i < 60; i++) {
      Engine engine = Engine.join(CONFIG, budget, FOR_EVER);
      engines.add(engine);
      try (S3E tenant = tenant(engine, CONFIG, "key", clients)) {
        readAll(tenant);
      }
      during = timers();
      assertThat(budget.reserved()).as("kept for the next").isPositive();
    }
    assertThat(engines).allMatch(engine -> engine == engines.get(0));
    assertThat(wires).hasSize(1);
    assertThat(wires.get(0).closed).isFalse();
    assertThat(during).hasSize(before.size() + 1);
    for (MemoryObjectClient client : clients) {
      assertThat(client.bytesAsked()).as("fetched by each").isGreaterThanOrEqualTo(content.length);
    }

    Engines.endIdle();
    assertThat(wires.get(0).closed).isTrue();
    assertThat(budget.reserved()).isZero();
    awaitTrue("its timer is gone", () -> timers().equals(before));
    Engine next = Engine.join(CONFIG, budget, Duration.ZERO);
    assertThat(next).isNotSameAs(engines.get(0));
    next.leave();
  }

  @Test
  void whatNobodyComesForEnds() throws Exception {
    List<Long> before = timers();
    try (S3E tenant = tenant("key", MOMENT)) {
      readAll(tenant);
    }
    awaitTrue("memory is given back", () -> budget.reserved() == 0);
    awaitTrue("the transport is closed", () -> wires.get(0).closed);
    awaitTrue("the timer is gone", () -> timers().equals(before));
  }

  @Test
  void aTransportThatNobodyComesForEndsBesideTenants() throws Exception {
    try (S3E stays = tenant("one", MOMENT)) {
      tenant("two", MOMENT).close();
      awaitTrue("the idle one closes", () -> wires.get(1).closed);
      assertThat(wires.get(0).closed).isFalse();
      readAll(stays);
    }
  }

  @Test
  void anIdleTransportGivesItsMemoryToAnother() throws Exception {
    tenant("one", FOR_EVER).close();
    assertThat(wires.get(0).closed).isFalse();
    long owned = budget.reserved();
    try (S3E other = tenant("two", FOR_EVER)) {
      assertThat(wires.get(0).closed).isTrue();
      assertThat(wires.get(1).limits).isEqualTo(wires.get(0).limits);
      assertThat(budget.reserved()).isEqualTo(owned);
      readAll(other);
    }
  }

  @Test
  void anIdleTransportGivesItsMemoryToReadersThatAreRefusedBuffers() throws Exception {
    int ranges = 32;
    byte[] large = MemoryObjectClient.bytes(ranges * REQUEST, 6);
    MemoryObjectClient copying = new MemoryObjectClient(ClientLimits.copying(REQUEST, ranges, 0));
    copying.put(OBJECT, large, "\"l\"");
    tenant("one", FOR_EVER).close();
    Engine engine = Engine.join(CONFIG, budget, FOR_EVER);
    try (S3E tenant =
            S3E.create(CONFIG, engine, memory -> copying, DiskCache::open, System::nanoTime);
        S3EInputStream in = tenant.open(OBJECT)) {
      copying.hold();
      List<ByteRange> all =
          IntStream.range(0, ranges)
              .mapToObj(i -> ByteRange.ofLength((long) i * REQUEST, REQUEST))
              .toList();
      List<CompletableFuture<ByteBuffer>> parts =
          in.readVectored(all, ByteBuffer::allocate, buffer -> {});
      awaitTrue("the idle transport closes", () -> wires.get(0).closed);
      copying.open();
      for (int i = 0; i < ranges; i++) {
        assertThat(parts.get(i).get(30, TimeUnit.SECONDS))
            .isEqualTo(ByteBuffer.wrap(large, i * REQUEST, REQUEST));
      }
    }
  }

  @Test
  void anIdleTransportThatIsSmallIsMadeAnew() throws Exception {
    S3E large = tenant("large", FOR_EVER);
    tenant("small", FOR_EVER).close();
    large.close();
    try (S3E again = tenant("small", FOR_EVER)) {
      assertThat(wires).hasSize(3);
      assertThat(wires.get(1).closed).isTrue();
      assertThat(wires.get(2).limits).isEqualTo(wires.get(0).limits);
      readAll(again);
    }
  }

  @Test
  void whatFollowsATransportThatFailsToCloseEndsAsWell() throws Exception {
    List<Long> before = timers();
    Engine engine = Engine.join(CONFIG, budget, FOR_EVER);
    try (S3E tenant = tenant(engine, CONFIG, "key", new ArrayList<>())) {
      readAll(tenant);
    }
    wires.get(0).failsToClose = true;
    try (CapturedLog log = new CapturedLog()) {
      Engines.endIdle();
      assertThat(log.lines("a thread of it goes on")).isNotEmpty();
    }
    assertThat(budget.reserved()).isZero();
    awaitTrue("its timer is gone", () -> timers().equals(before));
  }

  /** The next engine would have the whole limit, of which the transport holds a part still. */
  @Test
  void anEngineEndsAfterItsTransportThatIsBeingClosed() throws Exception {
    Engine engine = Engine.join(CONFIG);
    tenant(engine, CONFIG, "key", new ArrayList<>()).close();
    CountDownLatch goesOn = new CountDownLatch(1);
    wires.get(0).closing = goesOn;
    engine.clients.endIdleSoon();
    awaitTrue("the transport begins to close", () -> engine.clients.idleBytes() == 0);
    CompletableFuture<Void> ended = CompletableFuture.runAsync(Engines::endIdle);
    try {
      assertThatThrownBy(() -> ended.get(300, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      assertThat(accounts()).isEqualTo(1);
    } finally {
      goesOn.countDown();
    }
    ended.get(30, TimeUnit.SECONDS);
    assertThat(wires.get(0).closed).isTrue();
    assertThat(accounts()).isZero();
  }

  /** Whatever the end of its GETs' sink throws: the limit is the JVM's, and outlives nobody. */
  @Test
  void anEngineWhoseSinkFailsToCloseLeavesTheAccount() throws Exception {
    GetSink sink =
        new GetSink() {
          @Override
          public void take(GetRecord get) {}

          @Override
          public void close() {
            throw new IllegalStateException("its file is gone");
          }
        };
    visit(CONFIG.toBuilder().explain(new ExplainConfig(true, () -> sink)).build());
    try (CapturedLog log = new CapturedLog()) {
      Engines.endIdle();
      assertThat(log.lines("its file is gone")).isNotEmpty();
    }
    assertThat(accounts()).isZero();
  }

  @Test
  void whatIsIdleEndsLaterWhereTheSystemHasNoThread() throws Exception {
    AtomicInteger missing = new AtomicInteger(2);
    Executor ender =
        end -> {
          if (missing.getAndDecrement() > 0) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          end.run();
        };
    try (FetchTimer timer = new FetchTimer();
        BlockPool pool = new BlockPool(budget, BLOCK, 256)) {
      Admission admission = new Admission(budget, pool, new BlockIndex());
      EngineClients clients = new EngineClients(budget, admission, timer, FOR_EVER, ender);
      clients
          .make(memory -> client(memory, "key", new ArrayList<>()), REQUEST, BLOCK)
          .client()
          .close();
      assertThat(clients.idleBytes()).isPositive();
      assertThatCode(clients::endIdleSoon).doesNotThrowAnyException();
      clients.endIdleSoon();
      assertThat(missing).as("asks at once, once").hasValue(1);
      awaitTrue("the idle transport closes", () -> wires.get(0).closed);
      assertThat(missing).hasValue(-1);
      admission.close();
    }
  }

  /** Buffers that somebody holds count in the offer, and do not come back for it. */
  @Test
  @Slow
  void aTransportThatCannotHaveAllOfItsOfferHasAPartUntilThereIsMore() {
    try (FetchTimer timer = new FetchTimer();
        BlockPool pool = new BlockPool(budget, BLOCK, 256)) {
      budget.heldBy(pool::reservedBytes, bytes -> {});
      List<BlockLease> leases = Stream.generate(pool::tryAcquire).limit(160).toList();
      Admission admission = new Admission(budget, pool, new BlockIndex());
      EngineClients clients = new EngineClients(budget, admission, timer, FOR_EVER, Runnable::run);
      ClientProvider provider = memory -> client(memory, "key", new ArrayList<>());
      List<BlockLease> more = Stream.generate(pool::tryAcquire).limit(48).toList();
      EngineClients.Client quarter = clients.make(provider, REQUEST, BLOCK);
      assertThat(quarter.client().limits().ownedBytes()).isEqualTo(40L * BLOCK);
      quarter.client().close();
      more.forEach(BlockLease::release);
      pool.trim();
      EngineClients.Client half = clients.make(provider, REQUEST, BLOCK);
      assertThat(wires.get(0).closed).as("too small for what there is now").isTrue();
      assertThat(half.client().limits().ownedBytes()).isEqualTo(64L * BLOCK);
      half.client().close();
      clients.endIdle();
      leases.forEach(BlockLease::release);
      admission.close();
    }
  }

  /** The lookup of a region or of credentials may take as long as it likes. */
  @Test
  void aLookupThatHangsHoldsUpItsOwnTenantAlone() throws Exception {
    Engine engine = Engine.join(CONFIG, budget, FOR_EVER);
    CountDownLatch looksUp = new CountDownLatch(1);
    CompletableFuture<Void> found = new CompletableFuture<>();
    List<MemoryObjectClient> made = Collections.synchronizedList(new ArrayList<>());
    ExecutorService openers = Executors.newFixedThreadPool(2);
    try {
      Future<S3E> hanging =
          openers.submit(
              () ->
                  S3E.create(
                      CONFIG,
                      engine,
                      memory -> {
                        looksUp.countDown();
                        found.join();
                        return client(memory, "slow", made);
                      },
                      DiskCache::open,
                      System::nanoTime));
      assertThat(looksUp.await(30, TimeUnit.SECONDS)).isTrue();
      Engine joined = Engine.join(CONFIG, budget, FOR_EVER);
      try (S3E other =
          openers.submit(() -> tenant(joined, CONFIG, "quick", made)).get(30, TimeUnit.SECONDS)) {
        readAll(other);
        found.complete(null);
        try (S3E late = hanging.get(30, TimeUnit.SECONDS)) {
          readAll(late);
          assertThat(wires.get(1).limits.ownedBytes())
              .as("what it was offered first is another's now")
              .isLessThan(wires.get(0).limits.ownedBytes())
              .isPositive();
        }
      }
    } finally {
      found.complete(null);
      openers.shutdownNow();
    }
  }

  @Test
  void aTransportThatIsNotWholeDoesNotLinger() {
    S3E tenant = tenant("key", FOR_EVER);
    wires.get(0).isWhole = false;
    tenant.close();
    assertThat(wires.get(0).closed).isTrue();
  }

  private static Engine visit(S3EConfig config) {
    Engine engine = Engine.join(config);
    engine.leave();
    return engine;
  }

  private static long limit() throws JMException {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    return (Long) server.getAttribute(new ObjectName("io.s3e:type=MemoryAccount"), "Limit");
  }

  @Test
  void theJvmsEngineWaitsForThoseWhoAskForTheSame() throws Exception {
    Engine engine = visit(CONFIG);
    assertThat(accounts()).isEqualTo(1);
    assertThat(visit(CONFIG)).isSameAs(engine);
    EngineHold.of(CONFIG).close();
    assertThat(visit(CONFIG)).isSameAs(engine);

    Engine other = visit(CONFIG.toBuilder().blockBytes(2 * BLOCK).build());
    assertThat(other).isNotSameAs(engine);
    assertThat(other.blockBytes).isEqualTo(2 * BLOCK);
    Engine larger = visit(CONFIG.toBuilder().memoryBytes(512L * BLOCK).build());
    assertThat(larger).isNotSameAs(other);
    assertThat(limit()).isEqualTo(512L * BLOCK);
    assertThat(accounts()).isEqualTo(1);
  }

  /**
   * What is kept of GETs is the engine's: who asks for more is told, who asks for nothing is not.
   */
  @Test
  void whoWantsMoreKeptOfGetsThanTheFirstIsTold() throws Exception {
    S3EConfig off = CONFIG.toBuilder().explain(new ExplainConfig(false, null)).build();
    GetLines lines = new GetLines();
    S3EConfig all = CONFIG.toBuilder().explain(lines.config()).build();
    Engine first = Engine.join(off);
    try (CapturedLog log = new CapturedLog()) {
      assertThat(Engine.join(CONFIG)).isSameAs(first);
      assertThat(log.lines("does not apply")).isEmpty();
      assertThat(Engine.join(all)).isSameAs(first);
      assertThat(log.lines("does not apply"))
          .singleElement()
          .asString()
          .contains("The memory of GETs (fs.s3a.s3e.explain under Hadoop) of ", "began with off");
    }
    first.leave();
    first.leave();
    first.leave();
    Engine next = visit(all);
    assertThat(next).as("nobody uses the first one any more").isNotSameAs(first);
    Engines.endIdle();
    assertThat(lines.isClosed()).isTrue();
  }

  @Test
  void anotherPlaceOfTheDiskCacheEndsTheEngine(@TempDir Path directory) throws Exception {
    List<Path> places = new ArrayList<>();
    for (String name : List.of("one", "two")) {
      places.add(Files.createDirectory(directory.resolve(name)));
    }
    ConcurrentHashMap<Path, Engine> engines = new ConcurrentHashMap<>();
    for (Path place : List.of(places.get(0), places.get(0), places.get(1))) {
      S3EConfig config = CONFIG.toBuilder().diskCache(disk(place, disk -> disk)).build();
      Engine engine = Engine.join(config);
      Engine before = engines.putIfAbsent(place, engine);
      assertThat(before == null || before == engine).isTrue();
      try (S3E tenant = tenant(engine, config, place, new ArrayList<>())) {
        readAll(tenant);
        DiskWrites.await(tenant, Duration.ofSeconds(30));
      }
      assertThat(visit(CONFIG)).as("without a disk").isSameAs(engine);
      S3EConfig hybrid =
          config.toBuilder().diskCache(disk(place, disk -> disk.mode(Mode.HYBRID))).build();
      assertThat(visit(hybrid)).as("a tenant's own, and a key drawn anew").isSameAs(engine);
    }
    assertThat(engines.get(places.get(0))).isNotSameAs(engines.get(places.get(1)));
  }

  /** A disk that hangs would cost a thread and an engine for each file system that comes. */
  @Test
  void aDiskThatIsStillBeingOpenedIsWhatIsAsked(@TempDir Path directory) throws Exception {
    S3EConfig config = CONFIG.toBuilder().diskCache(disk(directory, disk -> disk)).build();
    CountDownLatch mayOpen = new CountDownLatch(1);
    EngineDisk.Opener slow =
        (asked, metrics, waiting) -> {
          try {
            assertThat(mayOpen.await(60, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
          return DiskCache.open(asked, metrics, waiting);
        };
    Engine engine = Engine.join(config);
    ClientLimits limits = ClientLimits.copying(REQUEST, 8, 0);
    S3E.create(config, engine, memory -> new MemoryObjectClient(limits), slow, System::nanoTime)
        .close();
    assertThat(visit(config)).isSameAs(engine);
    mayOpen.countDown();
  }

  private static DiskCacheConfig disk(Path place, UnaryOperator<DiskCacheConfig.Builder> changes) {
    return changes
        .apply(
            DiskCacheConfig.DEFAULTS.toBuilder()
                .mode(Mode.DISK)
                .key(CacheKey.random())
                .directories(List.of(place))
                .capacityBytes(64L << 20))
        .build();
  }

  /** What is on disk was fetched by others, as far as the next tenant is concerned. */
  @Test
  void theNextTenantIsServedFromTheDiskOnceItHasBeenAnswered(@TempDir Path directory)
      throws Exception {
    S3EConfig config = CONFIG.toBuilder().diskCache(disk(directory, disk -> disk)).build();
    List<MemoryObjectClient> clients = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Engine engine = Engine.join(config, budget, FOR_EVER);
      try (S3E tenant = tenant(engine, config, "key", clients)) {
        DiskWrites.await(tenant, Duration.ofSeconds(30));
        // Twice, since a scan is not worth the disk.
        readAll(tenant);
        readAll(tenant);
        DiskWrites.await(tenant, Duration.ofSeconds(30));
      }
    }
    assertThat(clients.get(1).gets()).isNotEmpty();
  }
}
