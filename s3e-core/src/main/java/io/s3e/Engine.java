package io.s3e;

import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.columnar.LayoutMemory;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.fault.Gates;
import io.s3e.fetch.FetchServices;
import io.s3e.fetch.FetchTimer;
import io.s3e.memory.Admission;
import io.s3e.memory.BlockIndex;
import io.s3e.metrics.DiskMetrics;
import io.s3e.stream.Askers;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine of a memory budget, and so of the JVM: one pool, one admission, one index of blocks,
 * one timer, one cache on local disk, the threads of vectored reads, and the transports of the
 * clients. Tenants ({@link S3E}) come and go; the first one makes it, the last one to leave closes
 * it, and the next one makes another.
 *
 * <p><b>What is the JVM's.</b> Memory budget, block size and the place of the disk cache are those
 * of the first tenant until the engine closes; a tenant that asks for others is told so once.
 * Everything else is a tenant's own.
 *
 * <p><b>Memory.</b> The JVM's budget is that of all class loaders with an engine: each has one of
 * its own, and the pooled buffers of all give back to each other.
 *
 * <p><b>States.</b> <i>Open</i>, with at least one tenant; <i>closed</i>. Tenants are counted under
 * the lock of {@link #OPEN}, which is held for counting alone; clients are made by {@link
 * EngineClients}.
 */
final class Engine {
  private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

  /** Engines by their budget. Guarded by itself. */
  private static final Map<MemoryBudget, Engine> OPEN = new IdentityHashMap<>();

  /** The budget of the JVM's engine while there is one. Guarded by {@link #OPEN}. */
  private static @Nullable MemoryBudget ofJvm;

  private final MemoryBudget budget;
  private final int blockBytes;
  private final BlockPool pool;
  private final BlockIndex index = new BlockIndex();
  private final Admission admission;
  private final FetchTimer timer = new FetchTimer();
  private final FetchServices services;
  private final DiskMetrics diskMetrics = new DiskMetrics();
  private final Askers askers = new Askers(System::nanoTime);
  private final LayoutMemory layouts = new LayoutMemory();
  private final VectoredThreads vectored = new VectoredThreads();
  private final EngineClients clients;

  // Guarded by OPEN.
  private int tenants;
  private boolean toldOfDifference;

  /** How many tenants there have been. Written under {@link #OPEN}. */
  private volatile int joined;

  private final Object diskLock = new Object();

  /** Null until a tenant asks for one. Guarded by {@link #diskLock}. */
  private @Nullable CompletableFuture<EngineDisk> disk;

  private Engine(MemoryBudget budget, int blockBytes) {
    this.budget = budget;
    this.blockBytes = blockBytes;
    long blocks = budget.limit() / blockBytes;
    if (blocks < 2) {
      throw new IllegalStateException(
          "memory budget of "
              + budget.limit()
              + " bytes is fewer than two blocks of "
              + blockBytes
              + " bytes: raise the budget or lower the block size");
    }
    pool = new BlockPool(budget, blockBytes, (int) Math.min(Integer.MAX_VALUE, blocks));
    admission = new Admission(budget, pool, index);
    budget.isHeldBy(pool::reservedBytes, admission::giveBack);
    services = new FetchServices(index, admission, timer, new Gates(timer::later));
    clients = new EngineClients(budget, admission);
  }

  /**
   * The JVM's engine, with one tenant more; made if there is none.
   *
   * @throws IllegalStateException if the budget has fewer than two blocks
   */
  static Engine join(S3EConfig config) {
    synchronized (OPEN) {
      MemoryBudget budget = ofJvm;
      if (budget == null) {
        budget = MemoryBudget.ofJvm(config.effectiveMemoryBytes());
      }
      Engine engine = joinOrClose(config, budget);
      ofJvm = budget;
      engine.tellOfDifferences(config);
      return engine;
    }
  }

  /**
   * The JVM's engine, kept open until {@link #leave}; made if there is none. Keeps it without being
   * a tenant: nothing is fetched for it.
   *
   * @throws IllegalStateException if the budget has fewer than two blocks
   */
  static Engine hold(S3EConfig config) {
    synchronized (OPEN) {
      Engine engine = join(config);
      engine.joined--;
      return engine;
    }
  }

  private static Engine joinOrClose(S3EConfig config, MemoryBudget budget) {
    boolean complete = false;
    try {
      Engine engine = join(config, budget);
      complete = true;
      return engine;
    } finally {
      if (!complete && !OPEN.containsKey(budget)) {
        budget.close();
      }
    }
  }

  /** The engine of that budget, with one tenant more; made if there is none. */
  static Engine join(S3EConfig config, MemoryBudget budget) {
    synchronized (OPEN) {
      Engine engine = OPEN.get(budget);
      if (engine == null) {
        engine = new Engine(budget, config.blockBytes());
        OPEN.put(budget, engine);
      }
      engine.tenants++;
      engine.joined++;
      return engine;
    }
  }

  private void tellOfDifferences(S3EConfig config) {
    if (toldOfDifference) {
      return;
    }
    if (config.effectiveMemoryBytes() != budget.limit()) {
      different(
          "memory budget (fs.s3a.s3e.memory.budget under Hadoop)",
          config.effectiveMemoryBytes(),
          budget.limit());
    } else if (config.blockBytes() != blockBytes) {
      different("block size (fs.s3a.s3e.block.size under Hadoop)", config.blockBytes(), blockBytes);
    }
  }

  private void different(String setting, long asked, long applied) {
    toldOfDifference = true;
    LOG.warn(
        "The {} of {} bytes does not apply: this JVM's S3E began with {} bytes, which stays until"
            + " its last user has closed it",
        setting,
        asked,
        applied);
  }

  /** One tenant less; called once by each. The last one closes the engine. */
  void leave() {
    boolean isOfJvm;
    synchronized (OPEN) {
      if (--tenants > 0) {
        return;
      }
      OPEN.remove(budget);
      isOfJvm = ofJvm == budget;
      if (isOfJvm) {
        ofJvm = null;
      }
    }
    vectored.close();
    timer.close();
    admission.close();
    synchronized (diskLock) {
      if (disk != null) {
        // Perhaps it is still being opened: then it is closed by who opens it.
        CompletableFuture<Void> unused = disk.thenAccept(EngineDisk::close);
      }
    }
    pool.close();
    if (isOfJvm) {
      budget.close();
    }
  }

  EngineClients clients() {
    return clients;
  }

  FetchServices services() {
    return services;
  }

  /** The readers of all tenants that prefetch. */
  Askers askers() {
    return askers;
  }

  /** What the streams of all tenants know of columnar files. */
  LayoutMemory layouts() {
    return layouts;
  }

  /** The threads of all tenants' vectored reads. */
  VectoredThreads vectored() {
    return vectored;
  }

  MemoryBudget budget() {
    return budget;
  }

  int blockBytes() {
    return blockBytes;
  }

  DiskMetrics diskMetrics() {
    return diskMetrics;
  }

  /** Whether there has been one tenant only, so that all there is was fetched by it. */
  boolean hasHadOneTenant() {
    return joined == 1;
  }

  /**
   * The cache on local disk, opened for the first tenant that asks for one, on a thread of its own.
   *
   * @return never fails; says why if there is none
   */
  CompletableFuture<EngineDisk.Answer> disk(DiskCacheConfig config, EngineDisk.Opener disks) {
    if (config.mode() == DiskCacheConfig.Mode.MEMORY) {
      return CompletableFuture.completedFuture(EngineDisk.Answer.NOT_ASKED);
    }
    CompletableFuture<EngineDisk> opening;
    synchronized (diskLock) {
      opening = disk;
      if (opening == null) {
        CompletableFuture<EngineDisk> begun = new CompletableFuture<>();
        Thread opener =
            new Thread(
                () ->
                    begun.complete(
                        EngineDisk.open(config, disks, clients::reserve, budget, diskMetrics)),
                "s3e-disk-open");
        opener.setDaemon(true);
        opener.start();
        disk = begun;
        opening = begun;
      }
    }
    return opening.thenApply(open -> open.cacheFor(config));
  }
}
