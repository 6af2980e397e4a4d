// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Engines and streams that share one budget: all of them progress, and it is never exceeded. */
@Timeout(120)
class SharedBudgetTest {
  private static final int BLOCK = 64 << 10;
  private static final int REQUEST = 4 * BLOCK;
  private static final int SIZE = 40 * BLOCK + 17;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  private final byte[] content = MemoryObjectClient.bytes(SIZE, 3);

  private S3E engine(MemoryBudget budget, ClientLimits limits) {
    MemoryObjectClient client = new MemoryObjectClient(limits);
    client.put(OBJECT, content, "\"e\"");
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).requestBytes(REQUEST).build();
    return S3E.create(config, budget, granted -> client);
  }

  private byte[] readAll(S3E engine) throws IOException {
    try (S3EInputStream in = engine.open(OBJECT)) {
      return in.readAllBytes();
    }
  }

  @Test
  void anEngineGetsMemoryThatAnotherOneOnlyKeeps() throws IOException {
    MemoryBudget budget = new MemoryBudget(16L * BLOCK);
    try (S3E first = engine(budget, ClientLimits.copying(REQUEST, 8, 0))) {
      assertThat(readAll(first)).isEqualTo(content);
      assertThat(budget.available()).as("the first engine keeps what it read").isZero();

      try (S3E second = engine(budget, ClientLimits.copying(REQUEST, 8, 0))) {
        assertThat(readAll(second)).isEqualTo(content);
        assertThat(readAll(first)).isEqualTo(content);
      }
    }
    assertThat(budget.reserved()).isZero();
  }

  @Test
  @Slow
  void enginesMadeAtTheSameTimeShareWhatThereIs() throws Exception {
    MemoryBudget budget = new MemoryBudget(64L * BLOCK);
    int engines = 2;
    CyclicBarrier together = new CyclicBarrier(engines);
    ExecutorService makers = Executors.newFixedThreadPool(engines);
    List<S3E> made = new ArrayList<>();
    try {
      List<Future<S3E>> making = new ArrayList<>();
      for (int i = 0; i < engines; i++) {
        making.add(makers.submit(() -> engineOfAllThatIsGranted(budget, together)));
      }
      for (Future<S3E> one : making) {
        made.add(one.get(30, TimeUnit.SECONDS));
      }
      for (S3E engine : made) {
        assertThat(readAll(engine)).isEqualTo(content);
      }
      assertThat(budget.reserved()).isLessThanOrEqualTo(budget.limit());
    } finally {
      made.forEach(S3E::close);
      makers.shutdownNow();
    }
    assertThat(budget.reserved()).isZero();
  }

  private S3E engineOfAllThatIsGranted(MemoryBudget budget, CyclicBarrier together)
      throws Exception {
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder().blockBytes(BLOCK).requestBytes(REQUEST).build();
    together.await(10, TimeUnit.SECONDS);
    return S3E.create(
        config,
        budget,
        granted -> {
          int slots = (int) (granted.ownedBytes() / REQUEST);
          MemoryObjectClient client =
              new MemoryObjectClient(
                  new ClientLimits(BLOCK, 4, 0, REQUEST, slots, granted.ownedBytes()));
          client.put(OBJECT, content, "\"e\"");
          return client;
        });
  }

  @Test
  void aClientThatCannotBeMadeKeepsNothing() {
    MemoryBudget budget = new MemoryBudget(64L * BLOCK);
    assertThatThrownBy(
            () ->
                S3E.create(
                    S3EConfig.DEFAULTS,
                    budget,
                    granted -> {
                      throw new IllegalStateException("no client");
                    }))
        .hasMessage("no client");
    assertThat(budget.reserved()).isZero();
  }

  @Test
  void manyStreamsOfSeveralEnginesAllProgress() throws Exception {
    MemoryBudget budget = new MemoryBudget(24L * BLOCK);
    ExecutorService readers = Executors.newFixedThreadPool(24);
    try (S3E first = engine(budget, new ClientLimits(BLOCK, 4, 0, REQUEST, 2, 2L * REQUEST));
        S3E second = engine(budget, ClientLimits.copying(REQUEST, 4, 0))) {
      List<Future<byte[]>> results = new ArrayList<>();
      for (int i = 0; i < 24; i++) {
        S3E engine = i % 2 == 0 ? first : second;
        results.add(readers.submit(() -> readAll(engine)));
      }
      for (Future<byte[]> result : results) {
        assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo(content);
        assertThat(budget.reserved()).isLessThanOrEqualTo(budget.limit());
      }
    } finally {
      readers.shutdownNow();
    }
    assertThat(budget.reserved()).isZero();
  }

  @Test
  void tooSmallABudgetIsToldWithItsNumbers() {
    MemoryBudget budget = new MemoryBudget(BLOCK);

    assertThatThrownBy(() -> engine(budget, ClientLimits.copying(REQUEST, 4, 0)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("65536")
        .hasMessageContaining("two blocks");
    assertThat(budget.reserved()).isZero();
  }
}
