// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.util.LambdaUtils;

/** The futures of {@code openFile()}. */
final class OpenedStreams {
  private OpenedStreams() {}

  /**
   * As {@code opening.thenApply(made)}, but callbacks hear of a failure as S3A's do: by the
   * exception itself, without a {@code CompletionException} around it. To cancel it cancels the
   * opening as little as there.
   */
  static CompletableFuture<FSDataInputStream> with(
      CompletableFuture<FSDataInputStream> opening, UnaryOperator<FSDataInputStream> made) {
    CompletableFuture<FSDataInputStream> given = new CompletableFuture<>();
    var unused =
        opening.whenComplete(
            (opened, failure) -> {
              if (failure != null) {
                given.completeExceptionally(failure);
              } else if (!given.isDone()) {
                var unusedToo = LambdaUtils.eval(given, () -> made.apply(opened));
              }
            });
    return given;
  }
}
