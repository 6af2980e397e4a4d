package io.s3e.disk;

import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.DiskMetrics.Counter;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This JVM's thread in one shared instance. It reads what is published, so that the process knows
 * what it may write, and tries to become <em>the</em> janitor: the one process that holds {@code
 * janitor.lock} and does the {@link Housekeeping}. If that one dies another gets the lock within a
 * second. A process that is not the janitor asks for a pass by making the file {@code wanted}.
 *
 * <p>It works for the engines of the JVM that use the instance, with the settings and the counters
 * of the one that came first of those that are still there. The first one starts the thread and the
 * last one ends it; a disk that hangs holds up neither.
 *
 * <p>A failure is logged, at WARN the first time, and counted; the thread pauses, twice as long
 * each time, and goes on.
 */
final class Janitor {
  /** How often the thread looks, in ms. */
  static final long TICK_MILLIS = 100;

  /** The same while somebody waits for room. */
  private static final long ASKED_TICK_MILLIS = 20;

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** Passes come this far apart if something was written, and sweeps if nothing was. */
  private static final long ROUTINE_NANOS = Duration.ofSeconds(10).toNanos();

  /** The least between passes that were asked for; also, ten times as long as one takes. */
  private static final long MIN_PAUSE_NANOS = Duration.ofMillis(200).toNanos();

  private static final int PAUSE_PER_PASS = 10;
  private static final long MIN_BACKOFF_MILLIS = 1000;
  private static final long MAX_BACKOFF_MILLIS = 60_000;
  private static final long STOP_MILLIS = 1000;

  private static final Logger LOG = LoggerFactory.getLogger(Janitor.class);

  /** What an engine lends the thread. */
  record Tools(DiskIo io, CacheRoot root, CacheSpace space, DiskMetrics metrics) {}

  private final Allowance allowance;
  private final List<Tools> engines = new CopyOnWriteArrayList<>();
  private final Thread thread = new Thread(this::run, "s3e-janitor");
  private volatile boolean stopped;
  private volatile boolean asked;

  /** Written by the thread alone. */
  private volatile @Nullable ProcessLock lock;

  // The thread's alone.
  private final Grants grants = new Grants();
  private boolean warned;
  private long backoffMillis;
  private long looked = System.nanoTime() - SECOND;
  private boolean hasPassed;
  private long passed;
  private long passPause;
  private long firstPass;
  private long swept;
  private boolean unsettled;
  private boolean unknown = true;
  private long newest = System.nanoTime();

  Janitor(Allowance allowance, Tools first) {
    this.allowance = allowance;
    engines.add(first);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Another engine uses the instance; it may write once its settings have been looked at. */
  void add(Tools tools) {
    engines.add(tools);
    ask();
  }

  /** Whether that was the last one. */
  boolean remove(Tools tools) {
    engines.remove(tools);
    return engines.isEmpty();
  }

  /** Somebody has no room to write: have a pass made soon. Any thread, never waits. */
  void ask() {
    if (!asked) {
      asked = true;
      synchronized (this) {
        notifyAll();
      }
    }
  }

  /** Ends the thread; waits for it for {@value #STOP_MILLIS} ms at most. */
  void stop() {
    stopped = true;
    thread.interrupt();
    Background.await(thread, STOP_MILLIS);
  }

  /** Whether this process is the janitor of the instance. */
  boolean isInCharge() {
    return lock != null;
  }

  private void run() {
    while (!stopped) {
      List<Tools> now = List.copyOf(engines);
      if (now.isEmpty()) {
        break;
      }
      Tools tools = now.get(0);
      try {
        for (Tools each : now) {
          each.space().refresh(allowance.bytes());
        }
        tick(tools);
        backoffMillis = 0;
      } catch (IOException | RuntimeException e) {
        failed(tools, e);
      }
      pause();
    }
    letGo();
  }

  private void failed(Tools tools, Exception e) {
    if (stopped) {
      return;
    }
    tools.metrics().count(Counter.READ_ERRORS);
    backoffMillis = Math.min(MAX_BACKOFF_MILLIS, Math.max(MIN_BACKOFF_MILLIS, 2 * backoffMillis));
    if (warned) {
      LOG.debug("cannot look after the cache in {}", tools.root(), e);
    } else {
      warned = true;
      LOG.warn(
          "cannot look after the cache in {}, so nothing more is written there for now: {}",
          tools.root(),
          e.toString());
    }
  }

  private void pause() {
    long tick = asked || unknown ? ASKED_TICK_MILLIS : TICK_MILLIS;
    long millis = backoffMillis > 0 ? backoffMillis : tick;
    boolean wakeable = backoffMillis == 0 && !asked;
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    synchronized (this) {
      for (long left = millis; left > 0 && !stopped && !(wakeable && asked); ) {
        try {
          wait(left);
        } catch (InterruptedException e) {
          // Only stop() means it; the loop sees that.
          LOG.trace("interrupted", e);
        }
        left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
      }
    }
  }

  private void tick(Tools tools) throws IOException {
    long now = System.nanoTime();
    if (now - looked >= SECOND) {
      looked = now;
      if (tools.root().repair()) {
        LOG.info("laid out {} again: something was deleted there", tools.root());
      }
      ProcessLock held = lock;
      if (held != null && !held.isInPlace()) {
        letGo();
      }
      if (lock == null) {
        takeCharge(tools, now);
      }
    }
    Publication before = allowance.publication();
    Publication latest = Housekeeping.read(tools.io(), tools.root());
    allowance.read(latest, System.nanoTime());
    if (latest != null && !latest.equals(before)) {
      newest = now;
      asked = false;
    }
    if (lock == null) {
      follow(tools, latest, now);
    } else {
      lead(tools, now);
    }
  }

  private void takeCharge(Tools tools, long now) throws IOException {
    lock = ProcessLock.tryTake(tools.root().instance().resolve("janitor.lock"));
    if (lock == null) {
      return;
    }
    LOG.debug("in charge of {}", tools.root());
    hasPassed = false;
    Publication latest = Housekeeping.read(tools.io(), tools.root());
    Map<String, Long> living = new HashMap<>();
    if (latest != null) {
      Owners owners = new Owners(tools.io(), tools.root().owners(), System::nanoTime);
      for (Map.Entry<String, Long> grant : latest.grants().entrySet()) {
        if (owners.isAlive(grant.getKey())) {
          living.put(grant.getKey(), grant.getValue());
        }
      }
    }
    grants.inherit(living, now);
    firstPass = living.isEmpty() ? now : now + Grants.IN_FORCE.toNanos();
  }

  /** Another process is the janitor: asks it for what is missing. */
  private void follow(Tools tools, @Nullable Publication latest, long now) throws IOException {
    unknown = latest == null || !latest.grants().containsKey(tools.root().ownerId());
    boolean overdue = allowance.writtenSince() > 0 && now - newest >= ROUTINE_NANOS;
    if (asked || unknown || overdue) {
      Housekeeping.want(tools.io(), tools.root());
    }
  }

  private void lead(Tools tools, long now) throws IOException {
    if (!hasPassed && now - firstPass < 0) {
      return;
    }
    Housekeeping housekeeping =
        new Housekeeping(tools.io(), tools.root(), tools.space(), tools.metrics());
    boolean settles = unsettled && now - passed >= Grants.IN_FORCE.toNanos();
    boolean routine = allowance.writtenSince() > 0 && now - passed >= ROUTINE_NANOS;
    boolean mayPass = now - passed >= passPause;
    if (!hasPassed || (mayPass && (asked || settles || routine || isWanted(tools)))) {
      pass(tools, housekeeping);
    } else if (now - swept >= ROUTINE_NANOS) {
      swept = now;
      Publication latest = allowance.publication();
      if (latest == null || !latest.grants().keySet().equals(Set.copyOf(housekeeping.sweep()))) {
        pass(tools, housekeeping);
      }
    }
  }

  private static boolean isWanted(Tools tools) throws IOException {
    return Housekeeping.isWanted(tools.io(), tools.root());
  }

  private void pass(Tools tools, Housekeeping housekeeping) throws IOException {
    long begin = System.nanoTime();
    Publication publication = housekeeping.pass(grants);
    passed = System.nanoTime();
    swept = passed;
    hasPassed = true;
    asked = false;
    newest = passed;
    int processes = publication.grants().size();
    long share = Grants.share(processes, publication.capacityBytes() - publication.bytes());
    unsettled = publication.grants().values().stream().anyMatch(grant -> grant < share);
    // A pass that made no room would make none at once, either.
    passPause =
        share < DiskBlockId.BLOCK_BYTES
            ? ROUTINE_NANOS
            : Math.max(MIN_PAUSE_NANOS, PAUSE_PER_PASS * (passed - begin));
    unknown = false;
    allowance.read(publication, passed);
    LOG.debug("passed over {}: {}", tools.root(), publication);
  }

  private void letGo() {
    ProcessLock held = lock;
    lock = null;
    if (held != null) {
      try {
        held.close();
      } catch (IOException e) {
        LOG.debug("cannot close {}: {}", held.file(), e.toString());
      }
    }
  }
}
