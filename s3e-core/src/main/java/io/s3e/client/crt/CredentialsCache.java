package io.s3e.client.crt;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.crt.auth.credentials.Credentials;
import software.amazon.awssdk.crt.auth.credentials.DelegateCredentialsHandler;

/**
 * Stands between an SDK credentials provider, which may block on the network or the disk, and the
 * CRT, which asks for credentials on an event loop whenever it signs.
 *
 * <p>A request starts only when there are credentials at hand ({@link #whenReady}); the event loop
 * is then answered from the snapshot without waiting. A snapshot older than {@link #REFRESH_AFTER}
 * or close to its expiry still serves while one thread of the cache's own asks the provider again
 * (providers cache, so asking is cheap, and rotated credentials are noticed); an expired one makes
 * requests wait for that thread.
 *
 * <p>Thread-safe. The thread ends after some seconds without work.
 */
final class CredentialsCache implements DelegateCredentialsHandler, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CredentialsCache.class);

  /** How old credentials may grow before the provider is asked whether they still hold. */
  private static final Duration REFRESH_AFTER = Duration.ofSeconds(30);

  /** Credentials this close to their expiry are not given to new requests. */
  private static final Duration EXPIRY_MARGIN = Duration.ofSeconds(20);

  private record Snapshot(Credentials credentials, long resolvedNanos, @Nullable Instant expiry) {
    boolean isUsable() {
      return expiry == null || Instant.now().plus(EXPIRY_MARGIN).isBefore(expiry);
    }

    boolean isOld() {
      return System.nanoTime() - resolvedNanos > REFRESH_AFTER.toNanos();
    }
  }

  private final AwsCredentialsProvider source;
  private final ThreadPoolExecutor resolver;
  private final AtomicBoolean refreshing = new AtomicBoolean();
  private volatile @Nullable Snapshot snapshot;

  CredentialsCache(AwsCredentialsProvider source) {
    this.source = source;
    resolver =
        new ThreadPoolExecutor(
            1,
            1,
            5,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "s3e-credentials");
              thread.setDaemon(true);
              return thread;
            });
    resolver.allowCoreThreadTimeOut(true);
  }

  /**
   * Runs {@code start} as soon as there are credentials: at once on the calling thread in the usual
   * case, else on the cache's thread. Runs {@code failed} instead if there are none to be had.
   */
  void whenReady(Runnable start, Consumer<RuntimeException> failed) {
    Snapshot now = snapshot;
    if (now != null && now.isUsable()) {
      if (now.isOld()) {
        refreshInBackground();
      }
      start.run();
      return;
    }
    try {
      resolver.execute(() -> resolveAndStart(start, failed));
    } catch (RejectedExecutionException e) {
      failed.accept(e);
    }
  }

  /** Makes the next request ask the provider again, because the store refused the credentials. */
  void suspect() {
    Snapshot now = snapshot;
    if (now != null) {
      snapshot =
          new Snapshot(
              now.credentials(), System.nanoTime() - 2 * REFRESH_AFTER.toNanos(), now.expiry());
    }
  }

  /** Called by the CRT on an event loop. */
  @Override
  public Credentials getCredentials() {
    Snapshot now = snapshot;
    if (now == null) {
      throw new IllegalStateException("signing before credentials were resolved");
    }
    return now.credentials();
  }

  @Override
  public void close() {
    resolver.shutdown();
  }

  private void resolveAndStart(Runnable start, Consumer<RuntimeException> failed) {
    Snapshot now = snapshot;
    if (now == null || !now.isUsable()) {
      try {
        snapshot = resolve();
      } catch (RuntimeException e) {
        failed.accept(e);
        return;
      } catch (LinkageError e) {
        failed.accept(new IllegalStateException("the credentials provider does not link", e));
        return;
      }
    }
    start.run();
  }

  private void refreshInBackground() {
    if (!refreshing.compareAndSet(false, true)) {
      return;
    }
    try {
      resolver.execute(
          () -> {
            try {
              snapshot = resolve();
            } catch (RuntimeException e) {
              LOG.warn("Credentials could not be refreshed, the old ones stay in use: {}", e, e);
            } finally {
              refreshing.set(false);
            }
          });
    } catch (RejectedExecutionException e) {
      LOG.debug("Client closed, no refresh of credentials");
    }
  }

  private Snapshot resolve() {
    AwsCredentials identity = source.resolveCredentials();
    Instant expiry = identity.expirationTime().orElse(null);
    return new Snapshot(translate(identity), System.nanoTime(), expiry);
  }

  private static Credentials translate(AwsCredentials identity) {
    if (identity.accessKeyId() == null || identity.secretAccessKey() == null) {
      return Credentials.createAnonymousCredentials();
    }
    byte[] token =
        identity instanceof AwsSessionCredentials session ? utf8(session.sessionToken()) : null;
    return new Credentials(utf8(identity.accessKeyId()), utf8(identity.secretAccessKey()), token);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
