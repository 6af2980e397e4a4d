// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.columnar.LayoutMemory;
import io.s3e.fault.Stores;
import io.s3e.fetch.ExplainConfig;
import io.s3e.fetch.FetchServices;
import io.s3e.fetch.FetchTimer;
import io.s3e.jvm.Background;
import io.s3e.jvm.JvmEnd;
import io.s3e.jvm.NativeHeap;
import io.s3e.jvm.OwnLoader;
import io.s3e.memory.Admission;
import io.s3e.memory.BlockIndex;
import io.s3e.metrics.DiskMetrics;
import io.s3e.stream.Askers;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine of a memory budget, and so of the JVM: one pool, one admission, one index of blocks,
 * one timer, one cache on local disk, the threads of vectored reads, and the transports of the
 * clients. Tenants ({@link S3E}) come and go; the first one makes it, and after the last one has
 * left it waits a while for the next.
 *
 * <p><b>What is the JVM's.</b> Memory budget, block size and the place of the disk cache are those
 * of the first tenant until the engine has no tenant; one that joins others and asks for something
 * else is told so once. Everything else is a tenant's own.
 *
 * <p><b>Memory.</b> The JVM's budget is that of all class loaders with an engine: each has one of
 * its own, and the pooled buffers of all give back to each other.
 *
 * <p><b>States.</b>
 *
 * <pre>
 *   USED ---(the last tenant leaves)---&gt; IDLE ---(nobody came, or one who asks for something else,
 *     ^                                 |  |        or the JVM ends)---&gt; CLOSED
 *     +---------(a tenant joins)--------+  |
 *   USED ---(the last tenant leaves, in an engine that does not linger)---&gt; CLOSED
 * </pre>
 *
 * Only the JVM's engine lingers ({@link #LINGER}), and only if the application's class loader or a
 * parent of it has loaded this class: any other is to be collected when its file systems are
 * closed. An idle engine keeps its threads, connections, memory and disk, and no tenant. What it
 * has on disk is served as what another tenant fetched: once S3 has answered the reader's own GET.
 *
 * <p><b>Locks.</b> Tenants are counted under the lock of {@link #OPEN}, which is held for counting
 * alone. The JVM's engine is joined, and one that nobody uses ended, under {@link #CHANGING}, so
 * that the next one does not meet its account of memory. Clients are made by {@link EngineClients}.
 */
final class Engine {
  private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

  /**
   * Servers that open a file system for each request open the next one within it, and what they
   * keep meanwhile they would have kept with one file system open. Engines made for each of 60 file
   * systems took twice the processor time, and 350 MB that the C library kept.
   */
  private static final Duration LINGER =
      OwnLoader.isApplications() ? Duration.ofSeconds(30) : Duration.ZERO;

  /** Taken before {@link #OPEN}; held while an engine closes. */
  private static final Object CHANGING = new Object();

  /** Engines by their budget. Guarded by itself. */
  private static final Map<MemoryBudget, Engine> OPEN = new IdentityHashMap<>();

  /** The budget of the JVM's engine while there is one. Guarded by {@link #OPEN}. */
  private static @Nullable MemoryBudget ofJvm;

  final MemoryBudget budget;
  final int blockBytes;
  private final long askedBytes;
  private final Runnable atEnd = this::endAtEnd;
  private final BlockPool pool;
  private final BlockIndex index = new BlockIndex();
  private final Admission admission;
  private final FetchTimer timer;
  private final EngineGets gets;
  final FetchServices services;
  final DiskMetrics diskMetrics = new DiskMetrics();
  final Askers askers = new Askers(System::nanoTime);
  final LayoutMemory layouts = new LayoutMemory();
  final AtomicLong streams = new AtomicLong();
  private final AtomicInteger vectoredThreads = new AtomicInteger();

  /** The threads that serve the vectored reads of all tenants, each of whom may use some. */
  final ExecutorService vectored =
      Executors.newCachedThreadPool(
          task -> Background.daemon("s3e-vectored-" + vectoredThreads.incrementAndGet(), task));

  final EngineClients clients;
  final EngineDisk disk;

  // Guarded by OPEN.
  private int tenants;
  private int visits;
  private boolean toldOfDifference;
  private boolean wasOfJvm;

  /** How many tenants have fetched, or will. */
  final AtomicInteger fetchers = new AtomicInteger();

  private Engine(S3EConfig config, MemoryBudget budget, Duration linger) {
    this.budget = budget;
    this.blockBytes = config.blockBytes();
    this.askedBytes = config.effectiveMemoryBytes();
    long blocks = budget.limit() / blockBytes;
    if (blocks < 2) {
      String few = budget.limit() + " bytes is fewer than two blocks of " + blockBytes + " bytes";
      throw new IllegalStateException(
          "memory budget of " + few + ": raise the budget or lower the block size");
    }
    pool = new BlockPool(budget, blockBytes, (int) Math.min(Integer.MAX_VALUE, blocks));
    admission = new Admission(budget, pool, index);
    gets = new EngineGets(config.explain());
    try {
      timer = new FetchTimer();
    } catch (Error e) {
      // The system has no thread to give.
      gets.close();
      throw e;
    }
    services = new FetchServices(index, admission, timer, new Stores(timer::later), gets.ledger);
    clients = new EngineClients(budget, admission, timer, linger, onThread("s3e-engine-end"));
    admission.whenMemoryIsWanted(clients::endIdleSoon);
    disk = new EngineDisk(clients::reserve, budget, diskMetrics, onThread("s3e-disk-open"));
    budget.heldBy(() -> pool.reservedBytes() + clients.idleBytes(), this::giveBack);
  }

  /** Another class loader's engine wants so many bytes. */
  private void giveBack(long bytes) {
    long before = pool.reservedBytes();
    admission.shrinkPool(bytes, true);
    if (before - pool.reservedBytes() < bytes) {
      clients.endIdleSoon();
    }
  }

  /**
   * The JVM's engine, with one tenant more, or one who keeps it open and fetches nothing; made if
   * there is none.
   *
   * @throws IllegalStateException if the budget has fewer than two blocks
   */
  static Engine join(S3EConfig config) {
    synchronized (CHANGING) {
      endIdle(idle -> idle.budget == ofJvm && !idle.isWhatIsAsked(config));
      synchronized (OPEN) {
        MemoryBudget budget = ofJvm;
        if (budget == null) {
          budget = MemoryBudget.ofJvm(config.effectiveMemoryBytes());
        }
        try {
          Engine engine = join(config, budget, LINGER);
          ofJvm = budget;
          engine.tellOfDifferences(config);
          return engine;
        } finally {
          if (!OPEN.containsKey(budget)) {
            budget.close();
          }
        }
      }
    }
  }

  /** The engine of that budget, with one tenant more; made, with that {@code linger}, if absent. */
  static Engine join(S3EConfig config, MemoryBudget budget, Duration linger) {
    synchronized (OPEN) {
      Engine engine = OPEN.get(budget);
      if (engine == null) {
        engine = new Engine(config, budget, linger);
        OPEN.put(budget, engine);
        if (!linger.isZero()) {
          JvmEnd.beforeLast(engine.atEnd);
        }
      }
      engine.tenants++;
      engine.visits++;
      return engine;
    }
  }

  /** Whether a tenant with that configuration would find what an engine of its own would be. */
  private boolean isWhatIsAsked(S3EConfig config) {
    return config.effectiveMemoryBytes() == askedBytes
        && config.blockBytes() == blockBytes
        && Objects.equals(config.explain(), gets.config)
        && disk.isWhatIsAsked(config.diskCache());
  }

  private void tellOfDifferences(S3EConfig config) {
    if (toldOfDifference) {
      return;
    }
    long asked = config.effectiveMemoryBytes();
    if (config.memoryBytes() != S3EConfig.AUTOMATIC && asked != budget.limit()) {
      different("memory budget in bytes", "memory.budget", asked, budget.limit());
    } else if (config.blockBytes() != blockBytes) {
      different("block size in bytes", "block.size", config.blockBytes(), blockBytes);
    } else if (!Objects.equals(config.explain(), gets.config)
        && !Objects.equals(config.explain(), ExplainConfig.DEFAULTS)) {
      different("memory of GETs", "explain", config.explain(), gets.config);
    }
  }

  private void different(String setting, String key, Object asked, Object applied) {
    toldOfDifference = true;
    LOG.warn(
        "The {} (fs.s3a.s3e.{} under Hadoop) of {} does not apply: this JVM's S3E began with {},"
            + " which stays until its last user has closed it",
        setting,
        key,
        asked,
        applied);
  }

  /** One tenant less; called once by each. After the last one the engine lingers, or closes. */
  void leave() {
    synchronized (OPEN) {
      if (--tenants > 0 || tryLinger()) {
        return;
      }
    }
    // Unless somebody has joined since.
    endIdle(idle -> idle == this);
  }

  /** Has the engine wait for tenants; false if it is to close. With the lock of {@link #OPEN}. */
  private boolean tryLinger() {
    int visit = visits;
    return clients.endLater(() -> endIdle(idle -> idle == this && visits == visit));
  }

  /** Closes those that nobody uses, without a wait for tenants to come. */
  static void endIdle(Predicate<Engine> which) {
    synchronized (CHANGING) {
      List<Engine> ended;
      synchronized (OPEN) {
        ended = OPEN.values().stream().filter(e -> e.tenants == 0).filter(which).toList();
        ended.forEach(Engine::forget);
      }
      ended.forEach(Engine::close);
    }
  }

  /** The JVM ends: what nobody uses goes before what waits for its threads. */
  private void endAtEnd() {
    endIdle(idle -> idle == this);
    clients.endIdle();
  }

  /** Closing waits for native threads, and opening for the disk: no thread of the engine's may. */
  private static Executor onThread(String name) {
    return task -> OwnLoader.thread(task, name).start();
  }

  /** Nobody finds the engine any more. With the lock of {@link #OPEN}. */
  private void forget() {
    OPEN.remove(budget);
    if (ofJvm == budget) {
      ofJvm = null;
      wasOfJvm = true;
    }
  }

  /** Called once, after {@link #forget}. */
  private void close() {
    JvmEnd.forget(atEnd);
    try {
      MemoryBudget ofItsOwn = wasOfJvm ? budget : null;
      try (ofItsOwn;
          gets;
          pool;
          disk;
          admission) {
        try (timer) {
          vectored.shutdown();
        } finally {
          clients.endIdle();
        }
      }
    } catch (RuntimeException | Error e) {
      LOG.warn("An engine has not closed in order", e);
    }
    if (wasOfJvm && !JvmEnd.hasBegun()) {
      NativeHeap.trim();
    }
  }
}
