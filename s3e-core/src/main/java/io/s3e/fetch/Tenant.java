// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ObjectRef;
import io.s3e.client.ObjectClient;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.fault.Gate;
import io.s3e.fault.Stores;
import io.s3e.memory.Account;
import io.s3e.memory.Admission;
import io.s3e.memory.BlockIndex;
import io.s3e.memory.Purpose;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One tenant of an engine, as its runs see it: client, patience, account and counters of its own,
 * and what it shares with the others ({@link FetchServices}). Knows no run and no reader.
 *
 * <p>Any thread. Open, then closed for good; a cache on local disk may come while it is open.
 */
public final class Tenant {
  public final FetchConfig config;
  final ObjectClient client;
  final BlockIndex index;
  final Admission admission;
  public final FetchTimer timer;
  final GetLedger ledger;
  final Account account;
  public final EngineMetrics metrics;
  final Proofs proofs;

  /** The holder of blocks that only this tenant may see; light, since their names hold it. */
  public final Object holder = new Object();

  /** Shared by the tenants that name the same store. */
  final Stores.Known store;

  /** The engine's, or this tenant's own if it names no store. */
  private final Stores stores;

  private final Object storeName;

  volatile @Nullable Spiller spiller;
  private volatile boolean closed;

  /** {@code account} is closed with this; {@code nanoClock} tells how old proofs are. */
  public Tenant(
      FetchConfig config,
      ObjectClient client,
      FetchServices services,
      Account account,
      EngineMetrics metrics,
      LongSupplier nanoClock) {
    this.config = config;
    this.client = client;
    this.index = services.index();
    this.admission = services.admission();
    this.timer = services.timer();
    this.ledger = services.ledger();
    this.account = account;
    this.metrics = metrics;
    this.proofs = new Proofs(config.accessMaxAge(), client::credentials, nanoClock);
    String named = config.store();
    this.stores = named == null ? new Stores(timer::later) : services.stores();
    this.storeName = named == null ? holder : named;
    this.store = stores.of(storeName);
  }

  Gate gate(ObjectRef object) {
    return stores.gate(storeName, object.bucket());
  }

  /**
   * From now on blocks that come from S3 go to {@code cache} where they are worth it, and are
   * looked for there before S3 is asked. The cache is closed by the caller, after this.
   *
   * @param use which of the tenant's blocks may go there
   * @param isAlone whether nobody else writes to the cache, so that all that is in it was fetched
   *     by this tenant
   */
  public void attach(DiskCache cache, DiskCacheConfig use, BooleanSupplier isAlone) {
    // One that names no store shares with nobody, on disk neither.
    String name = config.store() == null ? UUID.randomUUID().toString() : config.store();
    DiskTier tier = new DiskTier(cache, use, isAlone, name, proofs, metrics.disk());
    Spiller begun = new Spiller(tier, index);
    // First seen by runs that end, then told of those that have ended: so each is offered.
    spiller = begun;
    index.forEach(
        block -> {
          if (Origin.of(block).isOf(this)) {
            begun.arrivedBefore(block);
          }
        });
  }

  @Nullable DiskTier disk() {
    Spiller now = spiller;
    return now == null ? null : now.tier();
  }

  /** A guess finds no room; what a reader has asked for, it will ask for again. */
  void refused(ObjectHandle handle, Purpose purpose) {
    if (purpose == Purpose.GUESS) {
      handle.count(Counter.PREFETCH_REFUSED, 1);
    }
  }

  /** Bytes that came for {@code handle} are of no use to anybody. */
  void discarded(ObjectHandle handle, long bytes) {
    if (bytes > 0) {
      handle.count(Counter.DISCARDED_BYTES, bytes);
      handle.count(Counter.WASTED_BYTES, bytes);
    }
  }

  public boolean isClosed() {
    return closed;
  }

  void close() {
    closed = true;
    account.close();
  }
}
