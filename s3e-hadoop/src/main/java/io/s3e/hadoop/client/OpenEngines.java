// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.DiskUse;
import io.s3e.S3E;
import io.s3e.columnar.PlaceFacts;
import io.s3e.fetch.GetLedger;
import io.s3e.fetch.GetRecord;
import io.s3e.metrics.Counters;
import io.s3e.metrics.DiskMetrics;
import io.s3e.metrics.EngineMetrics;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engines of all owners in this JVM, or this class loader, that have read ({@link ReadEngine},
 * and on Hadoop 3.3 the reads of a file system): their work in sum, and their common end. For a
 * framework that shows the work of a process and knows when the process ends. Any thread.
 *
 * <p><b>Invariants.</b> An engine is in {@link #OPEN} from when it is made until it is closed, or
 * its owner is forgotten. Its counters move to {@link #PAST} in the same step as it leaves, so that
 * sums never count it twice and never shrink; those of an engine whose owner is forgotten a moment
 * after it. The counters of a cache on disk belong to all engines over it: they are counted once,
 * move with the last of them, and back with the next. The lock of this class is taken inside that
 * of a {@link ReadEngine}, and nothing is called under it that takes another.
 */
public final class OpenEngines {
  private static final Logger LOG = LoggerFactory.getLogger(OpenEngines.class);

  /** Guarded by this class. */
  private static final Map<Closeable, S3E> OPEN = new WeakHashMap<>();

  /** The counters of engines that are closed. Guarded by this class. */
  private static final EngineMetrics PAST = new EngineMetrics();

  /**
   * What of it is of caches that may serve again, of engines that linger. Guarded by this class.
   */
  private static final Map<DiskMetrics, Map<DiskMetrics.Counter, Long>> MOVED = new WeakHashMap<>();

  private OpenEngines() {}

  /**
   * The work of all engines since the JVM began, and what they hold now.
   *
   * @param metrics counters of reading and of the cache on local disk; they stand still
   * @param memoryBytes of the memory budget that are held now
   * @param memoryLimit the budget; 0 while there is no engine
   * @param diskUse the use of the cache on local disk; 0 of 0 bytes while there is none
   */
  public record Work(EngineMetrics metrics, long memoryBytes, long memoryLimit, DiskUse diskUse) {}

  /**
   * @param owner closes the engine
   */
  public static synchronized void opened(Closeable owner, S3E made) {
    OPEN.put(owner, made);
    Map<DiskMetrics.Counter, Long> moved = MOVED.remove(made.metrics().disk());
    if (moved != null) {
      moved.forEach((counter, count) -> PAST.disk().add(counter, -count));
    }
  }

  /** Once the engine of {@code owner} is closed. */
  public static synchronized void closed(Closeable owner) {
    S3E made = OPEN.remove(owner);
    if (made != null) {
      toPast(made);
    }
  }

  /** Once the engine is in {@link #OPEN} no more, since its owner has become unreachable. */
  static synchronized void toPast(S3E made) {
    add(made.metrics(), PAST);
    DiskMetrics disk = made.metrics().disk();
    if (OPEN.values().stream().noneMatch(other -> other.metrics().disk() == disk)) {
      Map<DiskMetrics.Counter, Long> now = new HashMap<>(disk.snapshot());
      now.remove(DiskMetrics.Counter.BREAKERS_OPEN);
      now.forEach(PAST.disk()::add);
      MOVED.put(disk, now);
    }
  }

  private static <C extends Enum<C>> void add(Counters<C> from, Counters<C> to) {
    from.snapshot().forEach(to::add);
  }

  /** The sum over all engines. */
  public static synchronized Work work() {
    EngineMetrics sum = new EngineMetrics();
    add(PAST, sum);
    add(PAST.disk(), sum.disk());
    Map<DiskMetrics, Boolean> counted = new IdentityHashMap<>();
    long memory = 0;
    long limit = 0;
    DiskUse use = new DiskUse(0, 0);
    for (S3E each : OPEN.values()) {
      add(each.metrics(), sum);
      if (counted.put(each.metrics().disk(), true) == null) {
        add(each.metrics().disk(), sum.disk());
      }
      memory += each.memoryBytes();
      limit = Math.max(limit, each.memoryLimit());
      DiskUse ofEngine = each.diskUse();
      if (ofEngine != null) {
        use = ofEngine;
      }
    }
    return new Work(sum, memory, limit, use);
  }

  /** What has been learnt of files by all engines, by place. */
  public static synchronized Map<String, PlaceFacts> learnt() {
    Map<String, PlaceFacts> all = new HashMap<>();
    OPEN.values().stream()
        .map(S3E::learnt)
        .distinct()
        .forEach(memory -> all.putAll(memory.facts()));
    return all;
  }

  /**
   * The latest GETs of all engines that are open, those of each engine the latest first: at most as
   * many as a {@link GetLedger} keeps of each.
   */
  public static List<GetRecord> gets() {
    Set<GetLedger> ledgers = Collections.newSetFromMap(new IdentityHashMap<>());
    synchronized (OpenEngines.class) {
      OPEN.values().forEach(each -> ledgers.add(each.gets()));
    }
    List<GetRecord> gets = new ArrayList<>();
    ledgers.forEach(ledger -> gets.addAll(ledger.latest(null, GetLedger.CAPACITY)));
    return gets;
  }

  /**
   * Ends the reads of all engines and closes them; their file systems read no more. For the end of
   * the process.
   */
  public static void closeAll() {
    List<Closeable> owners;
    synchronized (OpenEngines.class) {
      owners = new ArrayList<>(OPEN.keySet());
    }
    for (Closeable each : owners) {
      try {
        each.close();
      } catch (IOException | RuntimeException e) {
        LOG.warn("Closing {}", each, e);
      }
    }
  }
}
