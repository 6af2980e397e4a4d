// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.aws;

import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The certificate authorities that this JVM trusts by default: those of {@code
 * javax.net.ssl.trustStore} if set, else of the JDK's {@code jssecacerts} or {@code cacerts}. For a
 * client that does its own TLS and has to be told.
 *
 * <p>The JVM is asked each time, so a store that changed is noticed; its answer is encoded again
 * only if it differs from the last one, since encoding some 140 certificates takes longer than
 * reading them (about 50 ms against 5). Thread-safe.
 */
public final class JvmTrust {
  private static final Logger LOG = LoggerFactory.getLogger(JvmTrust.class);

  /** Issuers as the JVM named them, in no order, and the same as PEM, sorted. */
  private record Encoded(Set<X509Certificate> issuers, List<String> pem) {}

  private static volatile Encoded last = new Encoded(Set.of(), List.of());

  private JvmTrust() {}

  /**
   * One PEM block for each authority; empty if the JVM's trust managers name none, which a security
   * provider of somebody's own may do. Never throws.
   */
  public static List<String> authorities() {
    Set<X509Certificate> issuers = issuers();
    Encoded known = last;
    if (!known.issuers().equals(issuers)) {
      known = new Encoded(issuers, Pem.blocks(issuers).stream().sorted().toList());
      last = known;
    }
    return known.pem();
  }

  private static Set<X509Certificate> issuers() {
    Set<X509Certificate> issuers = new HashSet<>();
    try {
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init((KeyStore) null);
      for (TrustManager manager : factory.getTrustManagers()) {
        if (manager instanceof X509TrustManager x509) {
          issuers.addAll(Arrays.asList(x509.getAcceptedIssuers()));
        }
      }
    } catch (GeneralSecurityException | RuntimeException e) {
      // A store that cannot be read trusts nobody; Java's own clients fail with it later.
      LOG.debug("The JVM's trust store cannot be read", e);
      return Set.of();
    }
    return Set.copyOf(issuers);
  }
}
