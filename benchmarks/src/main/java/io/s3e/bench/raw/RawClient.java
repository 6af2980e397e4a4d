// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import java.util.concurrent.CompletableFuture;

/** An S3 client reduced to ranged GETs. Any thread may call. {@link #close} frees the client. */
public interface RawClient extends AutoCloseable {

  /**
   * Starts one GET and does not wait for the network. The sink sees the range's bytes in order, on
   * the client's threads.
   *
   * @param range which bytes; no longer than the client was made for
   * @return completes when every byte of the range has passed the sink; fails when the store, the
   *     network or the sink did, or when bytes are missing
   */
  CompletableFuture<Void> get(ObjectRef object, ByteRange range, ByteSink sink);

  @Override
  void close();
}
