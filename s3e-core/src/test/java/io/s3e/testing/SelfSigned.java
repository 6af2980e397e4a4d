// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * A certificate for 127.0.0.1 that vouches for itself, made by the JDK's keytool.
 *
 * @param pem the certificate, to be trusted
 * @param keyStore certificate and key, for the server
 */
public record SelfSigned(Path pem, Path keyStore) {
  /** The password of every store that is made here. */
  public static final String PASSWORD = "self-signed";

  private static final String ALIAS = "server";

  /** Makes one in that directory. */
  public static SelfSigned create(Path directory) throws Exception {
    Path store = directory.resolve("server.p12");
    Process keytool =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-genkeypair",
                    "-alias",
                    ALIAS,
                    "-keyalg",
                    "RSA",
                    "-keysize",
                    "2048",
                    "-validity",
                    "2",
                    "-dname",
                    "CN=127.0.0.1",
                    "-ext",
                    "san=ip:127.0.0.1,dns:localhost",
                    "-ext",
                    "bc=ca:true",
                    "-storetype",
                    "PKCS12",
                    "-keystore",
                    store.toString(),
                    "-storepass",
                    PASSWORD))
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes());
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IllegalStateException("keytool: " + said);
    }
    byte[] der = load(store).getCertificate(ALIAS).getEncoded();
    Path pem = directory.resolve("server.pem");
    Files.writeString(
        pem,
        "-----BEGIN CERTIFICATE-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
            + "\n-----END CERTIFICATE-----\n");
    return new SelfSigned(pem, store);
  }

  /** What a server presents itself with. */
  public SSLContext serverContext() throws GeneralSecurityException, IOException {
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(load(keyStore), PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    return context;
  }

  /** A store at that path that trusts this certificate and no other. */
  public Path trustStore(Path path) throws GeneralSecurityException, IOException {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("ca", load(keyStore).getCertificate(ALIAS));
    try (OutputStream out = Files.newOutputStream(path)) {
      trusted.store(out, PASSWORD.toCharArray());
    }
    return path;
  }

  private static KeyStore load(Path store) throws GeneralSecurityException, IOException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return keys;
  }
}
