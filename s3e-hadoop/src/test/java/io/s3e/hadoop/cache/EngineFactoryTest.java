// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.Engines;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.client.ClientLimits;
import io.s3e.disk.DiskCacheConfig;
import io.s3e.disk.DiskCacheConfig.Mode;
import io.s3e.fetch.ExplainConfig;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.explain.GetFiles;
import io.s3e.testing.CapturedLog;
import io.s3e.testing.MemoryObjectClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineFactoryTest {
  private static final ClientLimits LIMITS = ClientLimits.copying(1 << 20, 4, 0);

  @TempDir private Path temp;

  private final Configuration conf = new Configuration(false);

  private S3EConfig engine(String secret) throws IOException {
    conf.set("fs.s3a.s3e.cache.dirs", temp.toString());
    AdapterConfig config = AdapterConfig.read(conf, "logs");
    return new EngineFactory(config, conf, "logs").engine("s3a://logs", "https://s3.test", secret);
  }

  /** The engine, which keeps files in the directory. */
  @AfterEach
  void endEngine() {
    Engines.endIdle();
  }

  @Test
  void byDefaultBlocksGoToDisk() throws IOException {
    DiskCacheConfig cache = engine(null).diskCache();
    assertThat(cache.mode()).isEqualTo(Mode.DISK);
    assertThat(cache.directories()).containsExactly(temp);
    assertThat(engine(null).store()).isEqualTo("https://s3.test");
    assertThat(cache.key()).isNull();
  }

  @Test
  void theLatestGetsAreKeptOrNoneOrAll() throws IOException {
    assertThat(engine(null).explain()).isEqualTo(ExplainConfig.DEFAULTS);
    conf.set("fs.s3a.s3e.explain", "off");
    assertThat(engine(null).explain()).isEqualTo(new ExplainConfig(false, null)).hasToString("off");
    conf.set("fs.s3a.s3e.explain", temp.toString());
    assertThat(engine(null).explain())
        .isEqualTo(new ExplainConfig(true, new GetFiles.In(temp)))
        .hasToString("all in " + temp);
  }

  @Test
  void inModeMemoryNothingIsLookedAt() throws IOException {
    conf.set("fs.s3a.s3e.cache.mode", "memory");
    conf.set("fs.s3a.s3e.cache.encryption", "true");
    conf.set("fs.s3a.s3e.cache.scope", "host");
    assertThat(engine(null)).isEqualTo(inMemory("https://s3.test"));
  }

  @Test
  void objectsEncryptedByTheUsersKeysStayInMemoryAndOneLineSaysSo() throws IOException {
    try (CapturedLog log = new CapturedLog()) {
      assertThat(engine("objects are encrypted by SSE-C")).isEqualTo(inMemory("https://s3.test"));
      assertThat(log.lines("INFO"))
          .hasSize(1)
          .first()
          .asString()
          .contains("Nothing of s3a://logs goes to local disk: objects are encrypted by SSE-C");
    }
  }

  @Test
  void withoutADirectoryThereIsOnlyMemory() throws IOException {
    Path missing = temp.resolve("missing");
    conf.set("fs.s3a.s3e.cache.dirs", missing.toString());
    EngineFactory factory = new EngineFactory(AdapterConfig.read(conf, "logs"), conf, "logs");
    assertThatThrownBy(() -> factory.engine("s3a://logs", "s", null))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("fs.s3a.s3e.cache.dirs")
        .hasMessageContaining(missing + " does not exist");
    try (CapturedLog log = new CapturedLog();
        S3E engine =
            factory.create("s3a://logs", "s", null, granted -> new MemoryObjectClient(LIMITS))) {
      assertThat(engine.config().diskCache().mode()).isEqualTo(Mode.MEMORY);
      assertThat(log.lines("WARN"))
          .hasSize(1)
          .first()
          .asString()
          .contains("No cache on disk", "missing does not exist", "fs.s3a.s3e.cache.dirs");
    }
  }

  @Test
  void whatHoldsForAllFileSystemsIsToldByTheFirst() throws IOException {
    // Another in each run: one JVM tells of it once.
    conf.setLong("fs.s3a.s3e.memory.budget", (900L << 30) + System.nanoTime() % (1 << 30));
    conf.set("fs.s3a.s3e.cache.dirs", temp.resolve("nowhere").toString());
    EngineFactory factory = new EngineFactory(AdapterConfig.read(conf, "logs"), conf, "logs");
    try (CapturedLog log = new CapturedLog()) {
      for (String owner : List.of("s3a://logs", "s3a://others")) {
        factory.create(owner, "s", null, granted -> new MemoryObjectClient(LIMITS)).close();
      }
      assertThat(log.lines("is more than half of this JVM's direct memory")).hasSize(1);
      assertThat(log.lines("No cache on disk")).hasSize(1);
    }
  }

  private static S3EConfig inMemory(String store) {
    return S3EConfig.DEFAULTS.toBuilder().store(store).build();
  }

  @Test
  void aPrivateSecretIsMadeAndShownNowhere() throws IOException {
    conf.set("fs.s3a.s3e.cache.encryption", "true");
    S3EConfig engine = engine(null);
    assertThat(engine.diskCache().key()).isNotNull();
    assertThat(engine.toString()).contains("key=CacheKey");
  }

  @Test
  void aSharedSecretIsAskedForWhenTheFileSystemIsMade() throws IOException {
    conf.set("fs.s3a.s3e.cache.encryption", "true");
    conf.set("fs.s3a.s3e.cache.scope", "host");
    assertThatThrownBy(() -> engine(null)).hasMessageContaining("fs.s3a.s3e.cache.key is not set");
    String secret = Base64.getEncoder().encodeToString(new byte[32]);
    conf.set("fs.s3a.s3e.cache.key", secret);
    assertThat(engine(null).diskCache().key()).isNotNull();
    assertThat(engine(null).toString()).doesNotContain(secret);
  }
}
