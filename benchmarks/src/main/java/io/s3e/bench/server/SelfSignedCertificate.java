// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/**
 * A certificate for 127.0.0.1 that vouches for itself, made by the JDK's keytool, and what a client
 * needs to trust it. Three files in one directory, which belongs to the caller.
 *
 * <p>The key is of the curve P-256: a handshake costs the server a fraction of what RSA does.
 *
 * @param pem the certificate, for clients that read PEM (the CRT)
 * @param trustStore the certificate as PKCS #12, for {@code javax.net.ssl.trustStore}
 * @param keyStore certificate and key as PKCS #12, for the server
 */
public record SelfSignedCertificate(Path pem, Path trustStore, Path keyStore) {

  /** Password of both stores: PKCS #12 wants one, and nothing here is secret. */
  public static final String PASSWORD = "self-signed";

  private static final String STORE_TYPE = "PKCS12";
  private static final String ALIAS = "server";
  private static final String VALID_DAYS = "30";
  private static final long PATIENCE_SECONDS = 60;

  /**
   * Makes one.
   *
   * @param directory where the files go; it must exist and hold none of them
   * @throws IOException when keytool fails, with what it said
   */
  public static SelfSignedCertificate create(Path directory)
      throws IOException, InterruptedException {
    Path keyStore = directory.resolve("server.p12");
    Path trustStore = directory.resolve("trusted.p12");
    Path pem = directory.resolve("server.pem");
    runKeytool(keyStore);
    try {
      Certificate certificate = load(keyStore).getCertificate(ALIAS);
      Files.writeString(pem, pemOf(certificate));
      KeyStore trusted = KeyStore.getInstance(STORE_TYPE);
      trusted.load(null, null);
      trusted.setCertificateEntry(ALIAS, certificate);
      try (OutputStream out = Files.newOutputStream(trustStore)) {
        trusted.store(out, PASSWORD.toCharArray());
      }
    } catch (GeneralSecurityException e) {
      throw new IOException("The certificate in " + keyStore + " cannot be used: " + e, e);
    }
    return new SelfSignedCertificate(pem, trustStore, keyStore);
  }

  private static void runKeytool(Path keyStore) throws IOException, InterruptedException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair",
            "-alias",
            ALIAS,
            "-keyalg",
            "EC",
            "-groupname",
            "secp256r1",
            "-validity",
            VALID_DAYS,
            "-dname",
            "CN=127.0.0.1",
            "-ext",
            "san=ip:127.0.0.1,dns:localhost",
            "-ext",
            "bc=ca:true",
            "-storetype",
            STORE_TYPE,
            "-keystore",
            keyStore.toString(),
            "-storepass",
            PASSWORD);
    Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said =
        new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    boolean ended = keytool.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    if (!ended || keytool.exitValue() != 0) {
      keytool.destroyForcibly();
      throw new IOException("keytool made no certificate: " + (ended ? said : "it did not end"));
    }
  }

  private static String pemOf(Certificate certificate) throws GeneralSecurityException {
    String body =
        Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(certificate.getEncoded());
    return "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n";
  }

  /** Options of a JVM that shall trust this certificate, and no other. */
  public List<String> jvmOptions() {
    return List.of(
        "-Djavax.net.ssl.trustStore=" + trustStore,
        "-Djavax.net.ssl.trustStoreType=" + STORE_TYPE,
        "-Djavax.net.ssl.trustStorePassword=" + PASSWORD);
  }

  /** The context of the server, with its key and certificate. */
  SSLContext serverContext() throws IOException {
    try {
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(load(keyStore), PASSWORD.toCharArray());
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("The certificate in " + keyStore + " cannot be used: " + e, e);
    }
  }

  /** The context of a client of this JVM, which trusts the server. */
  SSLContext clientContext() throws IOException {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("This JVM has no TLS: " + e, e);
    }
  }

  /** Trust managers that accept this certificate and no other. */
  TrustManager[] trustManagers() {
    try {
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(load(trustStore));
      return trust.getTrustManagers();
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(
          "The certificate in " + trustStore + " cannot be used: " + e, e);
    }
  }

  private static KeyStore load(Path store) throws GeneralSecurityException, IOException {
    KeyStore keys = KeyStore.getInstance(STORE_TYPE);
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return keys;
  }
}
