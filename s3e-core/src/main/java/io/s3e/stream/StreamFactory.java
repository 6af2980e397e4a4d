// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import org.jspecify.annotations.Nullable;

/** Makes the streams of an engine, and what goes before them: applications have no part in it. */
public final class StreamFactory {
  private StreamFactory() {}

  /**
   * A stream that reads what {@code reader} has opened.
   *
   * @param announced of an object that may be the one that was opened: what it brought is read too
   *     then; null if there is none
   */
  public static S3EInputStream open(BlockReader reader, @Nullable Announcement announced) {
    if (announced != null) {
      announced.readBy(reader);
    }
    return new S3EInputStream(reader);
  }

  /**
   * Starts fetching the end of an object that nobody has opened, or all of a small one: as a guess.
   *
   * @return null if there was no room for the first of it, or nothing is fetched ahead
   */
  public static @Nullable Announcement announce(BlockReader reader) {
    return Announcement.of(reader);
  }
}
