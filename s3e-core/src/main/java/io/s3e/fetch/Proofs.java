// SPDX-License-Identifier: Apache-2.0
package io.s3e.fetch;

import io.s3e.block.ObjectVersion;
import io.s3e.fetch.ObjectHandle.Proof;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The versions that S3 has answered for to one tenant, with the tenant's own credentials. Bytes
 * that are in memory or on disk, whoever has fetched them, are served only while such an answer is
 * a proof: until it is too old, and as long as the tenant's requests are signed with the
 * credentials that it was given to. What is served after that takes a GET, whose answer is the next
 * proof.
 *
 * <p>To forget a proof costs one GET, so the table simply forgets: what is too old, each time that
 * it has doubled, and everything where that leaves it too large.
 *
 * <p>Any thread.
 */
final class Proofs {
  /** Versions that answers are remembered of; a table of so many files is a large one. */
  static final int MOST_VERSIONS = 100_000;

  /** Rights may be taken away: short beside the life of temporary credentials. */
  static final Duration LONGEST_LIFE = Duration.ofMinutes(15);

  private static final int LEAST_SWEPT = 1_000;

  final ConcurrentHashMap<ObjectVersion, Proof> proofs = new ConcurrentHashMap<>();

  /** How long an answer counts for the stream whose GET it is of, in ns. */
  private final long ofStreamNanos;

  /** The same for other streams; 0 if each asks for itself. */
  private final long ofVersionNanos;

  private final Supplier<@Nullable Object> credentials;
  private final LongSupplier nanoClock;

  /** The other clock may stand still while the machine sleeps. */
  Clock wallClock = Clock.systemUTC();

  /** With so many the table forgets what is too old. */
  private volatile int sweptAt = LEAST_SWEPT;

  /**
   * @param age how long an answer is a proof; 0: each opening asks for itself, and for as long as
   *     {@link #LONGEST_LIFE}
   * @param credentials equal as long as the tenant's requests are signed with the same ones
   * @param nanoClock as {@link System#nanoTime()}
   */
  Proofs(Duration age, Supplier<@Nullable Object> credentials, LongSupplier nanoClock) {
    this.ofVersionNanos = age.toNanos();
    this.ofStreamNanos = age.isZero() ? LONGEST_LIFE.toNanos() : ofVersionNanos;
    this.credentials = credentials;
    this.nanoClock = nanoClock;
  }

  /** S3 has accepted a GET of the handle's, sent with those credentials if they were known. */
  void answered(ObjectHandle handle, @Nullable Object asked) {
    Object by = asked == null ? credentials.get() : asked;
    Proof proof = new Proof(nanoClock.getAsLong(), wallClock.millis(), by);
    handle.proof = proof;
    ObjectVersion name = handle.provenName();
    if (name == null || ofVersionNanos <= 0) {
      return;
    }
    if (proofs.size() >= sweptAt) {
      proofs.values().removeIf(each -> !holds(each, ofVersionNanos));
      if (proofs.size() >= MOST_VERSIONS) {
        proofs.clear();
      }
      sweptAt = Math.min(MOST_VERSIONS, Math.max(LEAST_SWEPT, 2 * proofs.size()));
    }
    proofs.put(name, proof);
  }

  /** Whether what is known of the handle's version may be served to its reader now. */
  boolean isProven(ObjectHandle handle) {
    Proof own = handle.proof;
    if (own != null && holds(own, ofStreamNanos)) {
      return true;
    }
    ObjectVersion name = handle.provenName();
    Proof of = name == null ? null : proofs.get(name);
    if (of == null || !holds(of, ofVersionNanos)) {
      return false;
    }
    handle.proof = of;
    return true;
  }

  private boolean holds(Proof proof, long nanos) {
    Object asked = proof.credentials();
    return nanoClock.getAsLong() - proof.nanos() < nanos
        && wallClock.millis() - proof.millis() < nanos / 1_000_000
        && (asked == null || asked.equals(credentials.get()));
  }
}
