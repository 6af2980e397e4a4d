// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cache;

import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.client.ClientProvider;
import io.s3e.disk.CacheKey;
import io.s3e.fetch.ExplainConfig;
import io.s3e.fetch.GetSink;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.ConfigValues;
import io.s3e.hadoop.conf.DiskCacheSettings;
import io.s3e.hadoop.conf.ExplainSetting;
import io.s3e.hadoop.conf.ProcessEnvironment;
import io.s3e.hadoop.conf.S3EKeys;
import io.s3e.hadoop.conf.ToldOnce;
import io.s3e.hadoop.explain.GetFiles;
import io.s3e.hadoop.explain.GetSpans;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives an engine's configuration its cache on disk, if there may be one. Made with the file
 * system, whose maker's credentials it looks at; asked when the engine is made, which {@link
 * StartLine} tells.
 */
public final class EngineFactory {
  private static final Logger LOG = LoggerFactory.getLogger(EngineFactory.class);

  private final AdapterConfig config;
  private final Configuration conf;
  private final @Nullable CacheKey key;

  /**
   * @param conf S3A's own, with per-bucket overrides applied and the credential providers that S3A
   *     adds
   * @param bucket null if not known
   * @throws IllegalArgumentException if files are to be encrypted and there is no secret
   */
  public EngineFactory(AdapterConfig config, Configuration conf, @Nullable String bucket) {
    this.config = config;
    this.conf = conf;
    DiskCacheSettings cache = config.cache();
    this.key =
        cache.usesDisk() && cache.encrypted()
            ? CacheSecret.find(cache.scope(), conf, bucket)
            : null;
  }

  /**
   * Joins the JVM's engine, with its cache on disk. Where no directory turns out to be usable, a
   * WARN says so and reads go on without one.
   *
   * @param owner what to call the file system in messages
   * @param store the endpoint that it reads from; null if what it reads is for nobody else
   * @param secret why its objects must not be written to disk, in words that end a sentence; null
   *     if they may
   * @throws InterruptedIOException if the thread is interrupted while it looks for directories
   */
  public S3E create(
      String owner, @Nullable String store, @Nullable String secret, ClientProvider client)
      throws InterruptedIOException {
    long wanted = config.engine().memoryBytes();
    long applied = config.engine().effectiveMemoryBytes();
    if (wanted > applied) {
      ToldOnce.warn(
          LOG,
          "{} = \"{}\" is more than half of this JVM's direct memory, so {} bytes apply: raise"
              + " -XX:MaxDirectMemorySize to twice the budget, or lower the budget",
          S3EKeys.MEMORY_BUDGET.name(),
          ConfigValues.sizeText(wanted),
          applied);
    }
    S3EConfig engineConfig;
    try {
      engineConfig = engine(owner, store, secret);
    } catch (IOException e) {
      if (Thread.currentThread().isInterrupted()) {
        // Whoever wanted the engine does not any more.
        throw (InterruptedIOException) new InterruptedIOException(e.getMessage()).initCause(e);
      }
      ToldOnce.warn(LOG, "No cache on disk, in memory only: {}", String.valueOf(e.getMessage()));
      engineConfig = inMemory(store);
    }
    S3E engine = S3E.create(engineConfig, client);
    StartLine.tell(owner, engine);
    return engine;
  }

  private S3EConfig inMemory(@Nullable String store) {
    return held(config).toBuilder().store(store).build();
  }

  /**
   * What an engine is made with before there is a file system: that of the file systems with these
   * settings then, which bring the cache on disk.
   */
  public static S3EConfig held(AdapterConfig config) {
    return config.engine().toBuilder().explain(explain(config.explain())).build();
  }

  private static ExplainConfig explain(ExplainSetting setting) {
    Path directory = setting.directory();
    return new ExplainConfig(
        setting.level() != ExplainSetting.Level.OFF,
        setting.level() == ExplainSetting.Level.SPANS
            ? spans()
            : directory == null ? null : new GetFiles.In(directory));
  }

  private static @Nullable Supplier<GetSink> spans() {
    if (GetSpans.OfApplication.isPossible()) {
      return new GetSpans.OfApplication();
    }
    ToldOnce.warn(
        LOG,
        "{} = \"spans\" makes none: opentelemetry-api is not on the class path",
        S3EKeys.EXPLAIN.name());
    return null;
  }

  /**
   * The configuration of the engine; parameters as for {@link #create}.
   *
   * @throws IOException if no directory can be used for the cache on disk that is asked for
   */
  public S3EConfig engine(String owner, @Nullable String store, @Nullable String secret)
      throws IOException {
    DiskCacheSettings cache = config.cache();
    S3EConfig inMemory = inMemory(store);
    if (!cache.usesDisk()) {
      return inMemory;
    }
    if (secret != null) {
      LOG.info("Nothing of {} goes to local disk: {}", owner, secret);
      return inMemory;
    }
    List<Path> usable =
        new CacheDirectories(conf, ProcessEnvironment.own(), CacheDirectories::fileSystemOf)
            .choose(cache.directories(), cache.scope());
    if (usable.isEmpty()) {
      return inMemory;
    }
    return inMemory.toBuilder().diskCache(cache.in(usable, key)).build();
  }
}
