package io.s3e.disk;

import io.s3e.disk.IndexRecord.Header;
import io.s3e.disk.Region.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The log of a shared region, as far as this process has read or written it, and the entries that
 * the index has of it.
 *
 * <p><b>States.</b> <i>Forgotten</i>: nothing of the region is in the index, and the log is to be
 * read from its front. <i>Known</i>: the index has the generation of the header that was read or
 * written last, with all chunks up to a position.
 *
 * <p>One thread at a time, that which holds the {@link SharedRegion}; {@link #header}, {@link
 * #beganMillis} and {@link #isGrowing} are any thread's.
 */
final class RegionTail {
  private static final long GROWS_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final RegionLog log;
  private final Region region;
  private final ChunkIndex index;
  private final StoredObjects objects;
  private final @Nullable CacheKey key;

  /** Behind the last record; 0 while the region is forgotten. */
  private long position;

  private volatile long beganMillis;

  /** When the log was last found longer than before, or another's. */
  private volatile long grewNanos;

  RegionTail(
      RegionLog log,
      Region region,
      ChunkIndex index,
      StoredObjects objects,
      @Nullable CacheKey key) {
    this.log = log;
    this.region = region;
    this.index = index;
    this.objects = objects;
    this.key = key;
  }

  /** When the present generation began, in ms since 1970. */
  long beganMillis() {
    return beganMillis;
  }

  /** Whether the log has grown lately. */
  boolean isGrowing(long nowNanos) {
    return nowNanos - grewNanos < GROWS_NANOS;
  }

  /** The header on disk; null if there is none that is whole. */
  @Nullable Header header() throws IOException {
    return log.header();
  }

  /**
   * Reads what the log has more, if its length says that it has. A log that was begun anew and is
   * as long as before is found when its chunks are read.
   */
  void readIfLonger() throws IOException {
    long size = log.size();
    if (size != position) {
      read(size);
    }
  }

  /**
   * Reads what the log has more. The header is read whatever the length: the next generation must
   * be one more than its.
   */
  void read() throws IOException {
    read(log.size());
  }

  /** Reads what the log has more, or all of it if it is another one. */
  private void read(long size) throws IOException {
    Header header = log.header();
    if (header == null) {
      clear();
      return;
    }
    boolean isSame = header.generation() == region.generation();
    if (!isSame || position == 0 || size < position) {
      enter(header);
    }
    long before = position;
    position = log.scan(before, header.generation(), new IndexRecord(), this::add);
    if (position > before) {
      grewNanos = System.nanoTime();
    }
  }

  /** The log is found to be another one: nothing is known before it is read, which is soon. */
  void forget() {
    clear();
    grewNanos = System.nanoTime();
  }

  private void clear() {
    if (region.generation() != 0) {
      index.begin(region, 0, Kind.LASTING, null);
    }
    position = 0;
  }

  /** Begins a generation on disk and in the index. */
  void begin(Header header) throws IOException {
    log.begin(header);
    enter(header);
  }

  private void enter(Header header) {
    CacheKey secret = key;
    RegionKey sealedWith = secret == null ? null : RegionKey.of(secret, header.salt());
    index.begin(region, header.generation(), header.kind(), sealedWith);
    beganMillis = header.beganMillis();
    position = RegionLog.FIRST;
  }

  private void add(IndexRecord record) {
    if (record.type() != IndexRecord.Type.CHUNK) {
      return;
    }
    StoredObject object = record.object(objects);
    if (object != null && record.fits(object, region.bytes())) {
      boolean unused =
          index.add(
              region, object, record.chunk(), record.slot(), record.sealHigh(), record.sealLow());
    }
  }

  /** Cuts off what is behind the last whole record. */
  void cutOff() throws IOException {
    if (log.size() > position) {
      log.cutOff(position);
    }
  }

  /** Writes records behind the last one; their chunks are in the index. */
  void append(ByteBuffer records) throws IOException {
    int length = records.remaining();
    log.append(records, position);
    position += length;
  }
}
