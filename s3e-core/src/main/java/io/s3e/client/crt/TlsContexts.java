// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.jvm.OwnLoader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.crt.CrtRuntimeException;
import software.amazon.awssdk.crt.io.ClientTlsContext;
import software.amazon.awssdk.crt.io.TlsContextOptions;

/**
 * The CRT's TLS contexts, one for each set of trusted authorities, shared by all clients of the JVM
 * and counted: the first client with that trust makes it. Parsing the 140 authorities of a JDK
 * takes about 100 ms and 1 MB, which a context for each client would pay again for every file
 * system. So the one that was used last stays as a spare when its last client closes, and ends when
 * another becomes the spare; in a class loader that may be dropped it is a spare once, between the
 * first connections' rehearsal and themselves.
 *
 * <p>States: USED, by one client or more; SPARE, by none, one context of the JVM at most; ENDED.
 *
 * <p>A context holds a native reference of its own to everything it needs, and a CRT client one to
 * its context, so ending one early is safe.
 */
final class TlsContexts {
  private static final Logger LOG = LoggerFactory.getLogger(TlsContexts.class);

  /** By the authorities that are trusted. Guarded by itself. */
  private static final Map<List<String>, TlsContexts> OPEN = new HashMap<>();

  /** Guarded by {@link #OPEN}. */
  private static @Nullable TlsContexts spare;

  private final List<String> authorities;
  final ClientTlsContext context;

  // Guarded by OPEN.
  private int users;
  private boolean wasSpare;

  private TlsContexts(List<String> authorities) {
    this.authorities = authorities;
    context = trusting(authorities);
  }

  /** The context that trusts these, one more user; fails if none of them can be used. */
  static TlsContexts acquire(List<String> authorities) {
    synchronized (OPEN) {
      TlsContexts shared = OPEN.computeIfAbsent(authorities, TlsContexts::new);
      shared.users++;
      if (spare == shared) {
        spare = null;
      }
      return shared;
    }
  }

  /** One user less; called once by each. */
  void release() {
    TlsContexts ended;
    synchronized (OPEN) {
      if (--users > 0) {
        return;
      }
      // A class loader of the application's that is dropped keeps none: it would never end.
      ended = wasSpare && !OwnLoader.isApplications() ? this : spare;
      spare = ended == this ? spare : this;
      wasSpare = true;
      if (ended != null) {
        OPEN.remove(ended.authorities);
      }
    }
    if (ended != null) {
      ended.context.close();
    }
  }

  private static ClientTlsContext trusting(List<String> authorities) {
    try {
      return of(authorities);
    } catch (CrtRuntimeException | IllegalArgumentException e) {
      // One certificate that the CRT's TLS library cannot read spoils all of them.
      LOG.debug("The {} trusted authorities are tried one by one: {}", authorities.size(), e, e);
      List<String> usable = authorities.stream().filter(TlsContexts::isUsable).toList();
      if (usable.isEmpty()) {
        throw new IllegalArgumentException(
            "the CRT can use none of the " + authorities.size() + " trusted authorities: " + e, e);
      }
      return of(usable);
    }
  }

  private static boolean isUsable(String authority) {
    try (ClientTlsContext alone = of(List.of(authority))) {
      return alone.getNativeHandle() != 0;
    } catch (CrtRuntimeException | IllegalArgumentException e) {
      LOG.debug("The CRT cannot use this authority, it is left out: {}\n{}", e, authority);
      return false;
    }
  }

  private static ClientTlsContext of(List<String> authorities) {
    try (TlsContextOptions options = TlsContextOptions.createDefaultClient()) {
      options.overrideDefaultTrustStore(String.join("", authorities));
      // As JVMs have it; by itself the CRT takes TLS 1.0.
      options.minTlsVersion = TlsContextOptions.TlsVersions.TLSv1_2;
      return new ClientTlsContext(options);
    }
  }
}
