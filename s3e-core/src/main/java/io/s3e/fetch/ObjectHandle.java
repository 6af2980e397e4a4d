package io.s3e.fetch;

import io.s3e.block.BlockId;
import io.s3e.block.BlockLayout;
import io.s3e.block.ObjectVersion;
import io.s3e.metrics.StreamListener;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One opening of one object: which version, cut how, and what goes along with its requests.
 * Requests in flight hold the handle, never the stream, so that a forgotten stream can be
 * collected.
 *
 * <p>If the ETag was not known at opening, the first accepted answer tells it; from then on every
 * request sends it and every answer must carry it. Any thread.
 */
public final class ObjectHandle {
  private static final String CUSTOMER_KEY_HEADERS = "x-amz-server-side-encryption-customer-";

  private final ObjectVersion version;
  private final BlockLayout layout;
  private final Map<String, String> headers;
  private final @Nullable Object context;
  private final StreamListener listener;
  private final AtomicReference<@Nullable String> etag;
  private volatile @Nullable String storedEncoding;
  private volatile boolean closed;
  private volatile long lastReadNanos = System.nanoTime();
  private volatile long position;
  private volatile boolean inOrder;
  private volatile boolean scanning;
  private volatile boolean answered;
  private final boolean customerKey;
  private volatile @Nullable ObjectVersion known;

  public ObjectHandle(
      ObjectVersion version,
      int blockBytes,
      Map<String, String> headers,
      @Nullable Object context,
      StreamListener listener) {
    this.version = version;
    this.layout = new BlockLayout(version.size(), blockBytes);
    this.headers = headers;
    this.context = context;
    this.listener = listener;
    this.etag = new AtomicReference<>(version.etag());
    this.customerKey =
        headers.keySet().stream()
            .anyMatch(name -> name.toLowerCase(Locale.ROOT).startsWith(CUSTOMER_KEY_HEADERS));
    this.known = version.etag() == null ? null : version;
  }

  /** The same opening of an object that turned out to have another size. */
  public ObjectHandle resized(long size) {
    ObjectHandle resized =
        new ObjectHandle(
            ObjectVersion.unidentified(version.object(), size, version.versionId()),
            layout.blockSize(),
            headers,
            context,
            listener);
    resized.etag.set(etag.get());
    resized.storedEncoding = storedEncoding;
    return resized;
  }

  public ObjectVersion version() {
    return version;
  }

  public BlockLayout layout() {
    return layout;
  }

  public BlockId block(long index) {
    return new BlockId(version, index);
  }

  public Map<String, String> headers() {
    return headers;
  }

  public @Nullable Object context() {
    return context;
  }

  public StreamListener listener() {
    return listener;
  }

  /** The ETag that the object was opened with or has told since; null if neither. */
  public @Nullable String etag() {
    return etag.get();
  }

  /**
   * The version that the handle turned out to read, which others may know it by as well; null as
   * long as nobody has told its ETag.
   */
  @Nullable ObjectVersion knownVersion() {
    ObjectVersion found = known;
    String seen = etag.get();
    if (found == null && seen != null) {
      found = ObjectVersion.identified(version.object(), version.size(), seen, version.versionId());
      known = found;
    }
    return found;
  }

  /** Whether requests carry a customer's key: what they bring is nobody else's to see. */
  boolean hasCustomerKey() {
    return customerKey;
  }

  /** S3 has accepted a GET for it. */
  void answered() {
    if (!answered) {
      answered = true;
    }
  }

  boolean isAnswered() {
    return answered;
  }

  /** Remembers the ETag of the first answer; false if an earlier answer had another. */
  boolean learnEtag(String seen) {
    return etag.compareAndSet(null, seen) || seen.equals(etag.get());
  }

  /**
   * The object itself is stored with this Content-Encoding: answers that have it are as they
   * should.
   */
  public void storedAs(String encoding) {
    storedEncoding = encoding;
  }

  boolean isStoredAs(String encoding) {
    return encoding.equals(storedEncoding);
  }

  /** A reader has come to another block, at {@code offset} of the object. */
  public void onRead(long offset) {
    position = offset;
    lastReadNanos = System.nanoTime();
  }

  /** Where in the object the last read began. */
  long position() {
    return position;
  }

  /**
   * How its reader goes through the object, as far as one can tell.
   *
   * @param forward it goes forward for the moment
   * @param scans it goes from front to end
   */
  public void setPattern(boolean forward, boolean scans) {
    if (inOrder != forward) {
      inOrder = forward;
    }
    if (scanning != scans) {
      scanning = scans;
    }
  }

  boolean isInOrder() {
    return inOrder;
  }

  boolean isScanning() {
    return scanning;
  }

  /** When a reader last came to another block, by {@link System#nanoTime()}. */
  long lastReadNanos() {
    return lastReadNanos;
  }

  /** Nobody will read through this handle any more; those who wait on it give up. */
  public void close() {
    closed = true;
  }

  public boolean isClosed() {
    return closed;
  }
}
