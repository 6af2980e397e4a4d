// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.failures;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.CredentialsSource;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.hadoop.client.FailedRead;
import io.s3e.hadoop.client.FailureTranslation;
import io.s3e.hadoop.failures.FailingReads.Style;
import io.s3e.hadoop.failures.FailureCase.Place;
import io.s3e.stream.S3EInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Reads by the core, with memory of its own and by a CRT that copies if asked, told as the adapter
 * tells.
 */
final class CoreReads implements AutoCloseable {
  private static final long MEMORY_BYTES = 64 << 20;

  /** A handshake that fails takes the CRT up to half a minute, and is tried again. */
  private static final long DEADLINE_SECONDS = 180;

  private final S3E engine;

  CoreReads(URI endpoint, Place place, boolean lend) {
    AwsClientSettings settings =
        AwsClientSettings.builder()
            .endpoint(endpoint)
            .region("us-east-1")
            .pathStyle(true)
            .stallTimeout(place.stallTimeout())
            .credentials(CredentialsSource.of("access", "secret"))
            .build();
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder()
            .readTimeout(place.readTimeout())
            .stallTimeout(place.stallTimeout())
            .build();
    engine =
        S3E.create(
            config,
            new MemoryBudget(MEMORY_BYTES),
            lend ? AwsClients.crt(settings) : AwsClients.crtWithoutLending(settings));
  }

  void read(ObjectRef object, Style style) throws IOException, InterruptedException {
    long count = style == Style.READ ? FailingReads.LONG_COUNT : FailingReads.COUNT;
    byte[] bytes = new byte[(int) count];
    try (S3EInputStream in =
        engine.open(object, OpenOptions.DEFAULTS.withSize(FailingReads.SIZE))) {
      switch (style) {
        case READ -> {
          in.seek(FailingReads.OFFSET);
          in.readNBytes(bytes, 0, bytes.length);
        }
        case PREAD -> in.readFullyAt(FailingReads.OFFSET, bytes, 0, bytes.length);
        case VECTORED -> vectored(in, count);
      }
    } catch (IOException e) {
      throw FailureTranslation.translate(
          new FailedRead(
              style.name(),
              "s3a://" + object.bucket() + "/" + object.key(),
              FailingReads.OFFSET,
              count,
              FailingReads.SIZE),
          e);
    }
  }

  private static void vectored(S3EInputStream in, long count)
      throws IOException, InterruptedException {
    try {
      in.readVectored(
              List.of(ByteRange.ofLength(FailingReads.OFFSET, count)),
              ByteBuffer::allocate,
              buffer -> {})
          .get(0)
          .get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw (IOException) e.getCause();
    } catch (java.util.concurrent.TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    engine.close();
  }
}
