// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.bundle;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.CredentialsSource;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.metrics.EngineMetrics;
import io.s3e.stream.S3EInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * {@link CheckedReads} by the core, with aws-crt and nothing else on the class path. Arguments: the
 * endpoint, bucket, key, the two secrets, and the directory of the cache.
 */
final class ReadsByCore extends CheckedReads {
  private final S3E engine;
  private final ObjectRef object;

  private ReadsByCore(S3E engine, ObjectRef object) {
    this.engine = engine;
    this.object = object;
  }

  public static void main(String[] args) throws Exception {
    AwsClientSettings settings =
        AwsClientSettings.builder()
            .endpoint(URI.create(args[0]))
            .region("us-east-1")
            .pathStyle(true)
            .credentials(CredentialsSource.of(args[3], args[4]))
            .build();
    DiskCacheConfig disk =
        DiskCacheConfig.DEFAULTS.toBuilder()
            .mode(DiskCacheConfig.Mode.DISK)
            .scope(DiskCacheConfig.Scope.HOST)
            .directories(List.of(Path.of(args[5])))
            .capacityBytes(16L * LENGTH)
            .build();
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder()
            .memoryBytes(MEMORY_BYTES)
            .store(args[0])
            .diskCache(disk)
            .build();
    try (S3E engine = S3E.create(config, AwsClients.crt(settings))) {
      new ReadsByCore(engine, new ObjectRef(args[1], args[2])).run();
    }
    System.out.println("END");
  }

  @Override
  Source open() throws IOException {
    S3EInputStream in = engine.open(object);
    return new Source() {
      @Override
      public InputStream inOrder() {
        return in;
      }

      @Override
      public void readFullyAt(long at, byte[] target) throws IOException {
        in.readFullyAt(at, target, 0, target.length);
      }

      @Override
      public List<CompletableFuture<ByteBuffer>> readVectored(List<int[]> ranges)
          throws IOException {
        return in.readVectored(
            ranges.stream().map(range -> new ByteRange(range[0], range[0] + range[1])).toList(),
            ByteBuffer::allocate,
            buffer -> {});
      }

      @Override
      public void close() {
        in.close();
      }
    };
  }

  @Override
  String client() {
    return engine.client().name();
  }

  @Override
  long fetchedBytes() {
    return engine.metrics().get(EngineMetrics.Counter.FETCHED_BYTES);
  }

  @Override
  long diskBytes() {
    return engine.diskUse() == null ? 0 : engine.diskUse().bytes();
  }
}
