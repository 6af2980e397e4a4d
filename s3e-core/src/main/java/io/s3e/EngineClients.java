// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.ClientProvider;
import io.s3e.client.ObjectClient;
import io.s3e.client.Transport;
import io.s3e.fetch.FetchTimer;
import io.s3e.jvm.JvmEnd;
import io.s3e.memory.Admission;
import io.s3e.memory.Carrier;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the clients of an engine's tenants, and keeps the transports that they share.
 *
 * <p><b>Memory.</b> To grant is to reserve. Transports own up to seven eighths of the budget, the
 * first of them five eighths; pooled buffers have the rest, and give back what they can do without
 * when a transport is made.
 *
 * <p><b>Idle transports.</b> A transport is <i>used</i>, by one client or more; then <i>idle</i>,
 * for as long as the engine would linger; then closed. A client that can use it finds its
 * connections and buffers warm. It closes sooner when its memory is wanted: by another transport,
 * the cache on disk, or another class loader's engine, to which it counts as memory that is given
 * back. One that is not {@linkplain Transport#isWhole whole} is never idle, and one that was
 * offered less than half of what there is now is made anew.
 *
 * <p><b>Threads.</b> Transports are made one at a time, because what one is granted depends on what
 * the others own. Clients are not: a lookup that hangs, of a region or of credentials, holds up its
 * own tenant alone. A transport is counted under its own table's lock, which is never held while
 * one is made or closed: a client may leave while another is made.
 */
final class EngineClients {
  private static final Logger LOG = LoggerFactory.getLogger(EngineClients.class);

  /** Transports leave an eighth of the budget to pooled buffers, however many there are. */
  private static final int POOLS_SHARE = 8;

  /**
   * The part of what is left above that for one transport's memory. It carries what is in flight;
   * the rest holds short reads and what was read. Five eighths of the whole budget for the first.
   */
  private static final int TRANSPORT_PART = 5;

  private static final int TRANSPORT_OF = 7;

  /** With less than one in so many parts of what it was to have, another client reads sooner. */
  private static final int LEAST_GRANT = 8;

  /** When to ask again for a thread that the system did not have. */
  private static final long NEXT_THREAD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** GETs that hold buffers end within moments, or not for a long time. */
  private static final long RESERVE_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final MemoryBudget budget;
  private final Admission admission;
  private final FetchTimer timer;
  private final long lingerNanos;
  private final Executor ender;
  private final Object making = new Object();
  private final AtomicBoolean endsIdle = new AtomicBoolean();

  /** Transports that are open. Guarded by itself. */
  private final Map<Object, Shared> transports = new HashMap<>();

  /** Idle transports live for {@code linger}, which may be zero; {@code ender} closes them. */
  EngineClients(
      MemoryBudget budget, Admission admission, FetchTimer timer, Duration linger, Executor ender) {
    this.budget = budget;
    this.admission = admission;
    this.timer = timer;
    this.lingerNanos = linger.toNanos();
    this.ender = ender;
  }

  /**
   * A tenant's client and the lanes that its requests go by.
   *
   * @param isOverTransport whether others may have the same lanes
   * @param ownedBytes memory of the budget that the client owns itself, beside its transport
   */
  record Client(ObjectClient client, Carrier carrier, boolean isOverTransport, long ownedBytes) {}

  /** Makes a tenant's client; {@link IllegalStateException} if it owns more than it was granted. */
  Client make(ClientProvider provider, int requestBytes, int blockBytes) {
    while (true) {
      Joining joining = new Joining();
      long offer = offer();
      ObjectClient client =
          provider.create(new ClientMemory(offer, requestBytes, blockBytes, joining));
      Shared shared = joining.last;
      if (shared != null && Objects.equals(shared.transport.limits(), client.limits())) {
        return new Client(client, shared.carrier, true, 0);
      }
      long owned = client.limits().ownedBytes();
      if (owned <= offer && reserve(owned)) {
        return new Client(client, admission.carrier(client.limits()), false, owned);
      }
      client.close();
      // Of less, where another client has taken some of it meanwhile.
      if (owned > offer || offer() >= owned) {
        String owner = "client " + client.name() + " owns " + owned + " bytes of memory";
        throw new IllegalStateException(
            owner + ", more than the " + offer + " bytes of the budget that it was granted");
      }
    }
  }

  /** Gives back what a closed client has owned beside its transport. */
  void release(Client client) {
    if (!client.isOverTransport()) {
      client.carrier().close();
      budget.release(client.ownedBytes());
    }
  }

  /** What one more transport may own; pooled buffers and idle transports may hold some of it. */
  private long offer() {
    long left = budget.available() + budget.pooled() - budget.limit() / POOLS_SHARE;
    return Math.max(0, left) / TRANSPORT_OF * TRANSPORT_PART;
  }

  /** Reserves memory, of which pooled buffers give back what they can do without. */
  boolean reserve(long bytes) {
    return JvmEnd.await(() -> tryReserve(bytes), System.nanoTime() + RESERVE_PATIENCE_NANOS);
  }

  private boolean tryReserve(long bytes) {
    if (budget.tryReserve(bytes)) {
      return true;
    }
    do {
      admission.shrinkPool(bytes - budget.available(), false);
      if (budget.tryReserve(bytes)) {
        return true;
      }
    } while (endOneIdle());
    budget.claim(bytes);
    return budget.tryReserve(bytes);
  }

  long idleBytes() {
    long bytes = 0;
    synchronized (transports) {
      for (Shared shared : transports.values()) {
        bytes += shared.isIdle() ? shared.reserved : 0;
      }
    }
    return bytes;
  }

  synchronized void endIdle() {
    endsIdle.set(false);
    while (endOneIdle()) {}
  }

  /** Closes idle transports on a thread of its own. */
  void endIdleSoon() {
    if (idleBytes() > 0 && endsIdle.compareAndSet(false, true)) {
      endOnThread(this::endIdle);
    }
  }

  /** Runs {@code end} on a thread of its own, as soon as the system has one to give. */
  private void endOnThread(Runnable end) {
    try {
      ender.execute(end);
    } catch (OutOfMemoryError e) {
      LOG.debug("No thread to end what is idle", e);
      // A timer that is closed is one of an engine that ends.
      boolean unused = timer.later(() -> endOnThread(end), NEXT_THREAD_NANOS);
    }
  }

  private boolean endOneIdle() {
    Shared idle;
    synchronized (transports) {
      idle = transports.values().stream().filter(Shared::isIdle).findAny().orElse(null);
      transports.values().remove(idle);
    }
    if (idle != null) {
      end(idle);
    }
    return idle != null;
  }

  /** Closes a transport that has left the table. */
  private void end(Shared shared) {
    shared.carrier.close();
    try {
      shared.transport.close();
    } catch (RuntimeException | Error e) {
      // Whoever closes it has more to close.
      LOG.warn("A transport has not closed in order", e);
    }
    budget.release(shared.reserved);
  }

  private void leave(Shared shared) {
    synchronized (transports) {
      if (--shared.clients > 0 || tryLinger(shared)) {
        return;
      }
      transports.values().remove(shared);
    }
    end(shared);
  }

  /** Has a transport that nobody uses wait for clients; false if it is to close. */
  private boolean tryLinger(Shared shared) {
    int leases = shared.leases;
    return shared.transport.isWhole() && endLater(() -> endIfStillIdle(shared, leases));
  }

  /** Has {@code end} run once what is idle now has lingered; false if it is not to linger. */
  boolean endLater(Runnable end) {
    return lingerNanos > 0
        && !JvmEnd.hasBegun()
        && timer.later(() -> endOnThread(end), lingerNanos);
  }

  private synchronized void endIfStillIdle(Shared shared, int leases) {
    synchronized (transports) {
      if (shared.leases != leases || !shared.isIdle() || !transports.values().remove(shared)) {
        return;
      }
    }
    end(shared);
  }

  private static final class Shared {
    private final Transport transport;
    private final Carrier carrier;
    private final long offered;
    private final long reserved;

    // Guarded by transports.
    private int clients;
    private int leases;

    Shared(Transport transport, Carrier carrier, long offered, long reserved) {
      this.transport = transport;
      this.carrier = carrier;
      this.offered = offered;
      this.reserved = reserved;
    }

    void add() {
      clients++;
      leases++;
    }

    boolean isIdle() {
      return clients == 0;
    }
  }

  /** The transports as one client sees them that is being made. */
  private final class Joining implements ClientMemory.Transports {
    /** The one that the client was made over, unless it has its own way. */
    private @Nullable Shared last;

    @Override
    @SuppressWarnings("unchecked") // A key stands for one class of transport.
    public <T extends Transport> Transport.Lease<T> lease(
        Object key, ClientMemory memory, Function<ClientMemory, T> maker) {
      synchronized (making) {
        ClientMemory left = memory.withOwnedBytes(Math.min(memory.ownedBytes(), offer()));
        Shared known = known(key, left.ownedBytes());
        Shared shared = known != null ? known : open(key, left, maker);
        last = shared;
        return new Transport.Lease<>((T) shared.transport, () -> leave(shared));
      }
    }

    private @Nullable Shared known(Object key, long offer) {
      Shared shared;
      synchronized (transports) {
        shared = transports.get(key);
        if (shared == null) {
          return null;
        }
        if (!shared.isIdle() || shared.offered >= offer / 2) {
          shared.add();
          return shared;
        }
        transports.remove(key);
      }
      end(shared);
      return null;
    }

    /** Reserves all of the offer, or a half, a quarter or an eighth; 0 where that is not there. */
    private long grant(long offer) {
      long granted = offer;
      for (boolean has = reserve(granted); !has; has = tryReserve(granted)) {
        granted = granted <= offer / LEAST_GRANT ? 0 : granted / 2;
      }
      if (granted < offer) {
        LOG.info("Others hold memory: {} of {} bytes for one more transport", granted, offer);
      }
      return granted;
    }

    private <T extends Transport> Shared open(
        Object key, ClientMemory memory, Function<ClientMemory, T> maker) {
      long offer = memory.ownedBytes();
      long granted = grant(offer);
      long owned = 0;
      try {
        T transport = maker.apply(memory.withOwnedBytes(granted));
        ClientLimits limits = transport.limits();
        owned = limits.ownedBytes();
        Shared shared = new Shared(transport, admission.carrier(limits), granted, owned);
        synchronized (transports) {
          shared.add();
          transports.put(key, shared);
        }
        return shared;
      } finally {
        budget.release(granted - owned);
      }
    }
  }
}
