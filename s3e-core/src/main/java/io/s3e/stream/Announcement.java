// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.block.BlockRange;
import io.s3e.block.ObjectVersion;
import io.s3e.memory.Block;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An object that somebody is about to open. Its last bytes, or all of a small one, are on their way
 * to memory as a guess; so are its ETag, and the proof that it has the size that was told. Streams
 * that are opened with the announcement read what it brought, as long as that is in memory.
 *
 * <p><b>States.</b> <i>Asked</i>: the GET is under way, {@link #etag} is null. <i>Answered</i>: the
 * ETag is known and stays. <i>Failed</i>: the GET has ended without an answer; nothing is known,
 * and that is nobody's error. Independent of these, <i>released</i>: what is under way is cancelled
 * unless a reader waits for it, and what came may go.
 *
 * <p>Any thread. Holds no memory itself.
 */
public final class Announcement {
  private final BlockReader reader;
  private final BlockRange asked;

  /** {@code asked} is on its way to {@code reader}. */
  Announcement(BlockReader reader, BlockRange asked) {
    this.reader = reader;
    this.asked = asked;
  }

  /** ETag of the version that was announced; null as long as the store has not told it. */
  public @Nullable String etag() {
    return reader.handle.isOfToldSize() ? reader.handle.etag() : null;
  }

  /** Length in bytes, as the announcing caller told it. */
  public long size() {
    return reader.handle.version.size();
  }

  /**
   * Waits until the store has answered, the GET has ended otherwise, or {@code limit} is over.
   *
   * @return whether the ETag is known
   * @throws java.io.InterruptedIOException if the thread was interrupted; its flag is set
   */
  public boolean awaitAnswer(Duration limit) throws IOException {
    Block first = etag() == null ? reader.fetcher.find(reader.handle, asked.first()) : null;
    if (first != null) {
      try {
        boolean unused = reader.fetcher.isReadyWithin(first, limit.toNanos());
      } finally {
        first.unpin();
      }
    }
    return etag() != null;
  }

  /** What was announced is read by {@code opened} too, if that turned out to be the version. */
  void readBy(BlockReader opened) {
    ObjectVersion version = opened.handle.version;
    String announced = version.isIdentified() ? etag() : null;
    if (announced != null && announced.equals(version.etag()) && version.size() == size()) {
      opened.handle.announcedAs(reader.handle.version);
    }
  }

  /** Nobody will open the object: cancels what is under way, lets what came go. Idempotent. */
  public void release() {
    reader.handle.close();
    reader.pump.release();
  }

  @Override
  public String toString() {
    return "Announcement{" + reader.handle.version + ", told " + etag() + "}";
  }
}
