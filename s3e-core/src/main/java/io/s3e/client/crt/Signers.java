// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.CredentialsSource;
import io.s3e.client.crt.Addressing.Target;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.auth.credentials.DelegateCredentialsProvider;
import software.amazon.awssdk.crt.auth.signing.AwsSigner;
import software.amazon.awssdk.crt.auth.signing.AwsSigningConfig;
import software.amazon.awssdk.crt.auth.signing.AwsSigningConfig.AwsSigningAlgorithm;
import software.amazon.awssdk.crt.http.HttpRequest;
import software.amazon.awssdk.crt.s3.S3MetaRequestOptions;

/**
 * How the requests of one client are signed: one source of credentials, the store's time, and a
 * native signing configuration for each region that is read, made when the region is first asked
 * for. A configuration in use by a request outlives its close, since the native side counts.
 *
 * <p>The CRT's S3 client signs each request as it sends it, with this machine's time whatever the
 * configuration says. Where that time is off, requests are signed before they are handed over. So
 * are those of directory buckets, for whose sessions the CRT's S3 client would ask once more.
 *
 * <p>Thread-safe. Closed when the client sends nothing any more.
 */
final class Signers implements AutoCloseable {
  private final CredentialsSource source;
  final StoreClock clock = new StoreClock();
  final CredentialsCache credentials;
  private final DelegateCredentialsProvider provider;

  private final Map<String, AwsSigningConfig> byRegion = new ConcurrentHashMap<>();

  Signers(CredentialsSource source) {
    this.source = source;
    credentials = new CredentialsCache(source, clock::now, Signers::onNewThread);
    provider =
        new DelegateCredentialsProvider.DelegateCredentialsProviderBuilder()
            .withHandler(credentials)
            .build();
  }

  /** Questions for credentials are rare: each has a thread of its own. */
  private static void onNewThread(Runnable question) {
    Thread thread = new Thread(question, "s3e-credentials");
    thread.setDaemon(true);
    thread.start();
  }

  /** Whose credentials they are, as long as that is known: a session's key changes too often. */
  @Nullable String identity() {
    String ofSessions = source.sessionsOf();
    return ofSessions == null ? credentials.keyId() : ofSessions;
  }

  /** Signs a request whose message is complete but for that, or has the CRT sign it. */
  S3MetaRequestOptions sign(S3MetaRequestOptions options, Target to) {
    return clock.isOff() || to.isDirectory()
        ? options.withHttpRequest(signed(options.getHttpRequest(), to))
        : options.withSigningConfig(byRegion.computeIfAbsent(to.region(), this::config));
  }

  /** S3's rules: the path is signed as sent, the body is not signed. */
  private AwsSigningConfig config(String region) {
    return AwsSigningConfig.getDefaultS3SigningConfig(region, provider);
  }

  /** With the credentials at hand, so the signature is there at once. */
  private HttpRequest signed(HttpRequest message, Target to) {
    try (AwsSigningConfig config = config(to.region())) {
      if (to.isDirectory()) {
        config.setAlgorithm(AwsSigningAlgorithm.SIGV4_S3EXPRESS);
        config.setService("s3express");
      }
      config.setCredentials(credentials.getCredentials());
      config.setTime(clock.now().toEpochMilli());
      config.setShouldSignHeader(Signers::isSigned);
      return AwsSigner.signRequest(message, config).join();
    }
  }

  /** The headers that S3 wants signed, and none that the CRT may write anew. */
  private static boolean isSigned(String header) {
    String name = header.toLowerCase(Locale.ROOT);
    return name.equals("host") || name.startsWith("x-amz-");
  }

  @Override
  public void close() {
    byRegion.values().forEach(AwsSigningConfig::close);
    provider.close();
    credentials.close();
  }
}
