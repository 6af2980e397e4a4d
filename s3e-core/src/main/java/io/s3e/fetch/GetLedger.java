// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ObjectRef;
import io.s3e.client.GetRequest;
import io.s3e.jvm.Background;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The latest {@value #CAPACITY} GETs of an engine, of all its tenants: why each was sent, and what
 * became of its bytes. A GET more replaces the oldest one. Some 400 bytes of heap for each.
 *
 * <p>Any thread; nobody waits.
 */
public final class GetLedger {
  /** How many GETs are kept. */
  public static final int CAPACITY = 4096;

  private static final Logger LOG = LoggerFactory.getLogger(GetLedger.class);

  private final AtomicReferenceArray<GetRecord> ring;
  private final @Nullable GetSink sink;
  private final @Nullable Consumer<GetRecord> settled;
  private final AtomicLong begun = new AtomicLong();

  /** Those that the sink has not taken yet. */
  private final Set<GetRecord> open = ConcurrentHashMap.newKeySet();

  /**
   * @param keeps false keeps none
   * @param sink takes each once it is settled, or the engine ends; null if there is none
   */
  public GetLedger(boolean keeps, @Nullable GetSink sink) {
    this.ring = new AtomicReferenceArray<>(keeps ? CAPACITY : 0);
    this.sink = sink;
    this.settled = keeps || sink != null ? this::settled : null;
  }

  /** A GET is about to be given to a client. */
  GetRecord begin(GetRequest request, GetRecord.Reader by, Enum<?> reason, int attempt) {
    long id = begun.getAndIncrement();
    GetRecord get = new GetRecord(settled, id, request, by, reason, attempt);
    if (ring.length() > 0) {
      ring.set((int) (id % CAPACITY), get);
    }
    if (sink != null) {
      open.add(get);
    }
    return get;
  }

  /** A sink that throws loses the GET, and must not end what tells of it. */
  @SuppressWarnings("IllegalCatch")
  private void settled(GetRecord get) {
    if (sink == null) {
      return;
    }
    open.remove(get);
    try {
      sink.take(get);
    } catch (Throwable e) {
      Background.log(() -> LOG.warn("{} has not taken {}", sink, get, e));
    }
  }

  /** The engine ends: the sink takes those that are not settled as they are. */
  public void close() {
    open.forEach(this::settled);
  }

  /**
   * The latest GETs, the latest first.
   *
   * @param of the object that they read; null for any
   * @param most how many at most
   */
  public List<GetRecord> latest(@Nullable ObjectRef of, int most) {
    List<GetRecord> found = new ArrayList<>();
    long end = begun.get();
    for (long n = end - 1; n >= Math.max(0, end - ring.length()) && found.size() < most; n--) {
      GetRecord get = ring.get((int) (n % CAPACITY));
      if (get != null && (of == null || of.equals(get.object()))) {
        found.add(get);
      }
    }
    return found;
  }
}
