// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import static io.s3e.testing.Eventually.awaitTrue;

import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.MemoryObjectClient.Faults;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * A store that is slower than the disk, however busy the machine is. An engine compares the latest
 * GETs with the latest reads from disk, and leaves a disk that seems to be slower: one read that a
 * busy machine holds up for 0.2 s is enough, where GETs are answered at once.
 */
public final class SlowStore {
  /** Reads from disk would have to take so long, one as the other, before the disk is left. */
  private static final long MILLIS = 300;

  /** More than the engine remembers of each kind. */
  private static final int LATEST = 10;

  private static final ObjectRef SLOW = new ObjectRef("bucket", "slow");

  /** What is read with a customer's key stays off the disk. */
  private static final Map<String, String> OFF_DISK =
      Map.of("x-amz-server-side-encryption-customer-key", "of nobody");

  private static final int SHORT = 64 << 10;
  private static final int LONG = 256 << 10;

  private SlowStore() {}

  /**
   * Has the tenant's engine remember slow GETs, short and long ones, until it has sent others. They
   * are of an object of their own, which is not counted on disk.
   *
   * @param faults what the store does with other objects
   */
  public static void isRemembered(S3E tenant, MemoryObjectClient store, Faults faults)
      throws Exception {
    store.put(SLOW, MemoryObjectClient.repeating(64L << 20, 3), "\"slow\"");
    store.faults(
        (request, number) ->
            isOf(request.object()) ? Answer.GOOD.after(MILLIS) : faults.answer(request, number));
    OpenOptions options = OpenOptions.DEFAULTS.withPolicy(ReadPolicy.RANDOM).withHeaders(OFF_DISK);
    try (S3EInputStream in = tenant.open(SLOW, options)) {
      read(in, store, 0, SHORT);
      read(in, store, 32 << 20, LONG);
    }
    store.faults(faults);
  }

  /** Whether a GET is one of those. */
  public static boolean isOf(ObjectRef object) {
    return object.equals(SLOW);
  }

  private static void read(S3EInputStream in, MemoryObjectClient store, int from, int bytes)
      throws Exception {
    List<ByteRange> ranges =
        IntStream.range(0, LATEST)
            .mapToObj(i -> ByteRange.ofLength(from + ((long) i << 21), bytes))
            .toList();
    for (CompletableFuture<ByteBuffer> each :
        in.readVectored(ranges, ByteBuffer::allocate, released -> {})) {
      each.get(60, TimeUnit.SECONDS);
    }
    // A run is counted when it is over, which its reader does not wait for.
    awaitTrue("all have ended", () -> store.unended() == 0);
  }
}
