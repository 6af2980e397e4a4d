// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.BlockRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.ClientLimits;
import io.s3e.client.RequestFailure;
import io.s3e.disk.DiskRead;
import io.s3e.fault.Gate;
import io.s3e.memory.Admission;
import io.s3e.memory.Block;
import io.s3e.memory.Grant;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds blocks in memory, joins fetches that are under way, and starts new ones: the one way from a
 * reader to S3. Shared by all streams of one {@link Tenant} of an engine.
 *
 * <p>The path of one block: {@link #find} in the index; else {@link #demand} starts a run for it
 * (waiting for memory if it must) and {@link #await} waits for the bytes, with a deadline. {@link
 * #prefetch} starts runs only as far as {@link Admission} has room, and never waits.
 *
 * <p>The path of one run, each step once: the {@link Resolver} says how far it goes and what memory
 * that needs, {@link Admission} grants it, and a {@link RunFetch} brings the bytes. Before it is
 * admitted, a run passes the {@link Gate}: what waits there holds no pin, no memory and no place.
 *
 * <p>Any thread. Readers wait on their block alone; pauses and deadlines are {@link FetchTimer}'s.
 */
public final class Fetcher implements FetchTimer.Watched, AutoCloseable {
  /** Whose streams share this. */
  public final Tenant tenant;

  private final VisibleBlocks memory;
  private final Resolver resolver;
  private final ReaderWaits waits;
  private final Set<RunFetch> running = ConcurrentHashMap.newKeySet();

  /** Reads from disk that no thread waits for. */
  private final Map<DiskBytes, Runnable> fromDisk = new ConcurrentHashMap<>();

  /** Closed with its fetcher. */
  public Fetcher(Tenant tenant) {
    this.tenant = tenant;
    this.memory = new VisibleBlocks(tenant);
    ClientLimits limits = tenant.account.carrier().limits();
    RunSizing sizing =
        new RunSizing(tenant.config.blockBytes(), tenant.config.requestBytes(), limits);
    this.resolver = new Resolver(tenant, memory, sizing);
    this.waits = new ReaderWaits(tenant);
    tenant.timer.watch(this);
  }

  /** The tenant's own latest GETs of an object, the latest first. */
  public List<GetRecord> latestGets(ObjectRef of) {
    List<GetRecord> gets = tenant.ledger.latest(of, GetLedger.CAPACITY);
    gets.removeIf(get -> get.reader.tenant() != tenant.holder);
    return gets;
  }

  /**
   * How much one of {@code windows} readers may have in flight ahead of it, in bytes. At least one
   * long request, which a crowd of readers takes turns at; the memory bounds them all together.
   */
  public long windowBytes(int windows) {
    long share = tenant.admission.speculativeBytes(tenant.account) / Math.max(1, windows);
    return Math.max(share, tenant.account.carrier().limits().lentSlotBytes());
  }

  /** How many long requests one of {@code windows} readers may have in flight as its share. */
  public int windowRequests(int windows) {
    return Math.max(1, tenant.account.mostLongGuesses() / Math.max(1, windows));
  }

  /**
   * The block under this name, pinned; null if it is not in memory and not on its way, or if this
   * tenant may not read it, or has to ask S3 first.
   */
  public @Nullable Block find(ObjectHandle handle, long block) {
    return memory.find(handle, block);
  }

  /** Whether the block is to be fetched from S3: it is nowhere, for whomever. */
  public boolean isAbsent(ObjectHandle handle, long block) {
    return resolver.isAbsent(handle, block);
  }

  /** A stream is about to read through the handle: it profits from what was proven before. */
  public void opened(ObjectHandle handle) {
    memory.opened(handle);
  }

  /**
   * Starts fetching what is absent of {@code wanted}, as far as there is room, nearest first.
   *
   * @param purpose whether a reader has asked for these bytes, or they are a guess
   * @param started gets each run that was started
   * @return the first block that was neither there nor started; {@code wanted.end()} or more if all
   *     were
   */
  public long prefetch(
      ObjectHandle handle, BlockRange wanted, Purpose purpose, Consumer<RunFetch> started) {
    if (wanted.first() >= wanted.end()) {
      return wanted.end();
    }
    if (!resolver.mayRunAhead(handle, wanted.first())) {
      tenant.refused(handle, purpose);
      return wanted.first();
    }
    return start(handle, wanted, purpose, started);
  }

  /**
   * As {@link #prefetch}, of an object that nobody has opened: a guess that is the first to ask for
   * the version, so that it waits for nobody's answer.
   */
  public long announce(ObjectHandle handle, BlockRange wanted, Consumer<RunFetch> started) {
    return start(handle, wanted, Purpose.GUESS, started);
  }

  /**
   * As {@link #prefetch}, of guesses that are of use together only: all that is absent of them is
   * granted before any of it is sent. False if there was no room for all, and nothing was started.
   */
  public boolean prefetchAll(
      ObjectHandle handle, List<BlockRange> wanted, Consumer<RunFetch> started) {
    Deque<Grant> granted = new ArrayDeque<>();
    try {
      List<BlockRange> runs = new ArrayList<>();
      for (BlockRange each : wanted) {
        BlockRange run = resolver.absent(handle, each.first(), each.end());
        for (; run != null; run = resolver.absent(handle, run.end(), each.end())) {
          boolean mayRun = resolver.mayRunAhead(handle, each.first());
          Grant grant = mayRun ? guess(handle, run, Purpose.GUESS, granted.size()) : null;
          if (grant == null) {
            tenant.refused(handle, Purpose.GUESS);
            return false;
          }
          granted.add(grant);
          runs.add(run);
        }
      }
      for (BlockRange run : runs) {
        long sent = run.first() + send(handle, run, granted.remove(), started);
        // Others may have entered a block of it meanwhile.
        long unused = start(handle, new BlockRange(sent, run.end()), Purpose.GUESS, started);
      }
      return true;
    } finally {
      granted.forEach(Grant::giveBack);
    }
  }

  private long start(
      ObjectHandle handle, BlockRange wanted, Purpose purpose, Consumer<RunFetch> started) {
    BlockRange run = resolver.absent(handle, wanted.first(), wanted.end());
    while (run != null) {
      Grant grant = guess(handle, run, purpose, 0);
      if (grant == null) {
        tenant.refused(handle, purpose);
        return run.first();
      }
      long sent = run.first() + send(handle, run, grant, started);
      run = resolver.absent(handle, sent, wanted.end());
    }
    return wanted.end();
  }

  /** A grant for one more guess, where {@code unsent} others are to be sent with it. */
  private @Nullable Grant guess(ObjectHandle handle, BlockRange run, Purpose purpose, int unsent) {
    ObjectRef object = handle.version.object();
    if (tenant.gate(object).admitsGuess(unsent)) {
      return tenant.admission.trySpeculate(
          tenant.account, object, resolver.need(handle, run), purpose);
    }
    if (purpose == Purpose.GUESS) {
      tenant.metrics.count(Counter.GATE_REFUSED);
    }
    return null;
  }

  /** How many blocks were entered and are on their way. */
  private int send(ObjectHandle handle, BlockRange run, Grant grant, Consumer<RunFetch> started) {
    RunFetch fetch = enter(handle, run, grant);
    if (fetch == null) {
      return 0;
    }
    begin(fetch, started);
    return fetch.blocks().size();
  }

  /** Tells of a run whose blocks are in the index, and sends it; ends it if that fails. */
  private static void begin(RunFetch fetch, Consumer<RunFetch> started) {
    try {
      started.accept(fetch);
    } catch (RuntimeException | Error e) {
      fetch.cancel(Failures.broke("GET " + fetch.range(), e));
      throw e;
    }
    fetch.send();
  }

  /**
   * Begins to read the bytes from {@code position} on that are on disk and not in memory, into the
   * reader's own memory.
   *
   * @param target takes them, from its position to its limit at most
   * @param goesOn whether a reader in order will go on behind them
   * @return null if the first byte is to be looked for in memory or asked of S3
   */
  public @Nullable DiskBytes fromDisk(
      ObjectHandle handle, long position, ByteBuffer target, boolean goesOn) {
    DiskTier disk = tenant.disk();
    if (disk == null || memory.isPresent(handle, handle.layout.blockAt(position))) {
      return null;
    }
    DiskRead read = disk.read(handle, position, target, goesOn);
    if (read == null) {
      handle.progress.onDisk(0);
      return null;
    }
    return new DiskBytes(tenant, disk, handle, read, target.remaining(), fromDisk);
  }

  /**
   * Starts fetching {@code asked}, as far as one request goes, for a reader that waits for {@code
   * awaited} of it, which comes first where memory is little. Waits at the gate, and for memory.
   *
   * @param ahead block up to which the reader was to prefetch, at least the end of {@code asked};
   *     taken along where a guess would be refused. It then counts as asked for, not as prefetch
   * @return the first block of the run, pinned, perhaps of another thread's; null if it must be
   *     looked up, or if others wait for the thread and the object may have no more places
   */
  public @Nullable Block demand(
      ObjectHandle handle,
      BlockRange asked,
      long awaited,
      long ahead,
      Patience patience,
      Consumer<RunFetch> started)
      throws IOException {
    waits.requireOpen(handle);
    long block = asked.first();
    boolean isThere = memory.makeWay(handle, block);
    Block quicker = isThere ? find(handle, block) : null;
    if (quicker != null || (isThere && awaitProof(handle, patience))) {
      return quicker;
    }
    // Where a guess would be refused, what was to be guessed goes along: one long GET in place of
    // many short ones is what a crowd of readers shares the connections best by.
    boolean takesAhead = ahead > asked.end() && tenant.admission.isCrowded(tenant.account);
    BlockRange wanted = takesAhead ? new BlockRange(block, ahead) : asked;
    if (!tenant.gate(handle.version.object()).isOpen()) {
      if (!waits.atGate(handle, patience)) {
        return null;
      }
      Block come = find(handle, block);
      if (come != null || (!isThere && memory.isPresent(handle, block))) {
        return come;
      }
    }
    BlockRange run = resolver.run(handle, wanted);
    Grant grant = waits.forMemory(handle, resolver.need(handle, run), patience);
    run = grant == null ? run : resolver.reaching(awaited, run, grant.leases().size());
    RunFetch fetch = grant == null ? null : enter(handle, run, grant);
    if (fetch == null) {
      return null;
    }
    Block first = fetch.blocks().get(0);
    if (isThere) {
      handle.asksBy(first);
    }
    boolean pinned = first.tryPin();
    begin(fetch, started);
    return pinned ? first : null;
  }

  /**
   * Waits for the GET that another reader of the handle's has sent, so that S3 is asked once for a
   * version and not for each block; false if there is none under way.
   */
  private boolean awaitProof(ObjectHandle handle, Patience patience) throws IOException {
    Block asking = handle.asking;
    if (asking == null || !asking.isFetching() || !asking.tryPin()) {
      return false;
    }
    try (Arrival arrival = join(asking)) {
      boolean unused = arrival != null && await(handle, arrival, patience);
    }
    return true;
  }

  /**
   * Enters a run's blocks into the index, as many in a row as nobody else has entered meanwhile.
   * Null if that is none; the grant is given back then.
   */
  private @Nullable RunFetch enter(ObjectHandle handle, BlockRange run, Grant grant) {
    BlockRange granted = resolver.granted(run, grant.leases().size());
    RunFetch fetch = RunFetch.enter(tenant, handle, grant, running, granted);
    if (fetch != null && tenant.isClosed()) {
      fetch.cancel(ReaderWaits.engineClosed());
    }
    return fetch;
  }

  /**
   * Waits until an expected block is ready; false as {@link Arrival#isReady} tells, or if it is
   * another tenant's and late: the reader should ask for the block itself.
   */
  public boolean await(ObjectHandle handle, Arrival arrival, Patience patience) throws IOException {
    return waits.forBlock(handle, arrival, patience);
  }

  /**
   * A reader expects a pinned block, whose pin the arrival takes over. Null if the block's fetch
   * has been given up, and the reader should ask for the block itself; the pin is ended then.
   */
  public @Nullable Arrival join(Block pinned) {
    Origin origin = Origin.of(pinned);
    boolean hasJoined = !pinned.isReady() && origin.join();
    if (hasJoined || pinned.isReady()) {
      return new Arrival(pinned, !origin.isOf(tenant), hasJoined);
    }
    pinned.unpin();
    return null;
  }

  /** Whether a pinned block becomes ready within {@code nanos} ns, however its fetch may end. */
  public boolean isReadyWithin(Block block, long nanos) throws IOException {
    return waits.isSettledWithin(block, nanos) && block.isReady();
  }

  /**
   * Ends a read that has asked again and again, if its time is over: with {@code last}, the end of
   * the last fetch, where that is an error.
   */
  public void checkDeadline(ObjectHandle handle, @Nullable Exception last, Patience patience)
      throws IOException {
    patience.lastFailure = last;
    if (!patience.isOverNow()) {
      return;
    }
    waits.requireOpen(handle);
    if (last != null && !Failures.isNobodysError(last)) {
      throw Failures.asIoException(last);
    }
    String why = last == null ? "" : ", the last one because " + last.getMessage();
    String late = "no fetch of it came to its end before the read's deadline" + why;
    throw RequestFailure.timedOut(ReaderWaits.subject(handle), late);
  }

  @Override
  public void tick(long now, long lateNanos) {
    for (RunFetch run : running) {
      run.checkDeadline(now, lateNanos);
    }
    // Leaves a disk behind that is too slow.
    fromDisk.keySet().forEach(bytes -> bytes.read.checkDeadline(now - lateNanos));
  }

  /** Ends what is in flight, also of disks; evicts what was fetched; streams fail. Idempotent. */
  @Override
  public void close() {
    tenant.close();
    tenant.timer.forget(this);
    fromDisk.values().forEach(Runnable::run);
    running.forEach(run -> run.cancel(ReaderWaits.engineClosed()));
    tenant.admission.evict(tenant.account.carrier(), block -> Origin.of(block).isOf(tenant));
  }
}
