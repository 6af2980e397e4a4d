// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import io.s3e.block.ObjectRef;
import io.s3e.client.ClientLimits;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.MemoryObjectClient;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;

/**
 * The JVM's engine as a class loader sees it, over a client in memory; known by types of the JDK to
 * a test whose classes are another loader's. {@link #call} reads an object twice and tells whether
 * its bytes were right; {@link #getAsLong} is the limit.
 */
public final class LoaderEngine implements Callable<Boolean>, LongSupplier, AutoCloseable {
  private static final int BLOCK = 64 << 10;
  private static final int REQUEST = 8 * BLOCK;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  private final byte[] content;
  private final MemoryObjectClient client;
  private final S3E engine;

  /**
   * @param budgetBytes asked for
   * @param ownedPart the client owns this part of what it is offered: 0 for none, 1 for all
   */
  public LoaderEngine(long budgetBytes, int objectBytes, int seed, int ownedPart) {
    content = MemoryObjectClient.bytes(objectBytes, seed);
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder()
            .blockBytes(BLOCK)
            .requestBytes(REQUEST)
            .memoryBytes(budgetBytes)
            .build();
    MemoryObjectClient[] made = new MemoryObjectClient[1];
    engine =
        S3E.create(
            config,
            offered -> {
              long owned = offered.ownedBytes() * ownedPart;
              int slots = (int) (owned / REQUEST);
              made[0] =
                  new MemoryObjectClient(
                      slots == 0
                          ? ClientLimits.copying(REQUEST, 8, 0)
                          : new ClientLimits(REQUEST, 8, 0, REQUEST, slots, owned));
              made[0].put(OBJECT, content, "\"e" + seed + "\"");
              return made[0];
            });
    client = made[0];
  }

  @Override
  public Boolean call() throws Exception {
    boolean isRight = true;
    for (int i = 0; i < 2; i++) {
      try (S3EInputStream in = engine.open(OBJECT)) {
        isRight &= Arrays.equals(in.readAllBytes(), content);
      }
    }
    return isRight && !client.gets().isEmpty();
  }

  @Override
  public long getAsLong() {
    return engine.memoryLimit();
  }

  @Override
  public void close() {
    engine.close();
  }
}
