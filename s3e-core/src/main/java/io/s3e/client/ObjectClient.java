// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Reads ranges of S3 objects. One instance serves many objects and threads; all methods may be
 * called from any thread. The contract is checked by one suite over every implementation.
 */
public interface ObjectClient extends AutoCloseable {

  /** Short name for logs and reports, for example {@code crt-borrowed}. */
  String name();

  /** The load that the client can carry; constant over its life. */
  ClientLimits limits();

  /**
   * Asks for an object's size and version. Blocks the calling thread, at most for the configured
   * request timeout.
   *
   * @throws RequestFailure if the store refuses or the network fails; {@link
   *     RequestFailure.Kind#NOT_FOUND} if there is no such object
   */
  ObjectHead head(HeadRequest request) throws IOException;

  /**
   * Starts one GET of {@code request.range()} and returns without waiting for the network (a client
   * with its own threads may queue it). Everything else is told to {@code handler}, including
   * failures to start. Sends {@code Range}, {@code If-Match} where an ETag is given, and the
   * request's own headers; asks for no checksum and no compression.
   *
   * @return a handle to cancel the exchange
   */
  Exchange get(GetRequest request, ResponseHandler handler);

  /**
   * Brings a remedy about and runs {@code then} once, when it has or when it cannot. Never blocks;
   * {@code then} runs on any thread, perhaps before this returns.
   *
   * @param remedy other than {@link Remedy#NONE}
   * @param answer the refusal that asks for it; null if nothing was sent
   */
  default void remedy(Remedy remedy, @Nullable StoreAnswer answer, Runnable then) {
    then.run();
  }

  /**
   * Stands for the credentials that requests are signed with now: equal as long as these are the
   * same, and no secret. Null if that is not known. Never blocks.
   */
  default @Nullable Object credentials() {
    return null;
  }

  /**
   * Cancels what is in flight, waits a bounded time for it to end, and frees the client's memory
   * and threads. Idempotent. A {@code get} after {@code close} fails through its handler.
   */
  @Override
  void close();

  /** A GET under way. */
  interface Exchange {
    /**
     * Asks the client to stop early. Idempotent, never blocks, may be called from any thread,
     * including from within the handler. The handler still gets its one terminal call, soon.
     */
    void cancel();
  }
}
