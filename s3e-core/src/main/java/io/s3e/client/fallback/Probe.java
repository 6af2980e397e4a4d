// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.fallback;

import io.s3e.client.LentBuffer;
import io.s3e.client.RequestFailure;
import io.s3e.client.ResponseHandler;
import io.s3e.client.ResponseHead;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads an answer to its end, keeps nothing of it, and tells whether the store was reached.
 *
 * @param sent called when the request has gone out
 * @param ended called once: with null if the body came whole or the store refused the request, with
 *     the failure if no answer came or only a part of one
 */
record Probe(Runnable sent, Consumer<@Nullable RequestFailure> ended) implements ResponseHandler {
  @Override
  public void onSent() {
    sent.run();
  }

  @Override
  public void onHead(ResponseHead head) {}

  @Override
  public void onData(ByteBuffer chunk) {
    chunk.position(chunk.limit());
  }

  @Override
  public void onLent(LentBuffer buffer) {
    buffer.close();
  }

  @Override
  public void onDone() {
    ended.accept(null);
  }

  @Override
  public void onFailure(RequestFailure failure) {
    ended.accept(failure.refusal() != null ? null : failure);
  }
}
