// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.disk.DiskCacheConfig.Scope;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Seed;
import io.s3e.testing.Slow;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random programs of reads over objects of awkward sizes, compared with an array, for every kind of
 * memory and every policy. At the end all memory is back.
 */
class StreamModelTest {
  private static final int BLOCK = 64 << 10;
  private static final int REQUEST = 4 * BLOCK;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  private static final int[] SIZES = {
    0, 1, 100, BLOCK - 1, BLOCK, BLOCK + 1, REQUEST - 1, REQUEST, REQUEST + 1, 37 * BLOCK + 12345
  };

  @TempDir Path directory;

  static Stream<Arguments> programs() {
    List<Arguments> all = new ArrayList<>();
    long seed = Seed.draw();
    for (String memory :
        List.of(
            "copying",
            "lending",
            "tight",
            "two-blocks",
            "one-byte-at-a-time",
            "private-disk",
            "shared-disk")) {
      for (ReadPolicy policy : ReadPolicy.values()) {
        all.add(Arguments.of(memory, policy, seed++));
      }
    }
    return all.stream();
  }

  @Slow
  @ParameterizedTest(name = "{0}, {1}, seed {2}")
  @MethodSource("programs")
  @Timeout(120)
  void readsWhatAnArrayHolds(String memory, ReadPolicy policy, long seed) throws Exception {
    Random random = new Random(seed);
    for (int size : SIZES) {
      byte[] expected = MemoryObjectClient.bytes(size, seed + size);
      MemoryObjectClient client = client(memory);
      client.put(OBJECT, expected, etag(seed + size));
      MemoryBudget budget = new MemoryBudget(budget(memory));
      try (S3E engine = S3E.create(config(memory), budget, granted -> client)) {
        for (int round = 0; round < 2; round++) {
          OpenOptions options = OpenOptions.DEFAULTS.withPolicy(policy);
          if (random.nextBoolean()) {
            options =
                options
                    .withSize(size)
                    .withVersion(random.nextBoolean() ? etag(seed + size) : null, null);
          }
          try (S3EInputStream in = engine.open(OBJECT, options)) {
            new ReadProgram(BLOCK).run(in, expected, random);
          }
        }
      }
      assertThat(client.lentOut()).as("lent buffers out").isZero();
      assertThat(client.doubleCloses()).as("lent buffers closed twice").isZero();
      assertThat(budget.reserved()).as("budget still reserved").isZero();
    }
  }

  /** Another content is another version, as a cache on disk outlives the engine. */
  private static String etag(long content) {
    return "\"" + content + "\"";
  }

  private static MemoryObjectClient client(String memory) {
    return switch (memory) {
      case "lending" ->
          new MemoryObjectClient(new ClientLimits(BLOCK, 8, 0, REQUEST, 8, 8 * REQUEST));
      case "tight" ->
          new MemoryObjectClient(new ClientLimits(BLOCK, 2, 0, REQUEST, 2, 2 * REQUEST));
      case "two-blocks" -> new MemoryObjectClient(ClientLimits.copying(REQUEST, 4, 0));
      case "one-byte-at-a-time" -> {
        MemoryObjectClient client = new MemoryObjectClient(ClientLimits.copying(REQUEST, 16, 0));
        client.faults((request, number) -> MemoryObjectClient.Answer.GOOD.inChunksOf(1));
        yield client;
      }
      default -> new MemoryObjectClient(ClientLimits.copying(REQUEST, 16, 0));
    };
  }

  private static long budget(String memory) {
    return switch (memory) {
      case "two-blocks" -> 2L * BLOCK;
      case "tight" -> 16L * BLOCK;
      // 1.4 MiB of it are buffers of the cache.
      case "private-disk", "shared-disk" -> 40L * BLOCK;
      default -> 64L * BLOCK;
    };
  }

  private S3EConfig config(String memory) {
    S3EConfig.Builder config =
        S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).requestBytes(REQUEST);
    if (memory.endsWith("-disk")) {
      config.diskCache(
          DiskCacheConfig.DEFAULTS.toBuilder()
              .mode(Mode.DISK)
              .scope(memory.startsWith("shared") ? Scope.HOST : Scope.PRIVATE)
              .directories(List.of(directory))
              .build());
    }
    return config.build();
  }
}
