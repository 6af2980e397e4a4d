package io.s3e.disk;

import io.s3e.disk.DiskIo.AppendFile;
import io.s3e.disk.DiskIo.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fetches that processes of an instance have under way: one file that all append to, 64 bytes
 * when a fetch begins and 64 when it has ended. The kernel puts records one behind the other, so
 * all processes see the same order, and the first in the file of two that claim a chunk has it.
 *
 * <p><b>States of a claim.</b> <i>Living</i>, from its record FETCHING on; <i>ended</i>, by its
 * record FETCHED, or because it is older than {@value #LIFE_MILLIS} ms: its process was killed, or
 * its fetch has gone wrong. Ended ones are forgotten.
 *
 * <p><b>The file.</b> A process that finds it longer than {@value #MOST_BYTES} bytes cuts it off to
 * nothing, and its claims are lost. Broken records are passed over, and where records do not stand
 * at multiples of their length any more the file is cut off as well. {@link SharedRegions} looks
 * from time to time whether the file was deleted or replaced, and opens it anew.
 *
 * <p>Claims only save requests. A claim that is lost, or held twice, costs a second fetch of the
 * same bytes and nothing else.
 *
 * <p><b>Threads.</b> Any. {@link #claim}, {@link #ended} and {@link #refresh} block on the disk,
 * with {@code this} held over one append and one read, so that what was appended is also seen; the
 * state in memory has a lock of its own, for {@link #unclaimedFrom}.
 */
final class SharedClaims implements AutoCloseable {
  /** A fetch that takes longer is not waited for, in ms. */
  static final long LIFE_MILLIS = 2_000;

  /** The length at which the file is cut off, in bytes. */
  static final long MOST_BYTES = 1 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(SharedClaims.class);

  /** The processes that may fetch. */
  enum Claimant {
    /** This process: the caller has a claim, and ends it. */
    THIS_PROCESS,
    /** Another process: it is worth waiting for. */
    ANOTHER,
    /** Nobody that is known: claims are not to be had just now. */
    NOBODY
  }

  /**
   * One claim; living ones stand in the order of the file.
   *
   * @param number unlike any other's that this process has read
   */
  private record Claim(
      long number, StoredObject object, int first, int end, long millis, long owner) {}

  private final DiskIo io;
  private final Path file;
  private final StoredObjects objects;
  private final LongSupplier millisClock;
  private final long owner;

  // Guarded by this.
  private AppendFile out;
  private OpenFile in;
  private @Nullable Object identity;
  private final IndexRecord record = new IndexRecord();
  private final ByteBuffer buffer = ByteBuffer.allocate(16 << 10);
  private long position;

  /** Records that were read so far. */
  private long read;

  // Guarded by living.
  private final Map<StoredObject, List<Claim>> living = new HashMap<>();
  private final Deque<Claim> inOrder = new ArrayDeque<>();

  private SharedClaims(DiskIo io, Path file, StoredObjects objects, LongSupplier millisClock)
      throws IOException {
    this.io = io;
    this.file = file;
    this.objects = objects;
    this.millisClock = millisClock;
    this.owner = new SecureRandom().nextLong();
    this.out = io.openToAppend(file);
    try {
      this.in = io.openOrCreate(file);
    } catch (IOException e) {
      out.close();
      throw e;
    }
    this.identity = io.identityOf(file);
  }

  /** Opens the file of an instance. */
  static SharedClaims open(
      DiskIo io, Path instance, StoredObjects objects, LongSupplier millisClock)
      throws IOException {
    return new SharedClaims(io, SharedInstance.claimsOf(instance), objects, millisClock);
  }

  /**
   * Claims chunks {@code [first, end)} for a fetch, unless another process fetches the first of
   * them. Several threads of this process may have claims of the same chunks.
   *
   * @return THIS_PROCESS if the caller is to fetch them, and to call {@link #ended}; or ANOTHER
   */
  synchronized Claimant claim(StoredObject object, int firstChunk, int endChunk)
      throws IOException {
    refresh();
    if (isClaimedByAnother(object, firstChunk)) {
      return Claimant.ANOTHER;
    }
    append(IndexRecord.Type.FETCHING, object, firstChunk, endChunk);
    refresh();
    // The first in the file has it: if that is another's, it was quicker.
    if (isClaimedByAnother(object, firstChunk)) {
      append(IndexRecord.Type.FETCHED, object, firstChunk, endChunk);
      return Claimant.ANOTHER;
    }
    return Claimant.THIS_PROCESS;
  }

  /** A claimed fetch has ended, well or not. A disk that fails leaves the claim to age. */
  synchronized void ended(StoredObject object, int firstChunk, int endChunk) {
    try {
      append(IndexRecord.Type.FETCHED, object, firstChunk, endChunk);
      refresh();
    } catch (IOException e) {
      LOG.debug("The end of a fetch of {} cannot be told", object, e);
    }
  }

  /** How many chunks from {@code first} on, and before {@code end}, no other process fetches. */
  int unclaimedFrom(StoredObject object, int first, int end) {
    synchronized (living) {
      forgetOld();
      int free = end;
      for (Claim claim : living.getOrDefault(object, List.of())) {
        if (claim.owner() != owner && claim.end() > first) {
          free = Math.min(free, Math.max(first, claim.first()));
        }
      }
      return free - first;
    }
  }

  private boolean isClaimedByAnother(StoredObject object, int chunk) {
    synchronized (living) {
      forgetOld();
      for (Claim claim : living.getOrDefault(object, List.of())) {
        if (claim.first() <= chunk && chunk < claim.end()) {
          return claim.owner() != owner;
        }
      }
      return false;
    }
  }

  private void append(IndexRecord.Type type, StoredObject object, int first, int end)
      throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(IndexRecord.BYTES);
    long millis = millisClock.getAsLong();
    IndexRecord.putFetch(bytes, type, object, first, end - first, millis, owner);
    out.append(bytes.flip());
  }

  /** Reads what was appended since. */
  synchronized void refresh() throws IOException {
    long size = in.size();
    if (size < position) {
      position = 0;
    }
    if (size - position <= MOST_BYTES) {
      read(size);
    }
    if (size > MOST_BYTES || size % IndexRecord.BYTES != 0) {
      cutOff();
    }
  }

  private void read(long size) throws IOException {
    while (position < size) {
      int count = in.read(buffer.clear(), position);
      int whole = count - count % IndexRecord.BYTES;
      if (whole <= 0) {
        return;
      }
      for (int at = 0; at < whole; at += IndexRecord.BYTES) {
        if (record.read(buffer, at)) {
          note();
        }
      }
      position += whole;
    }
  }

  /** Whether the file is still the one of that name. */
  synchronized boolean isInPlace() throws IOException {
    return Objects.equals(identity, io.identityOf(file));
  }

  /** Opens the file of that name in place of the one that is held. */
  synchronized void reopen() throws IOException {
    AppendFile newOut = io.openToAppend(file);
    OpenFile newIn;
    try {
      newIn = io.openOrCreate(file);
    } catch (IOException e) {
      newOut.close();
      throw e;
    }
    close();
    out = newOut;
    in = newIn;
    identity = io.identityOf(file);
    position = 0;
  }

  private void cutOff() throws IOException {
    in.truncate(0);
    position = 0;
  }

  private void note() {
    StoredObject object = record.object(objects);
    int first = record.chunk();
    int count = record.count();
    if (object == null || first < 0 || count <= 0 || count > object.chunks() - first) {
      return;
    }
    Claim claim = new Claim(++read, object, first, first + count, record.millis(), record.owner());
    synchronized (living) {
      if (record.type() == IndexRecord.Type.FETCHING && !isOld(claim)) {
        living.computeIfAbsent(object, unused -> new ArrayList<>(2)).add(claim);
        inOrder.add(claim);
      } else if (record.type() == IndexRecord.Type.FETCHED) {
        end(claim);
      }
      forgetOld();
    }
  }

  /** Ends the claim of the same range and owner. */
  private void end(Claim ended) {
    List<Claim> claims = living.getOrDefault(ended.object(), List.of());
    for (Claim claim : claims) {
      if (claim.owner() == ended.owner()
          && claim.first() == ended.first()
          && claim.end() == ended.end()) {
        forget(claim);
        return;
      }
    }
  }

  private void forget(Claim gone) {
    List<Claim> claims = living.get(gone.object());
    if (claims != null
        && claims.removeIf(claim -> claim.number() == gone.number())
        && claims.isEmpty()) {
      living.remove(gone.object());
    }
  }

  private void forgetOld() {
    for (Claim oldest = inOrder.peek(); oldest != null && isOld(oldest); oldest = inOrder.peek()) {
      inOrder.remove();
      forget(oldest);
    }
  }

  /** Older than it may be, or from the future: the clock was set back since. */
  private boolean isOld(Claim claim) {
    return Math.abs(millisClock.getAsLong() - claim.millis()) > LIFE_MILLIS;
  }

  @Override
  public synchronized void close() throws IOException {
    try {
      out.close();
    } finally {
      in.close();
    }
  }
}
