// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import io.s3e.block.ObjectVersion;
import io.s3e.fetch.EncodedBodyException;
import io.s3e.fetch.GetRecord;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.fetch.ObjectHandle;
import io.s3e.fetch.ObjectTruncatedException;
import io.s3e.fetch.Patience;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.util.List;

/**
 * The failures of one stream's reads. A read may go on where the store only has to say better what
 * the object is; every other error tells the object, its size, the offset and length of the read,
 * and the tenant's latest GETs of it. Any thread.
 */
record ReadFailures(StreamSource source, ObjectHandle handle) {
  static final String CLOSED = "Stream is closed!";

  /** So many GETs of the object an error tells of. */
  private static final int TOLD_GETS = 5;

  /** Whether {@link #recover} asks the store how a failed read goes on. */
  static boolean isRecoverable(IOException cause) {
    return cause instanceof ObjectTruncatedException || cause instanceof EncodedBodyException;
  }

  /** Lets a failed read go on if it only has to know better what the object is; throws if not. */
  void recover(IOException cause, long at, long length, Patience patience) throws IOException {
    try {
      if (cause instanceof ObjectTruncatedException truncated) {
        source.heads().confirmSize(handle, truncated, patience);
        if (at < handle.size()) {
          throw new IOException(
              "The store answered that a range inside the object is behind its end", cause);
        }
      } else if (cause instanceof EncodedBodyException encoded) {
        source.heads().confirmEncoding(handle, encoded, patience);
      } else {
        throw cause;
      }
    } catch (IOException e) {
      throw describe(e, at, length);
    }
  }

  /** The same error with the read and the object told; types that callers know are kept. */
  IOException describe(IOException cause, long at, long length) {
    if (handle.isClosed()) {
      return closed();
    }
    String read = "Reading " + length + " bytes at offset " + at + " of " + object();
    String message = read + " failed: " + cause.getMessage() + latestGets();
    if (cause instanceof ObjectChangedException) {
      return new ObjectChangedException(message, cause);
    }
    if (cause instanceof InterruptedIOException) {
      boolean isLate = cause instanceof SocketTimeoutException;
      var told = isLate ? new SocketTimeoutException(message) : new InterruptedIOException(message);
      return (IOException) told.initCause(cause);
    }
    if (cause instanceof FileNotFoundException || cause instanceof EOFException) {
      return cause;
    }
    return new IOException(message, cause);
  }

  private String latestGets() {
    List<GetRecord> gets = source.fetcher().latestGets(handle.version.object());
    StringBuilder told = new StringBuilder();
    for (int i = 0; i < Math.min(TOLD_GETS, gets.size()); i++) {
      told.append(i == 0 ? "; its latest GETs: (" : ", (").append(i + 1).append(") ");
      told.append(gets.get(i));
    }
    return told.toString();
  }

  IOException closed() {
    return new IOException(CLOSED + " " + object());
  }

  EOFException endOfObject(long at, long length) {
    return new EOFException(
        "End of object reached: " + length + " bytes wanted from offset " + at + " of " + object());
  }

  /** The object, and its size where it is not the one that was told at opening. */
  String object() {
    ObjectVersion version = handle.version;
    return handle.size() == version.size()
        ? version.toString()
        : version + " that has " + handle.size() + " bytes";
  }
}
