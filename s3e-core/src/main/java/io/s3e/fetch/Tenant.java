// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.ObjectClient;
import io.s3e.fault.Gate;
import io.s3e.fault.Gates;
import io.s3e.fault.GetTimes;
import io.s3e.fault.HedgeBudget;
import io.s3e.fault.Stores;
import io.s3e.memory.Account;
import io.s3e.memory.Admission;
import io.s3e.memory.BlockIndex;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One tenant of an engine, as its runs see it: client, patience, account and counters of its own,
 * and what it shares with the others ({@link FetchServices}). Knows no run and no reader.
 *
 * <p>Any thread. Open, then closed for good; a cache on local disk may come while it is open.
 */
public final class Tenant {
  private final FetchConfig config;
  private final ObjectClient client;
  private final FetchServices services;
  private final Account account;
  private final EngineMetrics metrics;
  private final Proofs proofs;

  /** The holder of blocks that only this tenant may see; light, since their names hold it. */
  private final Object holder = new Object();

  /** Shared by the tenants that name the same store. */
  private final Stores.Known store;

  /** Shared by the tenants that name the same store. */
  private final Gates gates;

  private volatile @Nullable OnDisk onDisk;
  private volatile boolean closed;

  /** The two directions of the cache on local disk. */
  private record OnDisk(DiskTier tier, Spiller spiller) {}

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
    this.services = services;
    this.account = account;
    this.metrics = metrics;
    this.proofs = new Proofs(config.accessMaxAge(), client::credentials, nanoClock);
    this.gates = config.store() == null ? new Gates(services.timer()::later) : services.gates();
    this.store = config.store() == null ? Stores.ofOne() : services.stores().of(config.store());
  }

  FetchConfig config() {
    return config;
  }

  ObjectClient client() {
    return client;
  }

  BlockIndex index() {
    return services.index();
  }

  Admission admission() {
    return services.admission();
  }

  FetchTimer timer() {
    return services.timer();
  }

  Gate gate(ObjectRef object) {
    String store = config.store();
    return gates.of(store == null ? holder : store, object.bucket());
  }

  Account account() {
    return account;
  }

  EngineMetrics metrics() {
    return metrics;
  }

  GetTimes times() {
    return store.times();
  }

  HedgeBudget hedges() {
    return store.hedges();
  }

  GetLedger ledger() {
    return services.ledger();
  }

  Proofs proofs() {
    return proofs;
  }

  Object holder() {
    return holder;
  }

  /**
   * From now on blocks that come from S3 go to {@code disk} where they are worth it, and are looked
   * for there before S3 is asked. The cache is closed by the caller, after this.
   */
  public void attach(TenantDisk disk) {
    DiskTier tier = new DiskTier(disk, proofs, metrics);
    Spiller spiller = new Spiller(tier, services.index(), metrics.disk());
    // First seen by runs that end, then told of those that have ended: so each is offered.
    onDisk = new OnDisk(tier, spiller);
    services
        .index()
        .forEach(
            block -> {
              Origin origin = Origin.of(block);
              if (origin.isOf(this)) {
                spiller.arrivedBefore(origin, block);
              }
            });
  }

  /** The first GET of a run is about to be sent, for {@code missing}. */
  void fetches(Origin origin, ByteRange missing) {
    OnDisk now = onDisk;
    if (now == null) {
      return;
    }
    if (now.tier().missed(origin.handle(), missing)) {
      origin.fetchesAgain();
    }
    if (now.spiller().isWorth(origin, missing)) {
      origin.spill();
    }
  }

  @Nullable DiskTier disk() {
    OnDisk now = onDisk;
    return now == null ? null : now.tier();
  }

  @Nullable Spiller spiller() {
    OnDisk now = onDisk;
    return now == null ? null : now.spiller();
  }

  /** S3 has accepted a GET for what {@code handle} reads; as {@link Proofs#answered}. */
  void answered(ObjectHandle handle, @Nullable Object credentials) {
    account.carrier().answered(handle.version().object());
    proofs.answered(handle, credentials);
  }

  /** Bytes that came for {@code handle} are of no use to anybody. */
  void discarded(ObjectHandle handle, long bytes) {
    if (bytes > 0) {
      metrics.add(Counter.DISCARDED_BYTES, bytes);
      metrics.add(Counter.WASTED_BYTES, bytes);
      handle.listener().onDiscarded(bytes);
    }
  }

  boolean isClosed() {
    return closed;
  }

  void close() {
    closed = true;
    account.close();
  }
}
