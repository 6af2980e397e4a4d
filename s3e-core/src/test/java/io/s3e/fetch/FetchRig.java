// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.BlockLayout;
import io.s3e.block.BlockRange;
import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.fault.FaultPolicy;
import io.s3e.fault.Stores;
import io.s3e.memory.Account;
import io.s3e.memory.Admission;
import io.s3e.memory.Block;
import io.s3e.memory.BlockIndex;
import io.s3e.memory.Counts;
import io.s3e.memory.Grant;
import io.s3e.memory.Need;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.StreamListener;
import io.s3e.prefetch.PrefetchLimits;
import io.s3e.prefetch.ReadPlanner;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.prefetch.ReaderHabit;
import io.s3e.testing.MemoryObjectClient;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A fetcher over a {@link ScriptedClient}, small blocks, short pauses, and the reading of one block
 * as streams do it. {@link #close()} checks what must hold after every test: no memory is out, no
 * lent buffer is out, and no exception but a refusal came out of a handler.
 */
final class FetchRig implements AutoCloseable {
  static final int BLOCK = 1 << 10;
  static final int REQUEST_BLOCKS = 4;
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(30);
  private static final String STORE = "store";
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  final byte[] content;
  final ScriptedClient client;
  final MemoryBudget budget;
  final BlockPool pool;
  final EngineMetrics metrics = new EngineMetrics();
  final Admission admission;
  final BlockIndex index;
  final Account account;
  final GetLedger ledger = new GetLedger(true, null);
  private final FetchTimer timer = new FetchTimer();

  /** What the clock of proofs is ahead. */
  final AtomicLong aheadNanos = new AtomicLong();

  final Tenant tenant;
  final Fetcher fetcher;

  private final ObjectVersion version;

  /** All of the object fits into memory. */
  static FetchRig copying(int blocks) {
    return new FetchRig(
        blocks, blocks * 2, ClientLimits.copying(REQUEST_BLOCKS * BLOCK, 64, 0), 500);
  }

  /**
   * @param blocks size of the object
   * @param memoryBlocks size of the pool
   * @param stallMillis silence until an attempt is given up
   */
  FetchRig(int blocks, int memoryBlocks, ClientLimits limits, long stallMillis) {
    this(blocks, memoryBlocks, limits, stallMillis, READ_TIMEOUT, false);
  }

  /** A reader, and a run for one, is given up after so long. */
  static FetchRig impatient(int blocks, Duration readTimeout) {
    ClientLimits limits = ClientLimits.copying(REQUEST_BLOCKS * BLOCK, 64, 0);
    return new FetchRig(blocks, blocks * 2, limits, 60_000, readTimeout, false);
  }

  /** Silence is not noticed, and GETs that are late are sent twice. */
  static FetchRig hedging(int blocks) {
    ClientLimits limits = ClientLimits.copying(REQUEST_BLOCKS * BLOCK, 64, 0);
    return new FetchRig(blocks, blocks * 2, limits, 60_000, READ_TIMEOUT, true);
  }

  private FetchRig(
      int blocks,
      int memoryBlocks,
      ClientLimits limits,
      long stallMillis,
      Duration readTimeout,
      boolean hedges) {
    this.content = MemoryObjectClient.bytes(blocks * BLOCK, blocks);
    this.client = new ScriptedClient(content, limits);
    this.budget = new MemoryBudget((long) memoryBlocks * BLOCK);
    this.pool = new BlockPool(budget, BLOCK, memoryBlocks);
    this.version = ObjectVersion.identified(OBJECT, content.length, ScriptedClient.ETAG, null);
    BlockIndex index = new BlockIndex();
    this.admission = new Admission(budget, pool, index);
    this.account = admission.account(admission.carrier(limits));
    FetchConfig config =
        new FetchConfig(
            BLOCK,
            REQUEST_BLOCKS * BLOCK,
            new FaultPolicy(Duration.ofNanos(1_000), Duration.ofMillis(2)),
            Duration.ofMillis(stallMillis),
            readTimeout,
            Proofs.LONGEST_LIFE,
            STORE);
    this.index = index;
    Stores stores = new Stores(timer::later);
    // A machine with all processors busy makes GETs late, and a late GET is sent twice: these tests
    // count GETs. HedgedReadsTest is about the second ones.
    if (!hedges) {
      stores.of(STORE).hedges().throttled();
    }
    this.tenant =
        new Tenant(
            config,
            client,
            new FetchServices(index, admission, timer, stores, ledger),
            account,
            metrics,
            () -> System.nanoTime() + aheadNanos.get());
    this.fetcher = new Fetcher(tenant);
  }

  ObjectHandle open() {
    return open(version);
  }

  /** A reader whose listener the fetch layer is not kept from. */
  ObjectHandle open(StreamListener listener) {
    return open(version, listener);
  }

  /** Another object with the same bytes. */
  ObjectHandle open(String key) {
    ObjectRef object = new ObjectRef(OBJECT.bucket(), key);
    return open(ObjectVersion.identified(object, content.length, ScriptedClient.ETAG, null));
  }

  /** The opener knows the size and no ETag. */
  ObjectHandle openWithoutEtag() {
    return open(ObjectVersion.unidentified(OBJECT, version.size(), null));
  }

  ObjectHandle open(ObjectVersion version) {
    return open(version, StreamListener.NONE);
  }

  private ObjectHandle open(ObjectVersion version, StreamListener listener) {
    BlockLayout layout = new BlockLayout(version.size(), BLOCK);
    PrefetchLimits limits = PrefetchLimits.defaults(BLOCK, REQUEST_BLOCKS * BLOCK);
    ReadPlanner planner = new ReadPlanner(layout, ReadPolicy.ADAPTIVE, null, limits);
    return new ObjectHandle(
        version,
        layout,
        Map.of(),
        null,
        listener,
        ObjectHandle.counts(metrics, listener),
        new ReaderProgress(planner.pattern(), new ReaderHabit()));
  }

  /** Reads one block as a stream does; fetches up to {@code end} with it if it is absent. */
  byte[] read(ObjectHandle handle, long block, long end, Consumer<RunFetch> started)
      throws IOException {
    Patience patience = new Patience(tenant.config.readTimeout());
    for (; ; ) {
      Block found = fetcher.find(handle, block);
      if (found == null) {
        found = fetcher.demand(handle, new BlockRange(block, end), block, end, patience, started);
        if (found == null) {
          continue;
        }
      }
      try (Arrival arrival = fetcher.join(found)) {
        if (arrival != null && fetcher.await(handle, arrival, patience)) {
          found.touch();
          byte[] bytes = new byte[found.length()];
          found.copyTo(0, ByteBuffer.wrap(bytes), bytes.length);
          return bytes;
        }
      }
    }
  }

  /** The memory of a run of so many blocks, to be entered and sent later. */
  Grant grant(ObjectHandle handle, int blocks) {
    Need need = new Need(blocks, Need.MemoryKind.POOLED);
    return admission.trySpeculate(account, handle.version.object(), need, Purpose.ASKED);
  }

  /** A run whose blocks are entered, and that is not sent yet; null if there are none. */
  @Nullable RunFetch run(
      ObjectHandle handle, Grant grant, Set<RunFetch> running, BlockRange blocks) {
    return RunFetch.enter(tenant, handle, grant, running, blocks);
  }

  byte[] read(ObjectHandle handle, long block) throws IOException {
    return read(handle, block, block + 1, run -> {});
  }

  /** Runs in a thread of its own. */
  static <T> CompletableFuture<T> async(Callable<T> task) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                result.complete(task.call());
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    return result;
  }

  void requireRight(byte[] got, long block) {
    int start = (int) block * BLOCK;
    if (!Arrays.equals(got, Arrays.copyOfRange(content, start, start + BLOCK))) {
      throw new AssertionError("wrong bytes in block " + block);
    }
  }

  @Override
  public void close() throws InterruptedException {
    fetcher.close();
    client.awaitQuiet();
    client.close();
    timer.close();
    account.carrier().close();
    admission.close();
    pool.close();
    assertThat(client.violations()).isEmpty();
    assertThat(client.lentOut()).as("lent buffers out").isZero();
    assertThat(pool.leased()).as("pooled buffers out").isZero();
    assertThat(budget.reserved()).as("bytes reserved").isZero();
    assertThat(Counts.blocks(index)).as("blocks in the index").isZero();
  }
}
