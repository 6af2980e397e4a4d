// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.BlockId;
import io.s3e.block.BlockLayout;
import io.s3e.block.ObjectVersion;
import io.s3e.disk.StoredObject;
import io.s3e.memory.Block;
import io.s3e.metrics.EngineMetrics;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.metrics.StreamListener;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ObjLongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One opening of one object: which version, cut how, and what goes along with its requests.
 * Requests in flight hold the handle, never the stream, so that a forgotten stream can be
 * collected.
 *
 * <p>If the ETag was not known at opening, the first accepted answer tells it; from then on every
 * request sends it and every answer must carry it. Blocks that are asked for after that are entered
 * under the name of the version that turned out to be read, which other streams share; those of
 * before are found as what was announced is.
 *
 * <p><b>Names.</b> Blocks are entered under {@link #name}: {@link #version}, as it was opened, and
 * once the ETag is known {@link #knownVersion}; {@link #announced} is what blocks of before are
 * found by, {@link #apart} what those are entered under whose name others hold that are not to be
 * used.
 *
 * <p><b>Size.</b> The grid of blocks is cut over the size that was told at opening, and stays. The
 * first accepted answer says how many bytes there really are. That total is pinned, and every later
 * answer must agree with it; a size that the store has told is pinned from the start. Only a size
 * that the opener told without an ETag may be too long, since an ETag comes with the size of its
 * version. So {@link #size} shrinks once at most, and blocks that other streams share never do. Any
 * thread.
 */
public final class ObjectHandle {
  private static final String CUSTOMER_KEY_HEADERS = "x-amz-server-side-encryption-customer-";

  /**
   * An answer of S3's: its reader may have the version, as {@link Proofs} tells. {@code nanos} and
   * {@code millis} are by their clocks; {@code credentials} are null if not known.
   */
  record Proof(long nanos, long millis, @Nullable Object credentials) {}

  private static final long NOT_PINNED = -1;

  public final ObjectVersion version;

  /** The grid over the size that was told at opening. */
  public final BlockLayout layout;

  private final AtomicLong total = new AtomicLong(NOT_PINNED);
  final Map<String, String> headers;
  final @Nullable Object context;
  public final StreamListener listener;
  private final ObjLongConsumer<Counter> counts;
  public final ReaderProgress progress;
  final LongestGet longestGet = new LongestGet();
  private final AtomicReference<@Nullable String> etag;

  /** The object's own Content-Encoding, empty if it has none; null before the store was asked. */
  volatile @Nullable String storedEncoding;

  GetRecord.Reader reader = new GetRecord.Reader("", 0, null);
  private volatile @Nullable Supplier<@Nullable String> cancelled;

  /** S3's latest answer to the tenant that is known here, by this handle's GET or another's. */
  volatile @Nullable Proof proof;

  /** The GET that is to be the next proof, while others wait for it; null if there is none. */
  volatile @Nullable Block asking;

  /** The version under which blocks of this handle may be held apart; null if none are. */
  volatile @Nullable ObjectVersion apart;

  /** The version that was fetched before its ETag was known; null if none was. */
  volatile @Nullable ObjectVersion announced;

  /** Whether requests carry a customer's key: what they bring is nobody else's to see. */
  final boolean hasCustomerKey;

  private volatile @Nullable ObjectVersion known;
  private volatile @Nullable Object sharedBy;

  /** What blocks are entered under: {@link #version}, until it is known which one that is. */
  private volatile ObjectVersion name;

  private volatile @Nullable StoredObject stored;

  /** Counts for a tenant, and tells the listener of one of its streams. */
  public static ObjLongConsumer<Counter> counts(EngineMetrics tenant, StreamListener listener) {
    return (counter, amount) -> {
      tenant.add(counter, amount);
      listener.onCount(counter, amount);
    };
  }

  /** Opens a version; {@code counts} is as {@link #counts} makes it. */
  public ObjectHandle(
      ObjectVersion version,
      BlockLayout layout,
      Map<String, String> headers,
      @Nullable Object context,
      StreamListener listener,
      ObjLongConsumer<Counter> counts,
      ReaderProgress progress) {
    this.version = version;
    this.name = version;
    this.layout = layout;
    this.headers = headers;
    this.context = context;
    this.listener = listener;
    this.counts = counts;
    this.progress = progress;
    this.etag = new AtomicReference<>(version.etag());
    this.hasCustomerKey = headers.keySet().stream().anyMatch(ObjectHandle::isCustomerKey);
  }

  /** The object's length in bytes, as far as it is known: of what was told at opening at most. */
  public long size() {
    return Math.min(storedSize(), version.size());
  }

  /** Bytes that the store says there are, or, as long as it has not, that were told at opening. */
  public long storedSize() {
    long pinned = total.get();
    return pinned == NOT_PINNED ? version.size() : pinned;
  }

  /** Whether the store may still say that there are fewer bytes than was told at opening. */
  public boolean isSizeOpen() {
    return version.etag() == null && total.get() == NOT_PINNED;
  }

  /** Whether the store has said that there are as many bytes as was told at opening. */
  public boolean isOfToldSize() {
    return total.get() == version.size();
  }

  /**
   * Remembers how many bytes the store says there are; false if that cannot be: it has said
   * otherwise before, or there are fewer than its ETag came with.
   */
  public boolean pinTotal(long bytes) {
    return (bytes >= version.size() || version.etag() == null)
        && (total.compareAndSet(NOT_PINNED, bytes) || total.get() == bytes);
  }

  /** The name that a block of the handle's is entered under. */
  BlockId block(long index) {
    ObjectVersion held = apart;
    return new BlockId(held == null || (proof != null && !hasCustomerKey) ? name() : held, index);
  }

  /** Once the version that is read is known, its blocks are for all {@code holder} holds for. */
  void sharedBy(Object holder) {
    sharedBy = holder;
  }

  /** The version that blocks of this handle are entered under from now on. */
  ObjectVersion name() {
    Object holder = sharedBy;
    if (holder != null && name.etag() == null && isOfToldSize()) {
      ObjectVersion found = knownVersion();
      if (found != null && found.isIdentified()) {
        // First, so that whoever sees the new name finds what came under the old one.
        announced = announced == null ? version : announced;
        name = found.heldFor(holder);
      }
    }
    return name;
  }

  /** From now on blocks are entered for {@code holder} alone, where their own name is taken. */
  void holdApart(Object holder) {
    if (apart == null) {
      apart = name().heldFor(holder);
    }
  }

  /**
   * What an earlier opening of the same tenant has fetched of this very version, before the ETag
   * was known, may be read through this handle too.
   */
  public void announcedAs(ObjectVersion fetched) {
    announced = fetched;
  }

  /** The name that answers count under for other handles too; null if it is not known. */
  @Nullable ObjectVersion provenName() {
    return hasCustomerKey ? apart : knownVersion();
  }

  void asksBy(Block first) {
    asking = first;
    first.whenSettled(() -> asking = null);
  }

  /** One tenant with one customer's key: the holder of what only that key opens. */
  Object customerKey(Object tenant) {
    Map<String, String> keys = new HashMap<>(headers);
    keys.keySet().removeIf(name -> !isCustomerKey(name));
    return new CustomerKey(tenant, Map.copyOf(keys));
  }

  private record CustomerKey(Object tenant, Map<String, String> headers) {
    /** Without the key. */
    @Override
    public String toString() {
      return "one customer's key";
    }
  }

  private static boolean isCustomerKey(String header) {
    return header.toLowerCase(Locale.ROOT).startsWith(CUSTOMER_KEY_HEADERS);
  }

  /** Counts for the stream and for its tenant. */
  public void count(Counter counter, long amount) {
    counts.accept(counter, amount);
  }

  /** The ETag that the object was opened with or has told since; null if neither. */
  public @Nullable String etag() {
    return etag.get();
  }

  /**
   * The version that the handle turned out to read, which others may know it by as well; null as
   * long as nobody has told its ETag, and if it was opened with a size that is not its own.
   */
  public @Nullable ObjectVersion knownVersion() {
    if (size() != version.size()) {
      return null;
    }
    ObjectVersion found = known;
    String seen = etag.get();
    if (found == null && seen != null) {
      found = ObjectVersion.identified(version.object(), version.size(), seen, version.versionId());
      known = found;
    }
    return found;
  }

  /** The known version of {@code store}'s in a cache on disk; null if there is none. */
  @Nullable StoredObject stored(String store) {
    ObjectVersion identified = knownVersion();
    StoredObject found = stored;
    if (identified != null && found == null) {
      found = StoredObject.of(store, identified);
      stored = found;
    }
    return identified == null ? null : found;
  }

  /** Remembers the ETag of the first answer; false if an earlier answer had another. */
  boolean learnEtag(String seen) {
    return etag.compareAndSet(null, seen) || seen.equals(etag.get());
  }

  /** The tenant's holder, the stream's number, its opener's label of it; once, before it reads. */
  public void readBy(Object tenant, long number, @Nullable String called) {
    reader = new GetRecord.Reader(tenant, number, called);
  }

  /** Reads of threads that {@code words} has words for end with these. */
  public void cancelledBy(@Nullable Supplier<@Nullable String> words) {
    cancelled = words;
  }

  /** Why the calling thread's read is to end; null if it goes on. */
  public @Nullable String cancelled() {
    Supplier<@Nullable String> words = cancelled;
    return words == null ? null : words.get();
  }

  /** Nobody will read through this handle any more; those who wait on it give up. */
  public void close() {
    progress.closed();
  }

  public boolean isClosed() {
    return progress.closed;
  }
}
