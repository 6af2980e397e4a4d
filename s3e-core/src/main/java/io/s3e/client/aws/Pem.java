// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.aws;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Certificates as text: files of PEM blocks, and PEM blocks of certificates. */
final class Pem {
  private static final Logger LOG = LoggerFactory.getLogger(Pem.class);
  private static final Base64.Encoder LINES =
      Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));

  private Pem() {}

  /** The certificates of a file, at least one; {@link IllegalArgumentException} if it has none. */
  static List<X509Certificate> read(Path file) {
    List<X509Certificate> certificates = new ArrayList<>();
    try (InputStream in = Files.newInputStream(file)) {
      for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        certificates.add((X509Certificate) certificate);
      }
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException("the CA file " + file + " cannot be read: " + e, e);
    }
    if (certificates.isEmpty()) {
      throw new IllegalArgumentException("the CA file " + file + " holds no certificate");
    }
    return certificates;
  }

  /** One block for each certificate; without those that have no encoding. */
  static List<String> blocks(Collection<X509Certificate> certificates) {
    List<String> blocks = new ArrayList<>(certificates.size());
    for (X509Certificate certificate : certificates) {
      try {
        blocks.add(
            "-----BEGIN CERTIFICATE-----\n"
                + LINES.encodeToString(certificate.getEncoded())
                + "\n-----END CERTIFICATE-----\n");
      } catch (CertificateEncodingException e) {
        LOG.debug("{} cannot be encoded and is left out", certificate.getSubjectX500Principal(), e);
      }
    }
    return List.copyOf(blocks);
  }
}
