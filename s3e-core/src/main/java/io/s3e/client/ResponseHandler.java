// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Hears one GET. The client calls, one call at a time and each happening before the next (not
 * always from the same thread):
 *
 * <pre>onResent* onHead ( onData* | onLent ) onDone      or, at any point,      onFailure</pre>
 *
 * Exactly one of {@code onDone} and {@code onFailure} is called, it is the last call but for {@link
 * #onSent}, and after it the client touches nothing it passed here. Status codes other than 2xx
 * arrive as {@code onFailure}, not as {@code onHead}. Calls run on the client's threads, possibly a
 * network event loop: they must not block.
 */
public interface ResponseHandler {

  /**
   * The request has gone out to the store: once for each time that it does. Told as soon as the
   * client knows, which may be when the response has begun or when the exchange ends; a request
   * that was cancelled before it went out is never told. The one call that may come beside another,
   * and after the terminal one: of a request that was given up for one sent in its place.
   */
  default void onSent() {}

  /**
   * The client is about to send the same request once more by itself, before a response began: to
   * another region, or on a new connection.
   *
   * @param failure why
   */
  default void onResent(RequestFailure failure) {}

  /**
   * The response has begun.
   *
   * @throws IOException if the response is not wanted; the client cancels the exchange and passes
   *     this exception to {@code onFailure} (wrapped as {@link RequestFailure.Kind#REJECTED})
   */
  void onHead(ResponseHead head) throws IOException;

  /**
   * The next bytes of the body, in order. The buffer is the client's, valid only during the call;
   * the handler consumes all that remains or none.
   *
   * @throws IOException as in {@link #onHead}; for example more bytes than asked for
   */
  void onData(ByteBuffer chunk) throws IOException;

  /**
   * The whole body in a buffer of the client's that now belongs to the handler, which must close it
   * exactly once, at any time and from any thread. Only for requests with {@code lend}.
   *
   * @throws IOException as in {@link #onHead}; the handler has then closed the buffer
   */
  void onLent(LentBuffer buffer) throws IOException;

  /**
   * The body ended as HTTP says it should. Whether all bytes came is the handler's to check, but
   * for those under a Content-Length of the {@linkplain ResponseHead.LengthSource#STORE store's}.
   */
  void onDone();

  /** The exchange failed or was cancelled. */
  void onFailure(RequestFailure failure);
}
