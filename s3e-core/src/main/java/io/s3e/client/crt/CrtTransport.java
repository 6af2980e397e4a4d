// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.client.Transport;
import io.s3e.client.library.CrtSettings;
import io.s3e.jvm.Background;
import io.s3e.jvm.JvmMemory;
import java.net.URI;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections and buffers of one or more {@link CrtObjectClient}s that trust the same
 * authorities and have the same time-outs. Endpoint, region and credentials come with each request,
 * so the clients of many file systems share one transport.
 *
 * <h2>Two pools</h2>
 *
 * A transport holds two CRT clients over the same event loops and TLS context, one for the wide and
 * one for the narrow slots that {@link CrtLayout} gives it. Both pools live in Java direct memory,
 * start empty, grow 16 slots at a time and shrink when idle; what {@link #limits()} reports as
 * owned is their ceiling. A request for which no slot is free waits in the CRT until one is closed.
 *
 * <p>With direct memory too small for the pools ({@code -XX:MaxDirectMemorySize}, of which the CRT
 * takes 80 % at most), or where nothing is to be lent, there is only a narrow client, whose slots
 * are native memory and whose bodies pass through a {@code byte[]}.
 *
 * <p>Where the JVM refuses direct memory later, because the application has taken it, the request
 * in question fails with {@link Kind#NOT_LENT}, and the transport goes on with a copying CRT client
 * of the same narrow slots: one WARN line says so. It lends nothing any more then.
 *
 * <p>A transport is open, then closed for good, once the last of its clients has closed: none hands
 * the CRT a request then.
 */
final class CrtTransport implements Transport {
  private static final Logger LOG = LoggerFactory.getLogger(CrtTransport.class);
  private static final long CLOSE_WAIT_SECONDS = 10;

  /**
   * The settings that clients over one transport have in common. A list and not a record: the first
   * look at a record's hash code takes a new JVM 20 ms.
   *
   * <p>The port is one of them. The CRT knows its connections by the name of the host alone, and
   * would send a request for one port of it over a connection to another.
   */
  static Object key(CrtSettings settings) {
    URI endpoint = settings.endpoint();
    return List.of(
        endpoint == null || endpoint.getPort() < 0 ? "usual port" : endpoint.getPort(),
        settings.isTls(),
        settings.authorities(),
        settings.targetGbps(),
        settings.maxConnections(),
        settings.connectTimeout(),
        settings.stallTimeout(),
        settings.lends());
  }

  private final CrtSettings settings;
  private final ClientLimits limits;

  /** Whether answers are delivered in buffers of Java direct memory, as long as there is some. */
  final boolean borrowed;

  private final CrtConnections connections;

  /** Whether the JVM has refused memory to a pool: from then on every answer is copied. */
  private final AtomicBoolean refused = new AtomicBoolean();

  /** Those that read after a refusal. Guarded by this. */
  private @Nullable CrtConnections copying;

  private CrtTransport(CrtSettings settings, ClientLimits limits, boolean borrowed) {
    this.settings = settings;
    this.limits = limits;
    this.borrowed = borrowed;
    this.connections = new CrtConnections(settings, limits, borrowed);
  }

  /** Opens a transport, which lends if the memory and the settings allow it. */
  static CrtTransport open(CrtSettings settings, ClientMemory memory) {
    if (settings.lends() && hasRoomFor(memory)) {
      ClientLimits limits = CrtLayout.lending(memory, settings.maxConnections());
      try {
        return new CrtTransport(settings, limits, true);
      } catch (IllegalStateException e) {
        LOG.info(
            "The CRT's direct buffer pool does not fit ({}); reading through byte arrays instead",
            e.getMessage());
      }
    }
    return new CrtTransport(settings, CrtLayout.copying(memory), false);
  }

  /** Asked first, since the CRT says what it misses by stack traces of its event loops. */
  private static boolean hasRoomFor(ClientMemory memory) {
    long free = JvmMemory.freeDirectBytes();
    if (free >= memory.ownedBytes()) {
      return true;
    }
    LOG.warn(
        "The CRT's buffers of {} bytes do not fit into the {} bytes of direct memory that the JVM"
            + " has left: answers are copied, which is slower. Raise -XX:MaxDirectMemorySize or"
            + " lower the memory budget (fs.s3a.s3e.memory.budget under Hadoop)",
        memory.ownedBytes(),
        free);
    return false;
  }

  /** Not once the JVM has lacked direct memory, at the start or later, which it may have again. */
  @Override
  public boolean isWhole() {
    return !refused.get() && (borrowed || !settings.lends());
  }

  @Override
  public ClientLimits limits() {
    return limits;
  }

  /**
   * Those with pools of direct memory; after a refusal, those without, which may fail too. Called
   * while the transport is open.
   */
  CrtConnections connections() {
    if (!refused.get()) {
      return connections;
    }
    synchronized (this) {
      if (copying == null) {
        copying = new CrtConnections(settings, limits, false);
      }
      return copying;
    }
  }

  /** The JVM had no memory for an answer: from now on all are copied. */
  void copyFromNowOn() {
    if (!borrowed || !refused.compareAndSet(false, true)) {
      return;
    }
    String copied =
        "The JVM has no direct memory for the CRT's buffers ({} bytes): answers are copied from"
            + " now on, which is slower. Raise -XX:MaxDirectMemorySize or lower the memory budget"
            + " (fs.s3a.s3e.memory.budget under Hadoop)";
    Background.logApart(() -> LOG.warn(copied, limits.ownedBytes()));
  }

  /**
   * Closes the CRT clients and what they share, within about {@value #CLOSE_WAIT_SECONDS} s; in a
   * JVM that is ending without a wait ({@link CrtHold}). Buffers still on loan stay valid.
   */
  @Override
  public void close() {
    CrtConnections second;
    synchronized (this) {
      second = copying;
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_WAIT_SECONDS);
    connections.close(deadline);
    if (second != null) {
      second.close(deadline);
    }
  }
}
