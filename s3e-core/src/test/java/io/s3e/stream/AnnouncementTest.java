// SPDX-License-Identifier: Apache-2.0
package io.s3e.stream;

import static io.s3e.stream.EngineFixture.BLOCK;
import static io.s3e.stream.EngineFixture.ETAG;
import static io.s3e.stream.EngineFixture.OBJECT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.OpenOptions;
import io.s3e.block.ByteRange;
import io.s3e.client.GetRequest;
import io.s3e.client.ResponseHead;
import io.s3e.fetch.ObjectChangedException;
import io.s3e.prefetch.ReadPolicy;
import io.s3e.testing.MemoryObjectClient;
import io.s3e.testing.MemoryObjectClient.Answer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an announcement fetches, who reads it, and who does not. */
@Timeout(120)
class AnnouncementTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final String OTHER_ETAG = "\"v2\"";

  @RegisterExtension final EngineFixture fixture = EngineFixture.copying();

  private Announcement announce(long size) {
    return Objects.requireNonNull(
        fixture.engine.announce(OBJECT, OpenOptions.DEFAULTS.withSize(size)));
  }

  private Announcement answered(long size) throws Exception {
    Announcement announced = announce(size);
    assertThat(announced.awaitAnswer(LONG)).isTrue();
    return announced;
  }

  private static OpenOptions with(Announcement announced, long size) {
    return OpenOptions.DEFAULTS
        .withPolicy(ReadPolicy.RANDOM)
        .withSize(size)
        .withAnnounced(announced);
  }

  private byte[] read(S3EInputStream in, int at, int length) throws Exception {
    byte[] bytes = new byte[length];
    in.readFullyAt(at, bytes, 0, length);
    return bytes;
  }

  private byte[] content(int at, int length) {
    return Arrays.copyOfRange(fixture.content, at, at + length);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, BLOCK, 5 * BLOCK + 17, 8 * BLOCK})
  void aSmallObjectComesWholeByOneGetAndIsReadWithoutAnother(int size) throws Exception {
    fixture.putBytes(size);
    Announcement announced = answered(size);
    assertThat(announced.etag()).isEqualTo(ETAG);
    try (S3EInputStream in = fixture.open(with(announced, size))) {
      assertThat(in.etag()).isEqualTo(ETAG);
      assertThat(read(in, 0, size)).isEqualTo(fixture.content);
    }
    assertThat(fixture.client.gets()).hasSize(1);
    assertThat(fixture.client.heads()).isZero();
    announced.release();
  }

  @Test
  void ofALongObjectComesTheEndAndTheRestIsAskedForOnItsVersion() throws Exception {
    int size = 40 * BLOCK + 100;
    fixture.putBytes(size);
    Announcement announced = answered(size);
    assertThat(fixture.client.gets()).hasSize(1);
    assertThat(fixture.client.gets().get(0).range()).isEqualTo(new ByteRange(39L * BLOCK, size));
    try (S3EInputStream in = fixture.open(with(announced, size))) {
      assertThat(read(in, size - 8, 8)).isEqualTo(content(size - 8, 8));
      assertThat(fixture.client.gets()).hasSize(1);
      assertThat(read(in, 100, 1000)).isEqualTo(content(100, 1000));
    }
    assertThat(fixture.client.gets()).hasSize(2);
    assertThat(fixture.client.gets().get(1).etag()).isEqualTo(ETAG);
    announced.release();
  }

  /** Two openings of one announcement, as Spark 3.5 opens a file for its footer and its rows. */
  @Test
  void everyStreamOfTheVersionReadsIt() throws Exception {
    fixture.putBytes(BLOCK);
    Announcement announced = answered(BLOCK);
    for (int i = 0; i < 2; i++) {
      try (S3EInputStream in = fixture.open(with(announced, BLOCK).withVersion(ETAG, null))) {
        assertThat(read(in, 0, BLOCK)).isEqualTo(fixture.content);
      }
    }
    assertThat(fixture.client.gets()).hasSize(1);
    announced.release();
  }

  @Test
  void aReaderJoinsTheGetThatIsUnderWay() throws Exception {
    fixture.putBytes(BLOCK);
    fixture.client.hold();
    Announcement announced = announce(BLOCK);
    assertThat(announced.etag()).isNull();
    assertThat(announced.awaitAnswer(Duration.ofMillis(1))).isFalse();
    fixture.client.open();
    assertThat(announced.awaitAnswer(LONG)).isTrue();
    try (S3EInputStream in = fixture.open(with(announced, BLOCK))) {
      assertThat(read(in, 0, BLOCK)).isEqualTo(fixture.content);
    }
    assertThat(fixture.client.gets()).hasSize(1);
    announced.release();
  }

  @Test
  void anObjectReplacedBeforeItIsOpenedIsReadAsItIsNow() throws Exception {
    fixture.putBytes(BLOCK);
    Announcement announced = answered(BLOCK);
    fixture.content = MemoryObjectClient.bytes(BLOCK, 43);
    fixture.client.put(OBJECT, fixture.content, OTHER_ETAG);
    try (S3EInputStream in = fixture.open(with(announced, BLOCK).withVersion(OTHER_ETAG, null))) {
      assertThat(read(in, 0, BLOCK)).isEqualTo(fixture.content);
    }
    assertThat(fixture.client.gets()).hasSize(2);
    announced.release();
  }

  @Test
  void twoVersionsAreNeverMixed() throws Exception {
    int size = 40 * BLOCK;
    fixture.putBytes(size);
    Announcement announced = answered(size);
    try (S3EInputStream in = fixture.open(with(announced, size))) {
      assertThat(read(in, size - 8, 8)).isEqualTo(content(size - 8, 8));
      fixture.client.put(OBJECT, MemoryObjectClient.bytes(size, 43), OTHER_ETAG);
      assertThatThrownBy(() -> read(in, 0, 8)).isInstanceOf(ObjectChangedException.class);
    }
    announced.release();
  }

  @ParameterizedTest
  @ValueSource(ints = {BLOCK - 1, BLOCK + 1})
  void aSizeThatIsNotTheObjectsProvesNothing(int told) throws Exception {
    fixture.putBytes(BLOCK);
    Announcement announced = announce(told);
    assertThat(announced.awaitAnswer(LONG)).isFalse();
    assertThat(announced.etag()).isNull();
    try (S3EInputStream in = fixture.open(with(announced, BLOCK))) {
      assertThat(read(in, 0, BLOCK)).isEqualTo(fixture.content);
    }
    assertThat(fixture.client.gets()).hasSize(2);
    announced.release();
  }

  /** Once, without a second attempt, and no error of anybody's. */
  @Test
  void aFailureIsSilent() throws Exception {
    fixture.putBytes(BLOCK);
    fixture.client.faults(
        (request, number) ->
            number == 0
                ? Answer.GOOD.withHead(new ResponseHead(500, null, -1, null, null, null))
                : Answer.GOOD);
    Announcement announced = announce(BLOCK);
    assertThat(announced.awaitAnswer(LONG)).isFalse();
    assertThat(fixture.client.gets()).hasSize(1);
    try (S3EInputStream in = fixture.open(with(announced, BLOCK))) {
      assertThat(read(in, 0, BLOCK)).isEqualTo(fixture.content);
    }
    assertThat(fixture.client.gets()).hasSize(2);
    announced.release();
  }

  @Test
  void whatIsReleasedIsCancelled() throws Exception {
    fixture.putBytes(BLOCK);
    fixture.client.hold();
    Announcement announced = announce(BLOCK);
    announced.release();
    assertThat(announced.awaitAnswer(LONG)).isFalse();
    fixture.client.open();
    try (S3EInputStream in = fixture.open(with(announced, BLOCK))) {
      assertThat(read(in, 0, BLOCK)).isEqualTo(fixture.content);
    }
    assertThat(fixture.client.gets()).extracting(GetRequest::etag).containsOnlyNulls();
  }

  @Test
  void theAnnouncementOfAnotherObjectsVersionIsLeftAlone() throws Exception {
    fixture.putBytes(BLOCK);
    Announcement announced = answered(BLOCK);
    byte[] longer = MemoryObjectClient.bytes(2 * BLOCK, 44);
    fixture.client.put(OBJECT, longer, OTHER_ETAG);
    try (S3EInputStream in = fixture.open(with(announced, 2 * BLOCK))) {
      assertThat(read(in, 0, 2 * BLOCK)).isEqualTo(longer);
    }
    announced.release();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0})
  void aSizeIsNeeded(long size) {
    assertThatThrownBy(() -> fixture.engine.announce(OBJECT, OpenOptions.DEFAULTS.withSize(size)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("size " + size);
  }

  @Test
  void aClosedEngineAnnouncesNothing() {
    fixture.engine.close();
    assertThat(fixture.engine.announce(OBJECT, OpenOptions.DEFAULTS.withSize(1))).isNull();
  }
}
