package io.s3e.client.crt;

import java.util.HashMap;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.crt.auth.credentials.DelegateCredentialsProvider;
import software.amazon.awssdk.crt.auth.signing.AwsSigningConfig;

/**
 * How the requests of one client are signed: one source of credentials, and a native signing
 * configuration for each region that is read, made when the region is first asked for. A
 * configuration in use by a request outlives its close, since the native side counts.
 *
 * <p>Thread-safe. States: open, then closed for good; a closed one makes no new configuration.
 */
final class Signers implements AutoCloseable {
  private final CredentialsCache credentials;
  private final DelegateCredentialsProvider provider;

  // Guarded by this.
  private final Map<String, AwsSigningConfig> byRegion = new HashMap<>();
  private boolean closed;

  Signers(AwsCredentialsProvider source) {
    credentials = new CredentialsCache(source);
    provider =
        new DelegateCredentialsProvider.DelegateCredentialsProviderBuilder()
            .withHandler(credentials)
            .build();
  }

  CredentialsCache credentials() {
    return credentials;
  }

  /**
   * S3's rules: the path is signed as sent, the body is not signed.
   *
   * @throws IllegalStateException if closed
   */
  synchronized AwsSigningConfig of(String region) {
    if (closed) {
      throw new IllegalStateException("the client is closed");
    }
    return byRegion.computeIfAbsent(
        region, name -> AwsSigningConfig.getDefaultS3SigningConfig(name, provider));
  }

  @Override
  public synchronized void close() {
    closed = true;
    byRegion.values().forEach(AwsSigningConfig::close);
    provider.close();
    credentials.close();
  }
}
