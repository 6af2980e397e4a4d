// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.EveryClient;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.given.SdkCredentials;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.S3ProxyServer;
import io.s3e.testing.Slow;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** 64 streams at once through real clients: direct memory stays bounded, and all of them end. */
@Timeout(300)
@Slow
class ManyStreamsTest {
  private static final int STREAMS = 64;
  private static final int SIZE = 4 << 20;

  /** What the JVM, the SDK and the test use of direct memory beside the budget, generously. */
  private static final long SLACK_BYTES = 64L << 20;

  @RegisterExtension static final S3ProxyServer SERVER = S3ProxyServer.signed();

  private static long directBytes() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  @ParameterizedTest
  @CsvSource({"CRT_BORROWED, 64", "CRT_BORROWED, 8", "APACHE, 2"})
  void allProgressWithinTheBudget(EveryClient kind, int budgetMiB) throws Exception {
    String bucket = "many-" + kind.name().toLowerCase(Locale.ROOT).replace('_', '-') + budgetMiB;
    SERVER.createBucket(bucket);
    List<byte[]> contents = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      byte[] content = MemoryObjectClient.bytes(SIZE + i, i);
      SERVER.put(bucket, "object-" + i, content);
      contents.add(content);
    }
    AwsClientSettings settings =
        AwsClientSettings.builder()
            .endpoint(SERVER.endpoint())
            .region(S3ProxyServer.REGION)
            .pathStyle(true)
            .credentials(new SdkCredentials(SERVER.credentials()))
            .build();
    MemoryBudget budget = new MemoryBudget((long) budgetMiB << 20);
    long before = directBytes();
    long most = 0;
    ExecutorService readers = Executors.newFixedThreadPool(STREAMS);
    try (S3E engine = S3E.create(S3EConfig.DEFAULTS, budget, kind.provider(settings))) {
      CompletionService<Boolean> results = new ExecutorCompletionService<>(readers);
      for (int i = 0; i < STREAMS; i++) {
        int object = i % contents.size();
        results.submit(
            () -> {
              try (S3EInputStream in = engine.open(new ObjectRef(bucket, "object-" + object))) {
                return Arrays.equals(in.readAllBytes(), contents.get(object));
              }
            });
      }
      for (int done = 0; done < STREAMS; ) {
        Future<Boolean> result = results.poll(20, TimeUnit.MILLISECONDS);
        most = Math.max(most, directBytes());
        assertThat(budget.reserved()).isLessThanOrEqualTo(budget.limit());
        if (result != null) {
          assertThat(result.get()).as("bytes are right").isTrue();
          done++;
        }
      }
    } finally {
      readers.shutdownNow();
    }
    assertThat(most - before).isLessThanOrEqualTo(budget.limit() + SLACK_BYTES);
    assertThat(budget.reserved()).isZero();
  }
}
