// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.ClientLimits;
import io.s3e.client.library.CrtSettings;
import io.s3e.jvm.HostSizing;
import io.s3e.jvm.JvmEnd;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.crt.http.HttpMonitoringOptions;
import software.amazon.awssdk.crt.http.HttpProxyEnvironmentVariableSetting;
import software.amazon.awssdk.crt.http.HttpProxyEnvironmentVariableSetting.HttpProxyEnvironmentVariableType;
import software.amazon.awssdk.crt.io.ClientTlsContext;
import software.amazon.awssdk.crt.io.ExponentialBackoffRetryOptions;
import software.amazon.awssdk.crt.io.StandardRetryOptions;
import software.amazon.awssdk.crt.s3.S3Client;
import software.amazon.awssdk.crt.s3.S3ClientOptions;
import software.amazon.awssdk.crt.s3.S3DirectBufferPoolOptions;

/**
 * The native objects of one {@link CrtTransport}: one or two CRT clients and what they share.
 * Opened all or none; closed in the opposite order, the shared parts only after the CRT clients
 * have ended or the wait for them is over (the native side counts its own references, so closing
 * early is safe but would leave the event loops to a thread of theirs).
 */
final class CrtConnections {
  private static final Logger LOG = LoggerFactory.getLogger(CrtConnections.class);

  /** A connection that delivers less than this for the whole stall time-out is given up. */
  private static final long STALL_BYTES_PER_SECOND = 1024;

  /** The least that the CRT takes: 0 would mean its default. */
  private static final long RETRY_PAUSE_MILLIS = 1;

  /** The last opened is the first: of the clients {@code wide}, if any, then {@code narrow}. */
  private final Deque<Runnable> closers = new ArrayDeque<>();

  private final CrtSettings settings;
  private final EventLoops eventLoops;
  private final S3Client narrow;
  private final @Nullable S3Client wide;

  /** Throws {@link IllegalStateException} if pools of direct memory are wanted and do not fit. */
  CrtConnections(CrtSettings settings, ClientLimits limits, boolean borrowed) {
    this.settings = settings;
    try {
      eventLoops = EventLoops.acquire(HostSizing.eventLoops(settings.targetGbps()));
      closers.push(eventLoops::release);
      ClientTlsContext tls = settings.isTls() ? TlsContexts.acquire(settings.authorities()) : null;
      if (tls != null) {
        closers.push(tls::close);
      }
      long wideBytes = (long) limits.lentSlotBytes() * limits.lentSlots();
      long narrowBytes = limits.ownedBytes() - wideBytes;
      narrow = open(tls, limits.copyRequestBytes(), borrowed ? narrowBytes : 0);
      closers.push(narrow::close);
      wide = borrowed && limits.lends() ? open(tls, limits.lentSlotBytes(), wideBytes) : null;
      if (wide != null) {
        closers.push(wide::close);
      }
    } catch (RuntimeException | Error e) {
      closeAll();
      throw e;
    }
  }

  /** The client for GETs that are lent, null where nothing is; or the one for those copied. */
  @Nullable S3Client client(boolean lends) {
    return lends ? wide : narrow;
  }

  /**
   * Closes the CRT clients, waits for them to end, then closes the rest. In a JVM that is ending it
   * does not wait: see {@link CrtHold}.
   *
   * @param deadline in {@link System#nanoTime}; a second is granted in any case
   */
  void close(long deadline) {
    CompletableFuture<?> ended = narrow.getShutdownCompleteFuture();
    if (wide != null) {
      ended = CompletableFuture.allOf(ended, wide.getShutdownCompleteFuture());
      closers.pop().run();
    }
    closers.pop().run();
    long granted = Math.max(deadline, System.nanoTime() + TimeUnit.SECONDS.toNanos(1));
    if (!JvmEnd.await(ended::isDone, granted) && System.nanoTime() - granted >= 0) {
      LOG.warn("The CRT client has not ended yet; it ends in the background");
    }
    closeAll();
  }

  private void closeAll() {
    while (!closers.isEmpty()) {
      closers.pop().run();
    }
  }

  private S3Client open(@Nullable ClientTlsContext tls, int partBytes, long poolBytes) {
    // Grows on demand, 16 slots at a time, and shrinks again when the client is idle.
    S3DirectBufferPoolOptions pool =
        poolBytes > 0 ? S3DirectBufferPoolOptions.elastic(0, poolBytes) : null;
    return new S3Client(
        new S3ClientOptions()
            .withRegion(settings.region())
            .withClientBootstrap(eventLoops.bootstrap)
            .withPartSize(partBytes)
            .withThroughputTargetGbps(settings.targetGbps())
            .withMaxConnections(settings.maxConnections())
            .withConnectTimeoutMs((int) settings.connectTimeout().toMillis())
            .withHttpMonitoringOptions(stallMonitor())
            .withComputeContentMd5(false)
            .withProxyEnvironmentVariableSetting(noProxy())
            .withTlsContext(tls)
            .withDirectBufferPoolOptions(pool)
            .withStandardRetryOptions(retries()));
  }

  /**
   * As few retries as the CRT can be told: one, and that only if a request succeeded since the last
   * one, for it takes a token from a bucket that holds a single one. (A maximum of 0 would mean the
   * default.) {@link CrtCall} cancels what is left.
   */
  private StandardRetryOptions retries() {
    return new StandardRetryOptions()
        .withInitialBucketCapacity(1)
        .withBackoffRetryOptions(
            new ExponentialBackoffRetryOptions()
                .withEventLoopGroup(eventLoops.group)
                .withMaxRetries(1)
                .withJitterMode(ExponentialBackoffRetryOptions.JitterMode.None)
                .withBackoffScaleFactorMS(RETRY_PAUSE_MILLIS));
  }

  private HttpMonitoringOptions stallMonitor() {
    HttpMonitoringOptions monitor = new HttpMonitoringOptions();
    monitor.setMinThroughputBytesPerSecond(STALL_BYTES_PER_SECOND);
    long seconds = (settings.stallTimeout().toMillis() + 999) / 1000;
    monitor.setAllowableThroughputFailureIntervalSeconds((int) Math.max(2, seconds));
    return monitor;
  }

  /** Not even one that the environment names. */
  private static HttpProxyEnvironmentVariableSetting noProxy() {
    HttpProxyEnvironmentVariableSetting proxy = new HttpProxyEnvironmentVariableSetting();
    proxy.setEnvironmentVariableType(HttpProxyEnvironmentVariableType.DISABLED);
    return proxy;
  }
}
