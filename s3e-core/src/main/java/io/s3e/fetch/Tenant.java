package io.s3e.fetch;

import io.s3e.block.ObjectRef;
import io.s3e.block.ObjectVersion;
import io.s3e.client.ObjectClient;
import io.s3e.fault.Gate;
import io.s3e.fault.Gates;
import io.s3e.fault.GetTimes;
import io.s3e.fault.HedgeBudget;
import io.s3e.memory.Account;
import io.s3e.memory.Admission;
import io.s3e.memory.BlockIndex;
import io.s3e.metrics.EngineMetrics;
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
  private final Proofs proofs = new Proofs(System::nanoTime);
  private final GetTimes times = new GetTimes();
  private final HedgeBudget hedges = new HedgeBudget(System::nanoTime);

  /** The holder of blocks that only this tenant may see; light, since their names hold it. */
  private final Object holder = new Object();

  /** Shared by the tenants that name the same store. */
  private final Gates gates;

  private volatile @Nullable OnDisk onDisk;
  private volatile boolean closed;

  /** The two directions of the cache on local disk. */
  private record OnDisk(DiskTier tier, Spiller spiller) {}

  /**
   * @param account the tenant's, in {@code services}' admission; closed with this
   */
  public Tenant(
      FetchConfig config,
      ObjectClient client,
      FetchServices services,
      Account account,
      EngineMetrics metrics) {
    this.config = config;
    this.client = client;
    this.services = services;
    this.account = account;
    this.metrics = metrics;
    this.gates = config.store() == null ? new Gates(services.timer()::later) : services.gates();
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

  /** The gate before an object's bucket. */
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

  /** How long its GETs take. */
  GetTimes times() {
    return times;
  }

  /** The GETs that it may send twice. */
  HedgeBudget hedges() {
    return hedges;
  }

  Proofs proofs() {
    return proofs;
  }

  Object holder() {
    return holder;
  }

  Spiller attach(TenantDisk disk) {
    DiskTier tier = new DiskTier(disk, proofs, metrics.disk());
    Spiller spiller = new Spiller(tier, metrics.disk());
    onDisk = new OnDisk(tier, spiller);
    return spiller;
  }

  /** The cache on local disk; null if there is none. */
  @Nullable DiskTier disk() {
    OnDisk now = onDisk;
    return now == null ? null : now.tier();
  }

  /** The way of blocks to local disk; null if there is no cache there. */
  @Nullable Spiller spiller() {
    OnDisk now = onDisk;
    return now == null ? null : now.spiller();
  }

  /** S3 has accepted a GET for what {@code handle} reads. */
  void answered(ObjectHandle handle) {
    handle.answered();
    if (!handle.hasCustomerKey()) {
      handle.proven();
      ObjectVersion version = handle.knownVersion();
      if (version != null) {
        proofs.add(version);
      }
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
