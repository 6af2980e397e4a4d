// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import software.amazon.awssdk.http.TlsTrustManagersProvider;

/** Trust managers that accept what the certificates of a PEM file vouch for. */
public final class PemTrust {
  private PemTrust() {}

  /**
   * @throws IllegalArgumentException if the file cannot be read or holds no certificates
   */
  public static TlsTrustManagersProvider of(Path pem) {
    TrustManager[] managers = load(pem);
    return () -> managers;
  }

  private static TrustManager[] load(Path pem) {
    try (InputStream in = Files.newInputStream(pem)) {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int count = 0;
      for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        store.setCertificateEntry("ca-" + count++, certificate);
      }
      if (count == 0) {
        throw new IllegalArgumentException("the CA file " + pem + " holds no certificate");
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return factory.getTrustManagers();
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException("the CA file " + pem + " cannot be used: " + e, e);
    }
  }
}
