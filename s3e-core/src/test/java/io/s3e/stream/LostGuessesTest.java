// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.REQUEST;
import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.OpenOptions;
import io.s3e.client.GetRequest;
import io.s3e.client.RequestFailure.Kind;
import io.s3e.metrics.EngineMetrics.Counter;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient.Answer;
import io.s3e.testing.Seed;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a scan sends when the store refuses some of its GETs: no guess is lost block by block. */
@Timeout(120)
class LostGuessesTest {
  private static final int BLOCKS = 800;
  private static final int CLEAN_GETS = BLOCKS / (REQUEST / BLOCK);

  @RegisterExtension final EngineFixture copying = EngineFixture.copying();
  @RegisterExtension final EngineFixture lending = EngineFixture.lending();

  private static void scan(EngineFixture s3e, byte[] content) throws Exception {
    try (S3EInputStream in = s3e.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL))) {
      byte[] piece = new byte[10_000];
      for (int at = 0; at < content.length; at += piece.length) {
        int length = Math.min(piece.length, content.length - at);
        in.readFully(piece, 0, length);
        assertThat(Arrays.equals(piece, 0, length, content, at, at + length))
            .as("bytes from %d on", at)
            .isTrue();
      }
    }
  }

  private static void requireNoChain(EngineFixture s3e, int refused, long seed) {
    List<GetRequest> gets = s3e.client.gets();
    assertThat(gets.size())
        .as("GETs, %d refused, seed %d", refused, seed)
        .isLessThanOrEqualTo(CLEAN_GETS * 3 / 2 + refused);
    long small = gets.stream().filter(get -> get.range().length() <= BLOCK).count();
    assertThat(small)
        .as("GETs of one block, %d refused, seed %d", refused, seed)
        .isLessThanOrEqualTo(CLEAN_GETS / 10 + refused / 2);
    assertThat(s3e.engine.metrics().get(Counter.FETCHED_BYTES))
        .as("bytes fetched, seed %d", seed)
        .isLessThanOrEqualTo((long) BLOCKS * BLOCK * 11 / 10);
  }

  private static void scanWithTenthRefused(EngineFixture s3e) throws Exception {
    long seed = Seed.draw();
    SplittableRandom random = new SplittableRandom(seed);
    AtomicInteger refused = new AtomicInteger();
    s3e.client.faults(
        (request, number) -> {
          boolean refuse;
          synchronized (random) {
            refuse = random.nextInt(10) == 0;
          }
          if (!refuse) {
            return Answer.GOOD.after(5);
          }
          refused.incrementAndGet();
          return Answer.GOOD.after(2).failingAfter(-1, Kind.THROTTLED);
        });
    scan(s3e, s3e.put(BLOCKS));
    assertThat(refused).as("seed %d", seed).hasPositiveValue();
    requireNoChain(s3e, refused.get(), seed);
  }

  @Test
  void aTenthOfAllGetsRefusedCopying() throws Exception {
    scanWithTenthRefused(copying);
  }

  @Test
  void aTenthOfAllGetsRefusedLending() throws Exception {
    scanWithTenthRefused(lending);
  }

  /** The run was another stream's guess, and is cancelled with it: nobody tells this reader. */
  @Test
  void aRunThatWasCancelledWithAnotherStreamIsFetchedByOneGet() throws Exception {
    byte[] content = copying.put(100);
    copying.client.faults(
        (request, number) -> number == 0 ? Answer.GOOD.after(200) : Answer.GOOD.silentAfter(0));
    S3EInputStream other = copying.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL));
    other.read();
    try (S3EInputStream in = copying.open(OpenOptions.DEFAULTS.withPolicy(ReadPolicy.SEQUENTIAL))) {
      byte[] got = new byte[content.length];
      in.readFully(got, 0, BLOCK);
      int before = copying.client.gets().size();
      other.close();
      awaitTrue("the other stream's GETs end", () -> copying.client.active() <= 8);
      copying.client.faults((request, number) -> Answer.GOOD);
      in.readFully(got, BLOCK, content.length - BLOCK);
      assertThat(got).isEqualTo(content);
      List<GetRequest> gets = copying.client.gets();
      assertThat(gets.subList(before, gets.size()).stream().map(get -> get.range().length()))
          .as("GETs after the other stream was closed")
          .hasSizeLessThanOrEqualTo(2 * 100 / 8)
          .filteredOn(length -> length <= BLOCK)
          .as("of one block: some are sent before the cancel has been told")
          .hasSizeLessThanOrEqualTo(4);
    }
  }
}
