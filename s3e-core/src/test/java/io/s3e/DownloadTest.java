// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.client.RequestFailure;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.Slow;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DownloadTest {
  private static final int BLOCK = 64 << 10;
  private static final int REQUEST = 4 * BLOCK;
  private static final int SIZE = 5_000_003;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "dir/object");

  private final byte[] content = MemoryObjectClient.bytes(SIZE, 7);
  private final MemoryObjectClient client =
      new MemoryObjectClient(new ClientLimits(BLOCK, 8, 0, REQUEST, 8, 8 * REQUEST));
  private final MemoryBudget budget = new MemoryBudget(64L * BLOCK);
  private final S3E engine =
      S3E.create(
          S3EConfig.DEFAULTS.toBuilder()
              .blockBytes(BLOCK)
              .requestBytes(REQUEST)
              .readTimeout(Duration.ofSeconds(2))
              .retryBase(Duration.ZERO)
              .build(),
          budget,
          granted -> client);

  DownloadTest() {
    client.put(OBJECT, content, "\"e\"");
  }

  @AfterEach
  void close() {
    engine.close();
    assertThat(budget.reserved()).isZero();
  }

  @Test
  void fillsAChannelInParallelAndTellsHowFarItIs() throws IOException {
    List<Long> steps = new ArrayList<>();
    // Slow enough that GETs overlap if they are sent at once, on any machine.
    client.faults((request, number) -> MemoryObjectClient.Answer.GOOD.after(20));
    ByteArrayOutputStream target = new ByteArrayOutputStream();

    long count =
        engine.transfer(
            OBJECT,
            OpenOptions.DEFAULTS,
            null,
            Channels.newChannel(target),
            (done, total) -> {
              assertThat(total).isEqualTo(SIZE);
              steps.add(done);
            });

    assertThat(count).isEqualTo(SIZE);
    assertThat(target.toByteArray()).isEqualTo(content);
    assertThat(steps).isSorted().endsWith((long) SIZE);
    assertThat(client.mostActive()).as("GETs at once").isGreaterThan(3);
    assertThat(client.bytesAsked()).as("no byte twice").isEqualTo(SIZE);
  }

  @Test
  void aRangeIsThoseBytes() throws IOException {
    ByteArrayOutputStream target = new ByteArrayOutputStream();

    long count =
        engine.transfer(
            OBJECT,
            OpenOptions.DEFAULTS,
            new ByteRange(100, 3_000_001),
            Channels.newChannel(target),
            ProgressListener.NONE);

    assertThat(count).isEqualTo(2_999_901);
    assertThat(target.toByteArray()).isEqualTo(Arrays.copyOfRange(content, 100, 3_000_001));
  }

  /** A size that is asked for is that of the version that was told, or of none. */
  @Test
  void aToldVersionThatHasGoneIsNotReadByTheSizeOfAnother() {
    client.put(OBJECT, new byte[0], "\"new\"");

    assertThatThrownBy(
            () -> engine.open(OBJECT, OpenOptions.DEFAULTS.withVersion("\"e\"", null)).close())
        .isInstanceOf(ObjectChangedException.class)
        .hasMessageContaining("s3://bucket/dir/object has ETag \"new\", not \"e\"");
  }

  @Test
  @Slow
  void failsWithTheObjectsName() {
    client.faults(
        (request, number) ->
            MemoryObjectClient.Answer.GOOD.failingAfter(-1, RequestFailure.Kind.SERVER));

    assertThatThrownBy(
            () ->
                engine.transfer(
                    OBJECT,
                    OpenOptions.DEFAULTS,
                    null,
                    Channels.newChannel(OutputStream.nullOutputStream()),
                    ProgressListener.NONE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("s3://bucket/dir/object")
        .hasMessageContaining("injected SERVER");
  }

  @Test
  void refusesARangeBehindTheEnd() {
    assertThatThrownBy(
            () ->
                engine.transfer(
                    OBJECT,
                    OpenOptions.DEFAULTS,
                    new ByteRange(0, SIZE + 1),
                    Channels.newChannel(OutputStream.nullOutputStream()),
                    ProgressListener.NONE))
        .isInstanceOf(EOFException.class);
  }

  @Test
  void anEmptyObjectTakesNoGet() throws IOException {
    ObjectRef empty = new ObjectRef("bucket", "empty");
    client.put(empty, new byte[0], "\"0\"");

    ByteArrayOutputStream target = new ByteArrayOutputStream();
    long count =
        engine.transfer(
            empty, OpenOptions.DEFAULTS, null, Channels.newChannel(target), ProgressListener.NONE);

    assertThat(count).isZero();
    assertThat(target.size()).isZero();
    assertThat(client.gets()).isEmpty();
  }
}
