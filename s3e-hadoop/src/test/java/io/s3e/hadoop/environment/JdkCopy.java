// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.environment;

import io.s3e.testing.SelfSigned;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A home of this JVM's that has a trust store of its own. All is linked to this JVM's home but the
 * store and the files by whose place a JVM finds its home.
 *
 * @param home closing removes it
 */
record JdkCopy(Path home) implements AutoCloseable {
  private static final String STORE = "jssecacerts";

  /** A home at that path that trusts this certificate and no other. */
  static JdkCopy trusting(SelfSigned certificate, Path home)
      throws IOException, GeneralSecurityException {
    Path original = Path.of(System.getProperty("java.home")).toRealPath();
    Path security = Path.of("lib", "security");
    link(original, home, Path.of(""), List.of("bin", "lib"));
    link(original, home, Path.of("bin"), List.of("java"));
    link(original, home, Path.of("lib"), List.of("libjli.so", "server", "security"));
    link(original, home, Path.of("lib", "server"), List.of("libjvm.so"));
    link(original, home, security, List.of(STORE));
    copy(original, home, Path.of("bin", "java"));
    copy(original, home, Path.of("lib", "libjli.so"));
    copy(original, home, Path.of("lib", "server", "libjvm.so"));

    KeyStore trusted = KeyStore.getInstance("JKS");
    trusted.load(null, null);
    try (InputStream pem = Files.newInputStream(certificate.pem());
        OutputStream out = Files.newOutputStream(home.resolve(security).resolve(STORE))) {
      trusted.setCertificateEntry(
          "ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
      trusted.store(out, SelfSigned.PASSWORD.toCharArray());
    }
    return new JdkCopy(home);
  }

  private static void link(Path from, Path to, Path under, List<String> without)
      throws IOException {
    Files.createDirectories(to.resolve(under));
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(from.resolve(under))) {
      for (Path entry : entries) {
        String name = entry.getFileName().toString();
        if (!without.contains(name)) {
          Files.createSymbolicLink(to.resolve(under).resolve(name), entry);
        }
      }
    }
  }

  private static void copy(Path from, Path to, Path file) throws IOException {
    Files.copy(from.resolve(file), to.resolve(file));
  }

  @Override
  public void close() throws IOException {
    try (Stream<Path> files = Files.walk(home)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
