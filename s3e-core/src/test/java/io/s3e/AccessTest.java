// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.ForwardingClient;
import io.s3e.client.GetRequest;
import io.s3e.client.ObjectClient;
import io.s3e.client.Remedy;
import io.s3e.client.RequestFailure;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.ResponseHandler;
import io.s3e.client.StoreAnswer;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.DiskWrites;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Slow;
import io.s3e.testing.SlowStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What S3 has allowed a file system is served for a while, and then asked anew. */
@Timeout(120)
class AccessTest {
  private static final int BLOCK = 64 << 10;
  private static final int REQUEST = 8 * BLOCK;
  private static final int SIZE = 192 * BLOCK + 17;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final Duration AGE = Duration.ofMinutes(15);
  private static final String KEY_HEADER = "x-amz-server-side-encryption-customer-key";

  @TempDir Path directory;

  private final byte[] content = MemoryObjectClient.bytes(SIZE, 11);
  private final MemoryBudget budget = new MemoryBudget(512L * BLOCK);
  private final AtomicLong now = new AtomicLong(System.nanoTime());
  private Duration age = AGE;

  @AfterEach
  void everythingIsGivenBack() throws InterruptedException {
    awaitTrue("all memory is given back", () -> budget.reserved() == 0);
  }

  /** A user whose right may be withdrawn, and who may come back with other credentials. */
  private final class User implements ForwardingClient {
    private final MemoryObjectClient store;
    private volatile boolean allowed = true;
    private volatile @Nullable Object credentials;
    private volatile @Nullable Defect defect;

    User() {
      store = new MemoryObjectClient(ClientLimits.copying(REQUEST, 8, 0));
      store.put(OBJECT, content, "\"v1\"");
    }

    @Override
    public ObjectClient client() {
      return store;
    }

    @Override
    public @Nullable Object credentials() {
      if (defect == Defect.CREDENTIALS) {
        throw new IllegalStateException("no credentials here");
      }
      return credentials;
    }

    @Override
    public void remedy(Remedy remedy, @Nullable StoreAnswer answer, Runnable then) {
      throw new IllegalStateException("nobody can help");
    }

    @Override
    public Exchange get(GetRequest request, ResponseHandler handler) {
      if (defect == Defect.GET) {
        throw new NoClassDefFoundError("away");
      }
      if (defect == Defect.REMEDY) {
        StoreAnswer refusal = new StoreAnswer(400, "ExpiredToken", null, Map.of(), null);
        handler.onFailure(RequestFailure.refused("GET", refusal, null));
        return () -> {};
      }
      if (allowed) {
        return store.get(request, handler);
      }
      handler.onFailure(new RequestFailure(Kind.FORBIDDEN, "GET", "403", null));
      return () -> {};
    }

    int gets() {
      return store.gets().size();
    }
  }

  /** What a client throws at. */
  private enum Defect {
    CREDENTIALS("no credentials here"),
    GET("away"),
    /** As it was refused, since nobody can help. */
    REMEDY("ExpiredToken");

    private final String told;

    Defect(String told) {
      this.told = told;
    }
  }

  private S3EConfig.Builder config() {
    return S3EConfig.DEFAULTS.toBuilder()
        .blockBytes(BLOCK)
        .requestBytes(REQUEST)
        .store("memory")
        .accessMaxAge(age)
        .readTimeout(Duration.ofSeconds(30))
        .retryBase(Duration.ofMillis(1));
  }

  private S3E tenant(User user) {
    return tenant(user, config().build(), budget);
  }

  private S3E tenant(User user, S3EConfig config, MemoryBudget memory) {
    return S3E.create(
        config,
        Engine.join(config, memory, Duration.ZERO),
        granted -> user,
        DiskCache::open,
        now::get);
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }

  private S3EInputStream open(S3E tenant) throws IOException {
    return tenant.open(OBJECT, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM));
  }

  /** The read fails at once, and what it asked for may be asked for again. */
  @ParameterizedTest
  @EnumSource
  void aClientThatThrowsFailsTheReadsThatWaitForIt(Defect defect) throws Exception {
    User user = new User();
    try (S3E tenant = tenant(user);
        S3EInputStream in = open(tenant)) {
      user.defect = defect;
      assertThatThrownBy(() -> readAt(in, 7))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(defect.told)
          .hasMessageNotContaining("deadline");
      user.defect = null;
      readAt(in, 7);
    }
  }

  private void readAt(S3EInputStream in, int block) throws IOException {
    byte[] bytes = new byte[100];
    in.readFullyAt((long) block * BLOCK, bytes, 0, bytes.length);
    assertThat(bytes)
        .isEqualTo(Arrays.copyOfRange(content, block * BLOCK, block * BLOCK + bytes.length));
  }

  private void readAll(S3EInputStream in) throws IOException {
    byte[] bytes = new byte[SIZE];
    in.readFullyAt(0, bytes, 0, SIZE);
    assertThat(Arrays.equals(bytes, content)).isTrue();
  }

  private void requireDenied(S3EInputStream in) {
    for (int block = 0; block < SIZE / BLOCK; block += 9) {
      long position = (long) block * BLOCK;
      assertThatThrownBy(() -> in.readAt(position, new byte[100], 0, 100))
          .hasMessageContaining("403");
    }
  }

  private enum Opened {
    BEFORE,
    AFTER
  }

  private S3EInputStream reopened(Opened when, S3E tenant, S3EInputStream in) throws IOException {
    if (when == Opened.BEFORE) {
      return in;
    }
    in.close();
    return open(tenant);
  }

  @ParameterizedTest
  @EnumSource
  void whatAnotherFetchesIsAskedForAnewAfterAWhile(Opened when) throws Exception {
    User one = new User();
    User two = new User();
    try (S3E first = tenant(one);
        S3E second = tenant(two);
        S3EInputStream in = open(second)) {
      readAt(in, 63);
      pass(AGE);
      try (S3EInputStream all = open(first)) {
        readAll(all);
      }
      two.allowed = false;
      try (S3EInputStream later = reopened(when, second, in)) {
        requireDenied(later);
        two.allowed = true;
        int sent = two.gets();
        readAll(later);
        assertThat(two.gets()).as("one GET for the version").isEqualTo(sent + 1);
      }
    }
  }

  /** Not after a GET for the blocks before it, which would come without it. */
  @Test
  void aBlockThatIsThereForOthersAloneTakesOneGet() throws Exception {
    ObjectRef small = new ObjectRef("bucket", "small");
    User one = new User();
    User two = new User();
    for (User user : List.of(one, two)) {
      user.store.put(small, Arrays.copyOf(content, 16 * BLOCK), "\"v1\"");
    }
    try (S3E first = tenant(one);
        S3E second = tenant(two)) {
      try (S3EInputStream in =
          first.open(small, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
        readAt(in, 5);
      }
      assertThat(one.store.gets()).allMatch(get -> get.range().length() < 16L * BLOCK);
      try (S3EInputStream in = second.open(small, OpenOptions.DEFAULTS)) {
        readAt(in, 5);
      }
      assertThat(two.gets()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatOneselfHasInMemoryIsAskedForAnewAfterAWhile(Opened when) throws Exception {
    User user = new User();
    try (S3E tenant = tenant(user);
        S3EInputStream in = open(tenant)) {
      readAll(in);
      int sent = user.gets();
      pass(AGE.minusNanos(1));
      readAll(in);
      assertThat(user.gets()).as("from memory").isEqualTo(sent);

      user.allowed = false;
      pass(Duration.ofNanos(1));
      try (S3EInputStream later = reopened(when, tenant, in)) {
        requireDenied(later);
        for (int round = 0; round < 3; round++) {
          user.allowed = true;
          sent = user.gets();
          readAt(later, 5);
          readAll(later);
          assertThat(user.gets()).as("one GET for the version").isEqualTo(sent + 1);
          pass(AGE);
          user.allowed = false;
          requireDenied(later);
        }
      }
    }
  }

  /** A block that is in memory may be asked for anew while the store refuses what others ask. */
  @Test
  void whatIsHeldIsAskedForWhileOtherGetsFail() throws Exception {
    ObjectRef other = new ObjectRef(OBJECT.bucket(), "other");
    User user = new User();
    user.store.put(other, content, "\"v1\"");
    try (S3E tenant = tenant(user);
        S3EInputStream held = open(tenant);
        S3EInputStream refused =
            tenant.open(other, OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM))) {
      readAll(held);
      pass(AGE);
      AtomicBoolean refuses = new AtomicBoolean(true);
      user.store.faults(
          (request, number) ->
              refuses.get() && request.object().equals(other)
                  ? Answer.GOOD.failingAfter(-1, Kind.THROTTLED)
                  : Answer.GOOD);
      int before = user.gets();
      CompletableFuture<Void> refusedRead =
          CompletableFuture.runAsync(
              () -> {
                try {
                  readAt(refused, 0);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      awaitTrue(() -> user.gets() >= before + 4);

      readAt(held, 3);

      assertThat(user.store.gets().stream().skip(before).map(GetRequest::object))
          .as("GETs since the answer was too old")
          .filteredOn(OBJECT::equals)
          .hasSize(1);
      refuses.set(false);
      refusedRead.get(30, TimeUnit.SECONDS);
    }
  }

  @Test
  void aVectoredReadAsksOnce() throws Exception {
    User user = new User();
    List<ByteRange> ranges =
        List.of(
            ByteRange.ofLength(0, 100),
            ByteRange.ofLength(20L * BLOCK, 100),
            ByteRange.ofLength(40L * BLOCK, 3 * BLOCK));
    try (S3E tenant = tenant(user);
        S3EInputStream in = open(tenant)) {
      readAll(in);
      pass(AGE);
      int sent = user.gets();
      for (int round = 0; round < 2; round++) {
        List<CompletableFuture<ByteBuffer>> results =
            in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
        for (int i = 0; i < ranges.size(); i++) {
          ByteBuffer got = results.get(i).get(30, TimeUnit.SECONDS);
          int start = (int) ranges.get(i).start();
          assertThat(got.array())
              .isEqualTo(Arrays.copyOfRange(content, start, start + got.remaining()));
        }
      }
      assertThat(user.gets()).as("a GET for each group at most").isBetween(sent + 1, sent + 3);
    }
  }

  @Test
  void aCustomersKeyIsAskedForAnewAsWell() throws Exception {
    User user = new User();
    OpenOptions withKey =
        OpenOptions.DEFAULTS.withHeaders(Map.of(KEY_HEADER, "right")).withPolicy(ReadPolicy.RANDOM);
    try (S3E tenant = tenant(user);
        S3EInputStream in = tenant.open(OBJECT, withKey)) {
      readAll(in);
      pass(AGE);
      int sent = user.gets();
      readAll(in);
      try (S3EInputStream again = tenant.open(OBJECT, withKey)) {
        readAll(again);
      }
      assertThat(user.gets()).as("one GET for the version").isEqualTo(sent + 1);
      pass(AGE);
      user.allowed = false;
      requireDenied(in);
    }
  }

  @Test
  void whoHasTheKeyDoesNotFailWithWhoHasNot() throws Exception {
    User user = new User();
    user.store.faults(
        (get, number) ->
            get.headers().containsKey(KEY_HEADER)
                ? Answer.GOOD
                : Answer.GOOD.failingAfter(-1, Kind.OTHER));
    OpenOptions told =
        OpenOptions.DEFAULTS
            .withSize(SIZE)
            .withVersion("\"v1\"", null)
            .withPolicy(ReadPolicy.RANDOM);
    try (S3E tenant = tenant(user);
        S3EInputStream without = tenant.open(OBJECT, told);
        S3EInputStream with = tenant.open(OBJECT, told.withHeaders(Map.of(KEY_HEADER, "right")))) {
      user.store.hold();
      byte[] got = new byte[10];
      var refused =
          CompletableFuture.runAsync(
              () ->
                  assertThatThrownBy(() -> without.readFullyAt(0, new byte[10], 0, 10))
                      .isNotNull());
      awaitTrue("one GET", () -> user.gets() == 1);
      var read =
          CompletableFuture.runAsync(
              () -> {
                try {
                  with.readFullyAt(0, got, 0, 10);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      awaitTrue("a GET each", () -> user.gets() == 2);
      user.store.open();
      refused.get(20, TimeUnit.SECONDS);
      read.get(20, TimeUnit.SECONDS);
      assertThat(got).isEqualTo(Arrays.copyOf(content, 10));
    }
  }

  @Test
  void otherCredentialsAreAskedForAnewAtOnce() throws Exception {
    User user = new User();
    user.credentials = "first";
    try (S3E tenant = tenant(user);
        S3EInputStream in = open(tenant)) {
      readAll(in);
      user.credentials = "second";
      user.allowed = false;
      requireDenied(in);
      user.allowed = true;
      int sent = user.gets();
      readAll(in);
      assertThat(user.gets()).isEqualTo(sent + 1);
    }
  }

  @Test
  void withoutAnAgeEachOpeningAsks() throws Exception {
    age = Duration.ZERO;
    User user = new User();
    try (S3E tenant = tenant(user)) {
      try (S3EInputStream in = open(tenant)) {
        readAll(in);
        int sent = user.gets();
        readAll(in);
        assertThat(user.gets()).as("of the stream that has asked").isEqualTo(sent);
      }
      for (int i = 0; i < 3; i++) {
        int sent = user.gets();
        try (S3EInputStream in = open(tenant)) {
          readAll(in);
          readAt(in, i);
        }
        assertThat(user.gets()).isEqualTo(sent + 1);
      }
      // A reader in order, with guesses.
      int sent = user.gets();
      try (S3EInputStream in = tenant.open(OBJECT)) {
        assertThat(in.readAllBytes()).isEqualTo(content);
      }
      assertThat(user.gets()).isEqualTo(sent + 1);
      user.allowed = false;
      try (S3EInputStream in = open(tenant)) {
        requireDenied(in);
      }
    }
  }

  private DiskCacheConfig disk(Scope scope) {
    return DiskCacheConfig.DEFAULTS.toBuilder()
        .mode(Mode.DISK)
        .scope(scope)
        .application("application")
        .directories(List.of(directory))
        .capacityBytes(64L << 20)
        // However long it is before a busy machine has read: the disk is not taken to hang.
        .readDeadline(Duration.ofSeconds(30))
        .build();
  }

  /** Less than half of the object fits beside the buffers of the disk. */
  private static MemoryBudget smallBudget(DiskCacheConfig disk) {
    return new MemoryBudget(DiskCache.bufferBytes(disk) + 80L * BLOCK);
  }

  private void fillDisk(User user, S3E tenant, S3EInputStream in) throws Exception {
    readBlocks(tenant, in);
    SlowStore.isRemembered(tenant, user.store, (request, number) -> Answer.GOOD);
    readBlocks(tenant, in);
  }

  private void readBlocks(S3E tenant, S3EInputStream in) throws Exception {
    for (int block = 0; block < SIZE / BLOCK; block++) {
      readAt(in, block);
      DiskWrites.await(tenant, Duration.ofSeconds(30));
    }
  }

  /** Objects of two stores may have one name, and even one ETag. */
  @Slow
  @ParameterizedTest
  @EnumSource
  void thoseWhoNameNoStoreFindNothingOfEachOtherOnDisk(Scope scope) throws Exception {
    DiskCacheConfig disk = disk(scope);
    S3EConfig config = config().store(null).diskCache(disk).build();
    MemoryBudget small = smallBudget(disk);
    User here = new User();
    User elsewhere = new User();
    byte[] other = MemoryObjectClient.bytes(SIZE, 12);
    elsewhere.store.put(OBJECT, other, "\"v1\"");
    try (S3E first = tenant(here, config, small);
        S3E second = tenant(elsewhere, config, small)) {
      DiskWrites.await(first, Duration.ofSeconds(30));
      try (S3EInputStream in = open(first)) {
        fillDisk(here, first, in);
      }
      assertThat(first.metrics().disk().get(Counter.HIT_BYTES)).as("read from disk").isPositive();
      byte[] bytes = new byte[BLOCK];
      try (S3EInputStream in = open(second)) {
        for (int at = 0; at + BLOCK <= SIZE; at += BLOCK) {
          in.readFullyAt(at, bytes, 0, BLOCK);
          assertThat(bytes).isEqualTo(Arrays.copyOfRange(other, at, at + BLOCK));
        }
      }
    }
    awaitTrue("all memory is given back", () -> small.reserved() == 0);
  }

  @Slow
  @ParameterizedTest
  @EnumSource
  void whatOneselfHasOnDiskIsAskedForAnewAfterAWhile(Scope scope) throws Exception {
    User user = new User();
    DiskCacheConfig disk = disk(scope);
    MemoryBudget small = smallBudget(disk);
    try (S3E tenant = tenant(user, config().diskCache(disk).build(), small)) {
      DiskWrites.await(tenant, Duration.ofSeconds(30));
      try (S3EInputStream in = open(tenant)) {
        fillDisk(user, tenant, in);
        long hits = tenant.metrics().disk().get(Counter.HIT_BYTES);
        assertThat(hits).as("read from disk").isPositive();
        pass(AGE);
        user.allowed = false;
        requireDenied(in);
        try (S3EInputStream other = open(tenant)) {
          requireDenied(other);
        }
        user.allowed = true;
        int sent = user.gets();
        for (int block = 0; block < SIZE / BLOCK; block++) {
          readAt(in, block);
        }
        assertThat(user.gets()).as("one GET for the version").isEqualTo(sent + 1);
        assertThat(tenant.metrics().disk().get(Counter.HIT_BYTES)).isGreaterThan(hits);
      }
    }
    awaitTrue("all memory is given back", () -> small.reserved() == 0);
  }
}
