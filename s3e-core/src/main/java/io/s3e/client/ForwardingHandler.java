// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A handler before another one: each call goes on as it came, unless it is overridden. */
public interface ForwardingHandler extends ResponseHandler {

  /** The handler behind. */
  ResponseHandler handler();

  @Override
  default void onSent() {
    handler().onSent();
  }

  @Override
  default void onResent(RequestFailure failure) {
    handler().onResent(failure);
  }

  @Override
  default void onHead(ResponseHead head) throws IOException {
    handler().onHead(head);
  }

  @Override
  default void onData(ByteBuffer chunk) throws IOException {
    handler().onData(chunk);
  }

  @Override
  default void onLent(LentBuffer buffer) throws IOException {
    handler().onLent(buffer);
  }

  @Override
  default void onDone() {
    handler().onDone();
  }

  @Override
  default void onFailure(RequestFailure failure) {
    handler().onFailure(failure);
  }
}
