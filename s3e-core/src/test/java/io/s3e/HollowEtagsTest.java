// SPDX-License-Identifier: Apache-2.0
package io.s3e;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.buffer.MemoryBudget;
import io.s3e.client.ClientLimits;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.metrics.DiskMetrics.Counter;
import io.s3e.stream.Announcement;
import io.s3e.stream.S3EInputStream;
import io.s3e.testing.DiskWrites;
import io.s3e.testing.MemoryObjectClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stores that give every object the same ETag: what was read of one content is no other's. */
@Timeout(60)
class HollowEtagsTest {
  private static final int BLOCK = 64 << 10;
  private static final int REQUEST = 8 * BLOCK;
  private static final int SIZE = 24 * BLOCK + 17;
  private static final ObjectRef OBJECT = new ObjectRef("bucket", "key");

  /** As MinIO answers for files that it finds in a folder. */
  private static final String MINIO = "\"00000000000000000000000000000000-1\"";

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final OpenOptions SIZED = OpenOptions.DEFAULTS.withSize(SIZE);

  private final byte[] old = MemoryObjectClient.bytes(SIZE, 1);
  private final byte[] replaced = MemoryObjectClient.bytes(SIZE, 2);
  private final MemoryBudget budget = new MemoryBudget(64L << 20);
  private final MemoryObjectClient client =
      new MemoryObjectClient(ClientLimits.copying(REQUEST, 8, 0));

  @AfterEach
  void everythingIsGivenBack() throws Exception {
    Engines.endIdle();
    awaitTrue("memory is given back", () -> budget.reserved() == 0);
  }

  private static S3EConfig.Builder config() {
    return S3EConfig.DEFAULTS.toBuilder()
        .blockBytes(BLOCK)
        .requestBytes(REQUEST)
        .readTimeout(Duration.ofSeconds(20))
        .store("memory");
  }

  private S3E engine(S3EConfig config) {
    return S3E.create(config, budget, memory -> client);
  }

  private static byte[] read(S3E engine, OpenOptions options) throws IOException {
    try (S3EInputStream in = engine.open(OBJECT, options)) {
      return in.readAllBytes();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {MINIO, "\"00000000000000000000000000000000\"", "\"\"", "", "\" \""})
  void whatReplacesAnObjectIsReadHoweverItIsOpened(String etag) throws Exception {
    try (S3E engine = engine(config().build())) {
      for (OpenOptions each : List.of(OpenOptions.DEFAULTS, SIZED, SIZED.withVersion(etag, null))) {
        client.put(OBJECT, old, etag);
        assertThat(read(engine, each)).isEqualTo(old);
        client.put(OBJECT, replaced, etag);
        assertThat(read(engine, each)).as("opened with %s", each).isEqualTo(replaced);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"00000000000000000000000000000001-1\"", "\"a-1\"", "\"v1\"", "\"0a\""})
  void otherEtagsTellVersionsAndWhatWasReadIsReadAgainFromMemory(String etag) throws Exception {
    client.put(OBJECT, old, etag);
    try (S3E engine = engine(config().build())) {
      assertThat(read(engine, OpenOptions.DEFAULTS)).isEqualTo(old);
      int sent = client.gets().size();
      assertThat(read(engine, OpenOptions.DEFAULTS)).isEqualTo(old);
      assertThat(client.gets()).hasSize(sent);
    }
  }

  @Test
  void oneOpeningReadsItsBytesOnceAndAsksForItsEtag() throws Exception {
    client.put(OBJECT, old, MINIO);
    try (S3E engine = engine(config().prefetch(false).build())) {
      for (OpenOptions each : List.of(OpenOptions.DEFAULTS, SIZED)) {
        int before = client.gets().size();
        try (S3EInputStream in = engine.open(OBJECT, each)) {
          // No GET is sent before this one's answer, which has the ETag.
          in.readFullyAt(0, new byte[1], 0, 1);
          in.readFullyAt(0, new byte[SIZE], 0, SIZE);
          in.readFullyAt(0, new byte[SIZE], 0, SIZE);
        }
        var sent = client.gets().subList(before, client.gets().size());
        assertThat(sent.stream().mapToLong(get -> get.range().length()).sum()).isEqualTo(SIZE);
        assertThat(sent.get(sent.size() - 1).etag()).as("If-Match").isEqualTo(MINIO);
      }
    }
  }

  @Test
  void whatWasAnnouncedOfOneContentIsNotReadAsTheEndOfAnother() throws Exception {
    client.put(OBJECT, old, MINIO);
    try (S3E engine = engine(config().build())) {
      Announcement announced = Objects.requireNonNull(engine.announce(OBJECT, SIZED));
      assertThat(announced.awaitAnswer(PATIENCE)).isTrue();
      client.put(OBJECT, replaced, MINIO);
      assertThat(read(engine, SIZED.withAnnounced(announced))).isEqualTo(replaced);
      announced.release();
    }
  }

  @Test
  void nothingOfItGoesToTheDisk(@TempDir Path directory) throws Exception {
    DiskCacheConfig disk =
        DiskCacheConfig.DEFAULTS.toBuilder()
            .mode(Mode.DISK)
            .directories(List.of(directory))
            .capacityBytes(64L << 20)
            .build();
    try (S3E engine = engine(config().diskCache(disk).build())) {
      for (byte[] content : List.of(old, replaced)) {
        client.put(OBJECT, content, MINIO);
        for (OpenOptions each : List.of(OpenOptions.DEFAULTS, SIZED)) {
          DiskWrites.await(engine, PATIENCE);
          assertThat(read(engine, each)).isEqualTo(content);
        }
      }
      DiskWrites.await(engine, PATIENCE);
      assertThat(engine.metrics().disk().get(Counter.OFFERED_BYTES)).isZero();
    }
  }
}
