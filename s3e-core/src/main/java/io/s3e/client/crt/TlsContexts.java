// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.jvm.OwnLoader;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.crt.CrtRuntimeException;
import software.amazon.awssdk.crt.io.ClientTlsContext;
import software.amazon.awssdk.crt.io.TlsContextOptions;

/**
 * The CRT's TLS contexts. Parsing the 140 authorities of a JDK takes about 100 ms and 1 MB, which a
 * context for each client would pay again for every file system. So the one that was asked for last
 * is kept for the next client with that trust. In a class loader that may be dropped, where it
 * would never end, the first one alone is kept, until the next client asks: the one of the first
 * connections' rehearsal, for themselves.
 *
 * <p>The CRT counts who uses a context: it ends when it is kept no more and all who have acquired
 * it have closed it. It holds a native reference of its own to everything it needs, and a CRT
 * client one to its context, so closing one early is safe.
 */
final class TlsContexts {
  private static final Logger LOG = LoggerFactory.getLogger(TlsContexts.class);

  // Guarded by the class.
  private static @Nullable ClientTlsContext kept;

  /** The authorities that {@link #kept} trusts, as far as there is one. */
  private static List<String> trusted = List.of();

  private static boolean wasAsked;

  private TlsContexts() {}

  /** The context that trusts these, to be closed by its user; fails if none of them can be used. */
  static synchronized ClientTlsContext acquire(List<String> authorities) {
    ClientTlsContext before = kept;
    ClientTlsContext known = authorities.equals(trusted) ? before : null;
    ClientTlsContext context = known != null ? known : trusting(authorities);
    boolean isKept = OwnLoader.isApplications() || !wasAsked;
    wasAsked = true;
    if (isKept) {
      context.addRef();
    }
    if (before != null && before != context) {
      before.close();
    }
    kept = isKept ? context : null;
    trusted = authorities;
    return context;
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
