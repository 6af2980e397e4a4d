package io.s3e.fetch;

import io.s3e.block.ObjectVersion;
import io.s3e.client.ObjectClient;
import io.s3e.client.RequestFailure;
import io.s3e.memory.Account;
import io.s3e.memory.Admission;
import io.s3e.memory.BlockIndex;
import io.s3e.metrics.EngineMetrics;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * One tenant of an engine, as its runs see it: client, patience, account and counters of its own,
 * and what it shares with the others ({@link FetchServices}). Knows no run and no reader.
 *
 * <p>Any thread. Open, then closed for good; a cache on local disk may come while it is open.
 */
public final class Tenant {
  /** S3 asks to slow down for a reason: wait longer than after a lost connection. */
  private static final int THROTTLED_FACTOR = 5;

  private final FetchConfig config;
  private final ObjectClient client;
  private final FetchServices services;
  private final Account account;
  private final EngineMetrics metrics;
  private final Proofs proofs = new Proofs(System::nanoTime);

  /** The holder of blocks that only this tenant may see; light, since their names hold it. */
  private final Object holder = new Object();

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

  Account account() {
    return account;
  }

  EngineMetrics metrics() {
    return metrics;
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

  /** How many attempts in a row a run may make without a new block, if they fail like this. */
  int mostAttempts(IOException failure) {
    return failure instanceof RequestFailure request && !Failures.isForTheReader(request.getCause())
        ? request.mostAttempts(config.maxAttempts())
        : 1;
  }

  /**
   * Pause before the next attempt after {@code attempts} of them, in ns, with jitter.
   *
   * @param failure of the last one
   */
  long pauseNanos(int attempts, IOException failure) {
    boolean throttled =
        failure instanceof RequestFailure request
            && request.kind() == RequestFailure.Kind.THROTTLED;
    long base = config.retryBase().toNanos() * (throttled ? THROTTLED_FACTOR : 1);
    long grown = base << Math.min(attempts - 1, 20);
    long cap = config.retryCap().toNanos();
    long capped = grown < base ? cap : Math.min(grown, cap);
    return capped <= 1 ? capped : capped / 2 + ThreadLocalRandom.current().nextLong(capped / 2 + 1);
  }

  /** Runs {@code task} on the timer after {@code nanos} ns; false if the tenant is closing. */
  boolean later(Runnable task, long nanos) {
    return timer().later(task, nanos) && !closed;
  }

  boolean isClosed() {
    return closed;
  }

  void close() {
    closed = true;
    account.close();
  }
}
