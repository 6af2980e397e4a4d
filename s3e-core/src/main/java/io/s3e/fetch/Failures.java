// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.client.RequestFailure;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Whose concern a failed fetch is. */
final class Failures {
  private Failures() {}

  /** A failure after which the reader asks anew: a cancelled GET, or a lent one that cannot be. */
  static boolean isNobodysError(Exception failure) {
    return failure instanceof RequestFailure request
        && (request.kind() == RequestFailure.Kind.CANCELLED
            || request.kind() == RequestFailure.Kind.NOT_LENT);
  }

  /** The error that the reader sees: the reason behind a rejected answer, where that is news. */
  static IOException asIoException(Exception failure) {
    if (failure instanceof ObjectTruncatedException truncated) {
      return truncated;
    }
    Throwable cause = failure.getCause();
    if (cause instanceof IOException found && isForTheReader(found)) {
      return found;
    }
    if (failure instanceof RequestFailure request) {
      return switch (request.kind()) {
        case CHANGED ->
            new ObjectChangedException(
                "Object changed while it was read: " + request.getMessage(), request);
        case OUT_OF_RANGE ->
            new ObjectTruncatedException(String.valueOf(request.getMessage()), request);
        default -> request;
      };
    }
    return new IOException(failure);
  }

  /** What went wrong in this process, whatever the store does. */
  static RequestFailure broke(String subject, Throwable e) {
    return new RequestFailure(RequestFailure.Kind.OTHER, subject, "could not go on: " + e, e);
  }

  /** A cause that sending the same GET again would not change, and that its reader can act on. */
  static boolean isForTheReader(@Nullable Throwable cause) {
    return cause instanceof ObjectChangedException
        || cause instanceof ObjectTruncatedException
        || cause instanceof EncodedBodyException;
  }
}
