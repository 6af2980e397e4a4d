package io.s3e.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
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
  private static final int STEPS = 60;

  private static final int[] SIZES = {
    0, 1, 100, BLOCK - 1, BLOCK, BLOCK + 1, REQUEST - 1, REQUEST, REQUEST + 1, 37 * BLOCK + 12345
  };

  static Stream<Arguments> programs() {
    List<Arguments> all = new ArrayList<>();
    long seed = System.nanoTime();
    for (String memory :
        List.of("copying", "lending", "tight", "two-blocks", "one-byte-at-a-time")) {
      for (ReadPolicy policy : ReadPolicy.values()) {
        all.add(Arguments.of(memory, policy, seed++));
      }
    }
    return all.stream();
  }

  @ParameterizedTest(name = "{0}, {1}, seed {2}")
  @MethodSource("programs")
  @Timeout(120)
  void readsWhatAnArrayHolds(String memory, ReadPolicy policy, long seed) throws Exception {
    Random random = new Random(seed);
    for (int size : SIZES) {
      byte[] expected = MemoryObjectClient.bytes(size, seed + size);
      MemoryObjectClient client = client(memory);
      client.put(OBJECT, expected, "\"v1\"");
      MemoryBudget budget = new MemoryBudget(budget(memory));
      try (S3E engine = S3E.create(config(), budget, granted -> client)) {
        for (int round = 0; round < 2; round++) {
          OpenOptions options = OpenOptions.DEFAULTS.withPolicy(policy);
          if (random.nextBoolean()) {
            options =
                options.withSize(size).withVersion(random.nextBoolean() ? "\"v1\"" : null, null);
          }
          try (S3EInputStream in = engine.open(OBJECT, options)) {
            run(in, expected, random);
          }
        }
      }
      assertThat(client.lentOut()).as("lent buffers out").isZero();
      assertThat(client.doubleCloses()).as("lent buffers closed twice").isZero();
      assertThat(budget.reserved()).as("budget still reserved").isZero();
    }
  }

  private static MemoryObjectClient client(String memory) {
    return switch (memory) {
      case "lending" -> new MemoryObjectClient(new ClientLimits(BLOCK, 8, REQUEST, 8, 8 * REQUEST));
      case "tight" -> new MemoryObjectClient(new ClientLimits(BLOCK, 2, REQUEST, 2, 2 * REQUEST));
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
      default -> 64L * BLOCK;
    };
  }

  private static S3EConfig config() {
    return S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).requestBytes(REQUEST).build();
  }

  private static void run(S3EInputStream in, byte[] expected, Random random) throws Exception {
    for (int step = 0; step < STEPS; step++) {
      switch (random.nextInt(9)) {
        case 0 -> in.seek(random.nextInt(expected.length + 1));
        case 1 -> readByte(in, expected);
        case 2, 3 -> readArray(in, expected, random.nextInt(1, 3 * BLOCK));
        case 4 -> readArray(in, expected, random.nextInt(1, 200));
        case 5 -> positioned(in, expected, random);
        case 6 -> vectored(in, expected, random);
        case 7 -> skip(in, expected, random);
        default -> {
          if (random.nextInt(4) == 0) {
            in.unbuffer();
          } else {
            readBuffer(in, expected, random.nextInt(1, 2 * BLOCK));
          }
        }
      }
    }
  }

  private static void readByte(S3EInputStream in, byte[] expected) throws IOException {
    int at = (int) in.position();
    int read = in.read();
    assertThat(read).isEqualTo(at < expected.length ? expected[at] & 0xFF : -1);
    assertThat(in.position()).isEqualTo(Math.min(at + 1, expected.length));
  }

  private static void readArray(S3EInputStream in, byte[] expected, int length) throws IOException {
    int at = (int) in.position();
    byte[] target = new byte[length + 2];
    int count = in.read(target, 1, length);
    check(expected, at, count, length, Arrays.copyOfRange(target, 1, 1 + Math.max(0, count)));
    assertThat(target[0]).isZero();
    assertThat(in.position()).isEqualTo(at + Math.max(0, count));
  }

  private static void readBuffer(S3EInputStream in, byte[] expected, int length)
      throws IOException {
    int at = (int) in.position();
    ByteBuffer target = ByteBuffer.allocateDirect(length);
    int count = in.read(target);
    byte[] got = new byte[Math.max(0, count)];
    target.flip().get(got);
    check(expected, at, count, length, got);
  }

  private static void positioned(S3EInputStream in, byte[] expected, Random random)
      throws IOException {
    int at = random.nextInt(expected.length + 10);
    int length = random.nextInt(1, 6 * BLOCK);
    long before = in.position();
    byte[] target = new byte[length];
    int count = in.readAt(at, target, 0, length);
    int there = Math.max(0, Math.min(length, expected.length - at));
    assertThat(count).isEqualTo(there == 0 ? -1 : there);
    check(expected, at, count, length, Arrays.copyOf(target, Math.max(0, count)));
    assertThat(in.position()).isEqualTo(before);
  }

  private static void vectored(S3EInputStream in, byte[] expected, Random random) throws Exception {
    List<ByteRange> ranges = new ArrayList<>();
    int at = 0;
    while (ranges.size() < 6) {
      int start = at + random.nextInt(2 * BLOCK);
      int end = start + random.nextInt(BLOCK);
      if (end > expected.length) {
        break;
      }
      ranges.add(new ByteRange(start, end));
      at = end;
    }
    java.util.Collections.shuffle(ranges, random);
    List<CompletableFuture<ByteBuffer>> results =
        in.readVectored(ranges, ByteBuffer::allocate, buffer -> {});
    for (int i = 0; i < ranges.size(); i++) {
      ByteBuffer result = results.get(i).get(60, TimeUnit.SECONDS);
      byte[] got = new byte[result.remaining()];
      result.get(got);
      assertThat(got)
          .isEqualTo(
              Arrays.copyOfRange(expected, (int) ranges.get(i).start(), (int) ranges.get(i).end()));
    }
  }

  private static void skip(S3EInputStream in, byte[] expected, Random random) throws IOException {
    long at = in.position();
    long count = random.nextInt(2 * BLOCK);
    assertThat(in.skip(count)).isEqualTo(Math.min(count, expected.length - at));
  }

  private static void check(byte[] expected, int at, int count, int wanted, byte[] got) {
    if (at >= expected.length) {
      assertThat(count).isEqualTo(-1);
      return;
    }
    assertThat(count).isBetween(1, Math.min(wanted, expected.length - at));
    assertThat(got).isEqualTo(Arrays.copyOfRange(expected, at, at + count));
  }
}
