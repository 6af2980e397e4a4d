// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.fetch.EncodedBodyException;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.ObjectTruncatedException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executor;

/** The engine as a stream needs it. */
public interface StreamSource {

  /** Longest GET, in bytes. */
  int requestBytes();

  /** Time without progress after which a read fails. */
  Duration readTimeout();

  /**
   * Finds out the size of an object that ends before a range of it, and tells the handle.
   *
   * @throws IOException if the size was not just the opener's word, or cannot be found out
   */
  void confirmSize(ObjectHandle handle, ObjectTruncatedException cause) throws IOException;

  /**
   * Finds out which encoding is the object's own, and tells the handle: answers with another one
   * are asked for again.
   *
   * @throws IOException if the object has changed, or it cannot be found out
   */
  void confirmEncoding(ObjectHandle handle, EncodedBodyException cause) throws IOException;

  /** Runs the copying of vectored reads, which never waits but for the application. */
  Executor copying();

  /** Runs what vectored reads have to wait for: room in memory, and a HEAD; and ends late ones. */
  Executor waiting();
}
