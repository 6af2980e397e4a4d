// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.block.BlockRange;
import org.jspecify.annotations.Nullable;

/** Makes streams and announcements, whose API names no {@link BlockReader}: that is no API. */
public final class StreamFactory {
  private StreamFactory() {}

  /** A stream of what {@code reader} has opened, and of what {@code announced} brought of it. */
  public static S3EInputStream open(BlockReader reader, @Nullable Announcement announced) {
    if (announced != null) {
      announced.readBy(reader);
    }
    return new S3EInputStream(reader);
  }

  /** Starts fetching the end of an object that nobody has opened; null if nothing is fetched. */
  public static @Nullable Announcement announce(BlockReader reader) {
    BlockRange end = reader.announced();
    reader.handle.progress.onOwnOrder();
    return reader.pump.announce(end) > end.first() ? new Announcement(reader, end) : null;
  }
}
