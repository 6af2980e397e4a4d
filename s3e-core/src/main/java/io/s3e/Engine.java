package io.s3e;

import io.s3e.buffer.BlockPool;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.ClientProvider;
import io.s3e.client.ObjectClient;
import io.s3e.client.Transport;
import io.s3e.disk.DiskCache;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.fetch.FetchServices;
import io.s3e.fetch.FetchTimer;
import io.s3e.fetch.RunSpill;
import io.s3e.memory.Admission;
import io.s3e.memory.BlockIndex;
import io.s3e.memory.Carrier;
import io.s3e.metrics.DiskMetrics;
import io.s3e.stream.Askers;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine of a memory budget, and so of the JVM: one pool, one admission, one index of blocks,
 * one timer, one cache on local disk, and the transports of the clients. Tenants ({@link S3E}) come
 * and go; the first one makes it, the last one to leave closes it, and the next one makes another.
 *
 * <p><b>What is the JVM's.</b> Memory budget, block size and the place of the disk cache are those
 * of the first tenant until the engine closes; a tenant that asks for others is told so once.
 * Everything else is a tenant's own.
 *
 * <p><b>Memory.</b> To grant is to reserve. Transports own up to seven eighths of the budget, the
 * first of them five eighths; pooled buffers have the rest, and give back what they can do without
 * when a transport is made.
 *
 * <p><b>States.</b> <i>Open</i>, with at least one tenant; <i>closed</i>. Tenants are counted under
 * the lock of {@link #OPEN}, which is held for counting alone. Clients are made one at a time,
 * under {@link #making}, because what one is granted depends on what the others own. A transport is
 * counted under its own table's lock, which is never held while one is made or closed: a client may
 * leave while another is made.
 */
final class Engine {
  private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

  /** Transports leave an eighth of the budget to pooled buffers, however many there are. */
  private static final int POOLS_SHARE = 8;

  /**
   * Of what is left above that, the part for one transport's memory. It carries what is in flight;
   * the rest holds short reads and what was read. Five eighths of the whole budget for the first.
   */
  private static final int TRANSPORT_PART = 5;

  private static final int TRANSPORT_OF = 7;

  /** GETs that hold buffers end within moments, or not for a long time. */
  private static final long RESERVE_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

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
  private final Object making = new Object();

  /** Transports that are open. Guarded by itself. */
  private final Map<Object, Shared> transports = new HashMap<>();

  // Guarded by OPEN.
  private int tenants;
  private boolean toldOfDifference;

  /** How many tenants there have been. */
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
    admission = new Admission(budget, pool, index, new RunSpill());
    services = new FetchServices(index, admission, timer);
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
        budget = new MemoryBudget(config.effectiveMemoryBytes());
        Engine engine = join(config, budget);
        ofJvm = budget;
        return engine;
      }
      Engine engine = join(config, budget);
      engine.tellOfDifferences(config);
      return engine;
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
    synchronized (OPEN) {
      if (--tenants > 0) {
        return;
      }
      OPEN.remove(budget);
      if (ofJvm == budget) {
        ofJvm = null;
      }
    }
    timer.close();
    admission.close();
    synchronized (diskLock) {
      if (disk != null) {
        // Perhaps it is still being opened: then it is closed by who opens it.
        CompletableFuture<Void> unused = disk.thenAccept(EngineDisk::close);
      }
    }
    pool.close();
  }

  FetchServices services() {
    return services;
  }

  /** The readers of all tenants that prefetch. */
  Askers askers() {
    return askers;
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
   * @return completes with null if the tenant wants none, or there can be none, which a warning
   *     says; never fails
   */
  CompletableFuture<@Nullable DiskCache> disk(DiskCacheConfig config, EngineDisk.Opener disks) {
    if (config.mode() == DiskCacheConfig.Mode.MEMORY) {
      return CompletableFuture.completedFuture(null);
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
                        EngineDisk.open(config, disks, this::reserve, budget, diskMetrics)),
                "s3e-disk-open");
        opener.setDaemon(true);
        opener.start();
        disk = begun;
        opening = begun;
      }
    }
    return opening.thenApply(open -> open.cacheFor(config));
  }

  /**
   * A tenant's client and the lanes that its requests go by.
   *
   * @param isOverTransport whether others may have the same lanes
   * @param ownedBytes memory of the budget that the client owns itself, beside its transport
   */
  record Client(ObjectClient client, Carrier carrier, boolean isOverTransport, long ownedBytes) {}

  /**
   * Makes a tenant's client.
   *
   * @throws IllegalStateException if the client owns more memory than it was granted
   */
  Client client(ClientProvider provider, int requestBytes) {
    synchronized (making) {
      Joining joining = new Joining();
      long offer = Math.max(0, forTransports()) / TRANSPORT_OF * TRANSPORT_PART;
      ObjectClient client =
          provider.create(new ClientMemory(offer, requestBytes, blockBytes, joining));
      Shared shared = joining.used(client.limits());
      if (shared != null) {
        return new Client(client, shared.carrier, true, 0);
      }
      long owned = client.limits().ownedBytes();
      if (owned > offer || !reserve(owned)) {
        client.close();
        throw new IllegalStateException(
            "client "
                + client.name()
                + " owns "
                + owned
                + " bytes of memory, more than the "
                + offer
                + " bytes of the budget that it was granted");
      }
      return new Client(client, admission.carrier(client.limits()), false, owned);
    }
  }

  /** Gives back what a closed client has owned beside its transport. */
  void release(Client client) {
    if (!client.isOverTransport()) {
      client.carrier().close();
      budget.release(client.ownedBytes());
    }
  }

  /** What transports do not own yet of what they may. Pooled buffers may hold some of it. */
  private long forTransports() {
    return budget.available() + pool.reservedBytes() - budget.limit() / POOLS_SHARE;
  }

  /** Reserves memory, of which pooled buffers give back what they can do without. */
  private boolean reserve(long bytes) {
    long deadline = System.nanoTime() + RESERVE_PATIENCE_NANOS;
    while (!budget.tryReserve(bytes)) {
      admission.shrinkPool(bytes - budget.available());
      if (budget.tryReserve(bytes)) {
        return true;
      }
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return true;
  }

  /** A transport, the lanes over it, and how many clients use it. */
  private static final class Shared {
    private final Transport transport;
    private final Carrier carrier;
    private final long reserved;
    private int clients;

    Shared(Transport transport, Carrier carrier, long reserved) {
      this.transport = transport;
      this.carrier = carrier;
      this.reserved = reserved;
    }
  }

  /** The transports as one client sees them that is being made. */
  private final class Joining implements ClientMemory.Transports {
    private @Nullable Shared last;

    @Override
    public boolean isOpen(Object key) {
      synchronized (transports) {
        return transports.containsKey(key);
      }
    }

    @Override
    public <T extends Transport> Transport.Lease<T> lease(
        Object key, ClientMemory memory, Function<ClientMemory, T> maker) {
      Shared shared = known(key);
      if (shared == null) {
        shared = open(key, memory, maker);
      }
      last = shared;
      return new SharedLease<>(key, shared);
    }

    private @Nullable Shared known(Object key) {
      synchronized (transports) {
        Shared shared = transports.get(key);
        if (shared != null) {
          shared.clients++;
        }
        return shared;
      }
    }

    private <T extends Transport> Shared open(
        Object key, ClientMemory memory, Function<ClientMemory, T> maker) {
      long granted = reserve(memory.ownedBytes()) ? memory.ownedBytes() : 0;
      long owned = 0;
      try {
        T transport = maker.apply(memory.withOwnedBytes(granted));
        ClientLimits limits = transport.limits();
        owned = limits.ownedBytes();
        Shared shared = new Shared(transport, admission.carrier(limits), owned);
        shared.clients = 1;
        synchronized (transports) {
          transports.put(key, shared);
        }
        return shared;
      } finally {
        budget.release(granted - owned);
      }
    }

    /** The transport that a client of those limits was made over; null if it has its own way. */
    @Nullable Shared used(ClientLimits limits) {
      Shared shared = last;
      return shared != null && shared.transport.limits().equals(limits) ? shared : null;
    }
  }

  private final class SharedLease<T extends Transport> implements Transport.Lease<T> {
    private final Object key;
    private final Shared shared;

    SharedLease(Object key, Shared shared) {
      this.key = key;
      this.shared = shared;
    }

    @Override
    @SuppressWarnings("unchecked") // A key stands for one class of transport.
    public T transport() {
      return (T) shared.transport;
    }

    @Override
    public void close() {
      synchronized (transports) {
        if (--shared.clients > 0) {
          return;
        }
        transports.remove(key);
      }
      shared.carrier.close();
      shared.transport.close();
      budget.release(shared.reserved);
    }
  }
}
