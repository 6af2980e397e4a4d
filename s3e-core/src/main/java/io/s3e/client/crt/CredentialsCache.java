// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.CredentialsSource;
import io.s3e.jvm.Background;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.crt.auth.credentials.Credentials;
import software.amazon.awssdk.crt.auth.credentials.DelegateCredentialsHandler;

/**
 * Stands between a source of credentials, which may block, and the CRT, which asks for credentials
 * on an event loop whenever it signs. A request starts only when there are credentials at hand
 * ({@link #whenReady}); the event loop is then answered from the snapshot without waiting. The
 * provider is asked on another thread, once for all who wait.
 *
 * <p>States of the snapshot:
 *
 * <pre>
 * NONE ──the provider answers──▶ GOOD ──the store refuses them──▶ SUSPECT
 *   ▲                              ▲                                │
 *   │                              └──────the provider answers──────┤
 *   └─renewed, named by the store, but the provider fails───────────┘
 * </pre>
 *
 * <ul>
 *   <li>NONE, and GOOD or SUSPECT close to the expiry: requests wait for the provider. If it fails,
 *       credentials that have not expired yet serve all the same.
 *   <li>GOOD and SUSPECT serve. The provider is asked in the background, and nobody waits, once
 *       they are older than {@link #REFRESH_AFTER} or SUSPECT.
 *   <li>{@link #renew} waits for the provider if they are SUSPECT. If it fails, they serve all the
 *       same, unless the store has named them as what it refuses: NONE.
 * </ul>
 *
 * <p>Independent of these, <i>closed</i>, for good: whoever waits for the provider is told at once
 * that there are none, on the thread that closes, and so is whoever comes later. A provider that
 * hangs keeps the thread that asks until it answers, and nothing else; its answer is dropped. Who
 * is not closed asks once more after a while ({@link SingleFlight}), each time by another thread.
 *
 * <p>Thread-safe.
 */
final class CredentialsCache implements DelegateCredentialsHandler, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CredentialsCache.class);

  /** What is told where not even the failure can be. */
  private static final Exception BROKEN = new IllegalStateException("nobody answers for the keys");

  /** How old credentials may grow before the provider is asked whether they still hold. */
  private static final Duration REFRESH_AFTER = Duration.ofSeconds(30);

  /** A provider that has failed is asked again, by those who have credentials, after so long. */
  private static final Duration ASK_AGAIN_AFTER = Duration.ofSeconds(5);

  /** Credentials this close to their expiry are not given to new requests. */
  private static final Duration EXPIRY_MARGIN = Duration.ofSeconds(20);

  /**
   * {@code keyId} is the access key's, which is no secret; null for anonymous requests. {@code
   * refusedNanos} is when the last request was sent that was refused with them; null if none was.
   */
  private record Snapshot(
      Credentials credentials,
      @Nullable String keyId,
      @Nullable Instant expiry,
      long askedNanos,
      @Nullable Long refusedNanos) {
    Snapshot suspected(long sentNanos) {
      long last = refusedNanos == null || refusedNanos - sentNanos < 0 ? sentNanos : refusedNanos;
      return new Snapshot(credentials, keyId, expiry, askedNanos, last);
    }

    boolean servesUntil(Instant time) {
      return expiry == null || time.isBefore(expiry);
    }

    boolean isOld() {
      return System.nanoTime() - askedNanos > REFRESH_AFTER.toNanos();
    }
  }

  private final CredentialsSource source;
  private final Supplier<Instant> clock;
  private final Executor asker;
  private volatile boolean closed;
  private final AtomicReference<@Nullable Snapshot> snapshot = new AtomicReference<>();

  /** When the provider failed last, by {@link System#nanoTime()}; null if it has answered since. */
  private volatile @Nullable Long failedNanos;

  /** Asks the provider; lands with its failure, or with null once the snapshot is there. */
  final SingleFlight<Exception> asking = new SingleFlight<>();

  /** {@code asker} runs each question on another thread. */
  CredentialsCache(CredentialsSource source, Supplier<Instant> clock, Executor asker) {
    this.source = source;
    this.clock = clock;
    this.asker = asker;
  }

  /**
   * Runs {@code start} as soon as there are credentials: at once on the calling thread in the usual
   * case, else on the thread that asks. Runs {@code failed} instead if there are none to be had.
   */
  void whenReady(Runnable start, Consumer<Exception> failed) {
    Snapshot now = snapshot.get();
    if (now != null && now.servesUntil(clock.get().plus(EXPIRY_MARGIN))) {
      if ((now.refusedNanos() != null || now.isOld()) && mayAskAgain()) {
        ask(null);
      }
      start.run();
      return;
    }
    ask(
        failure -> {
          Snapshot then = snapshot.get();
          if (failure == null || (then != null && then.servesUntil(clock.get()))) {
            start.run();
          } else {
            failed.accept(failure);
          }
        });
  }

  /**
   * The store has refused a request sent then, perhaps for its credentials: no later ones, but for
   * those of the same key, which the provider may have given once more meanwhile.
   */
  void suspect(long sentNanos, @Nullable String keyId) {
    Snapshot now = snapshot.get();
    boolean isOfKey = now != null && keyId != null && keyId.equals(now.keyId());
    if (now != null && (isOfKey || now.askedNanos() - sentNanos <= 0)) {
      snapshot.compareAndSet(now, now.suspected(sentNanos));
    }
  }

  /**
   * Runs {@code then} once the provider has been asked for other credentials than the suspected
   * ones, on the thread that asks; at once if it has been since.
   *
   * @param isNamed whether the store has said that it refuses them, and not the object perhaps
   */
  void renew(boolean isNamed, Runnable then) {
    Snapshot now = snapshot.get();
    Long refused = now == null ? null : now.refusedNanos();
    if (now == null || refused == null) {
      then.run();
      return;
    }
    ask(
        failure -> {
          Snapshot found = snapshot.get();
          if (failure == null
              && found != null
              && found.askedNanos() - refused < 0
              && Objects.equals(found.keyId(), now.keyId())) {
            // The question was older than a request that was refused.
            ask(again -> renewed(isNamed ? again : null, found, then));
          } else {
            renewed(isNamed ? failure : null, now, then);
          }
        });
  }

  /** Drops what was refused, where its provider has failed to give others, and nothing newer. */
  private void renewed(@Nullable Exception failure, Snapshot refused, Runnable then) {
    if (failure != null) {
      // As the answer it is: who is refused as well makes another snapshot of it.
      snapshot.updateAndGet(
          now -> now == null || now.askedNanos() == refused.askedNanos() ? null : now);
    }
    then.run();
  }

  /** Called by the CRT on an event loop. */
  @Override
  public Credentials getCredentials() {
    Snapshot now = snapshot.get();
    if (now == null) {
      throw new IllegalStateException("signing without credentials");
    }
    return now.credentials();
  }

  /** The id of the access key that requests are signed with; null if there is none, or none yet. */
  @Nullable String keyId() {
    Snapshot now = snapshot.get();
    return now == null ? null : now.keyId();
  }

  /** Waits for nothing. Idempotent. */
  @Override
  public void close() {
    closed = true;
    asking.land(closed());
  }

  /** A provider that fails is left alone for a while by those who have credentials. */
  private boolean mayAskAgain() {
    Long failed = failedNanos;
    return failed == null || System.nanoTime() - failed > ASK_AGAIN_AFTER.toNanos();
  }

  private static Exception closed() {
    return new IllegalStateException("the client is closed");
  }

  private void ask(@Nullable Consumer<@Nullable Exception> waiter) {
    if (!asking.join(waiter)) {
      return;
    }
    if (closed) {
      asking.land(closed());
      return;
    }
    try {
      asker.execute(this::answer);
    } catch (RuntimeException | Error e) {
      // The system has no thread to give; it may have one for the next question.
      asking.land(new IllegalStateException("nobody can ask for credentials: " + e, e));
    }
  }

  /** Asks the provider and tells all who wait, whatever comes of it. */
  private void answer() {
    long asked = System.nanoTime();
    Exception failure = BROKEN;
    try {
      failure = resolve(asked);
    } finally {
      if (failure == null || asking.begunNanos - asked <= 0) {
        asking.land(failure);
      }
      // Else it has hung so long that another one was asked, which may still find some.
    }
  }

  /** Asks the provider; null if it has answered. */
  private @Nullable Exception resolve(long asked) {
    try {
      CredentialsSource.Credentials found = source.resolve();
      if (closed) {
        return closed();
      }
      Snapshot made =
          found == null
              ? new Snapshot(Credentials.createAnonymousCredentials(), null, null, asked, null)
              : new Snapshot(translate(found), found.keyId(), found.expiry(), asked, null);
      // An answer that hung for long may come behind that of a later question.
      snapshot.updateAndGet(now -> now != null && now.askedNanos() - asked > 0 ? now : made);
      failedNanos = null;
      return null;
    } catch (IOException | RuntimeException e) {
      boolean isFirst = failedNanos == null;
      failedNanos = System.nanoTime();
      if (!closed && isFirst) {
        Background.logApart(() -> LOG.warn("No credentials at present: {}", e.toString()));
      }
      return e;
    } catch (Throwable e) {
      // Whatever it is, somebody waits for the end of this.
      return new IllegalStateException("the credentials provider does not work: " + e, e);
    }
  }

  private static Credentials translate(CredentialsSource.Credentials found) {
    String token = found.sessionToken();
    return new Credentials(
        utf8(found.keyId()), utf8(found.secret()), token == null ? null : utf8(token));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
