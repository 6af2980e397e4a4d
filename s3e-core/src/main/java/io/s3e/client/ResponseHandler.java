package io.s3e.client;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Hears one GET. The client calls, one call at a time and each happening before the next (not
 * always from the same thread):
 *
 * <pre>onResent* onHead ( onData* | onLent ) onDone      or, at any point,      onFailure</pre>
 *
 * Exactly one of {@code onDone} and {@code onFailure} is called, it is the last call, and after it
 * the client touches nothing it passed here. Status codes other than 2xx arrive as {@code
 * onFailure}, not as {@code onHead}. Calls run on the client's threads, possibly a network event
 * loop: they must not block.
 */
public interface ResponseHandler {

  /**
   * The client has sent the same request once more by itself, before a response began: to another
   * region, or on a new connection. A handler that counts requests counts this one.
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

  /** The body ended as HTTP says it should. Whether all bytes came is the handler's to check. */
  void onDone();

  /** The exchange failed or was cancelled. */
  void onFailure(RequestFailure failure);
}
