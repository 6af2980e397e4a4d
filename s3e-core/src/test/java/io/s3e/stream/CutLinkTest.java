// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.CredentialsSource;
import io.s3e.client.EveryClient;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.testing.Fault;
import io.s3e.testing.HostileS3Server;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A link that cuts every body after 200 KiB is read over, by every client and every way to read.
 */
@Timeout(120)
@Slow
class CutLinkTest {
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");
  private static final int CUT_BYTES = 200 << 10;
  private static final int SIZE = (5 << 20) + 12345;

  private enum Style {
    SEQUENTIAL {
      @Override
      void read(S3EInputStream in, byte[] expected) throws Exception {
        assertThat(in.readAllBytes()).isEqualTo(expected);
      }
    },
    POSITIONED {
      @Override
      void read(S3EInputStream in, byte[] expected) throws Exception {
        byte[] bytes = new byte[3 << 20];
        in.readFullyAt(1 << 20, bytes, 0, bytes.length);
        assertThat(bytes).isEqualTo(Arrays.copyOfRange(expected, 1 << 20, 4 << 20));
      }
    },
    VECTORED {
      @Override
      void read(S3EInputStream in, byte[] expected) throws Exception {
        List<ByteRange> ranges = new ArrayList<>();
        for (int start = 0; start + (1 << 20) < expected.length; start += 1 << 20) {
          ranges.add(ByteRange.ofLength(start, 700 << 10));
        }
        List<CompletableFuture<ByteBuffer>> results =
            in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
        for (int i = 0; i < ranges.size(); i++) {
          int start = (int) ranges.get(i).start();
          assertThat(results.get(i).get(60, TimeUnit.SECONDS).array())
              .isEqualTo(Arrays.copyOfRange(expected, start, (int) ranges.get(i).end()));
        }
      }
    };

    abstract void read(S3EInputStream in, byte[] expected) throws Exception;
  }

  static Stream<Arguments> cases() {
    return Stream.of(EveryClient.values())
        .flatMap(kind -> Stream.of(Style.values()).map(style -> Arguments.of(kind, style)));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void isReadToItsEnd(EveryClient kind, Style style) throws Exception {
    byte[] content = MemoryObjectClient.bytes(SIZE, 5);
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder()
            .retryBase(Duration.ofMillis(5))
            .readTimeout(Duration.ofSeconds(30))
            .build();
    MemoryBudget budget = new MemoryBudget(64L << 20);
    try (HostileS3Server server = HostileS3Server.start();
        S3E engine = S3E.create(config, budget, kind.provider(settings(server)))) {
      server.put(OBJECT, content);
      server.always(Fault.resetAfter(CUT_BYTES));
      try (S3EInputStream in = engine.open(OBJECT, OpenOptions.DEFAULTS)) {
        style.read(in, content);
      }
      // Half of all GETs are those that find out how long the link lets a body be.
      assertThat(server.requests()).hasSizeLessThan(2 * SIZE / (64 << 10));
    }
    assertThat(budget.reserved()).isZero();
  }

  private static AwsClientSettings settings(HostileS3Server server) throws IOException {
    return AwsClientSettings.builder()
        .endpoint(server.endpoint())
        .region("us-east-1")
        .pathStyle(true)
        .credentials(CredentialsSource.of("access", "secret"))
        .stallTimeout(Duration.ofSeconds(5))
        .build();
  }
}
