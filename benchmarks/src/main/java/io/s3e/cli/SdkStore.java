// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.bench.PemTrust;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.given.SdkCredentials;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/**
 * The SDK's synchronous client, for what S3E's read path does not do: metadata and uploads. Retries
 * as the SDK does. Any thread; {@link #close} ends it.
 */
final class SdkStore implements AutoCloseable {
  private static final Duration SOCKET_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  private final SdkHttpClient http;
  private final S3Client s3;
  private final RequestCounter counter = new RequestCounter();

  /**
   * @param connections how many requests may be under way
   * @param checksums whether requests carry checksums that nobody asked for by name
   */
  SdkStore(StoreOptions options, int connections, boolean checksums) {
    AwsClientSettings settings = options.settings().build();
    ApacheHttpClient.Builder transport =
        ApacheHttpClient.builder()
            .maxConnections(connections)
            .connectionTimeout(CONNECT_TIMEOUT)
            .socketTimeout(SOCKET_TIMEOUT);
    Path caBundle = settings.caFile();
    if (caBundle != null) {
      transport.tlsTrustManagersProvider(PemTrust.of(caBundle));
    }
    RequestChecksumCalculation calculation =
        checksums
            ? RequestChecksumCalculation.WHEN_SUPPORTED
            : RequestChecksumCalculation.WHEN_REQUIRED;
    this.http = transport.build();
    S3ClientBuilder builder =
        S3Client.builder()
            .httpClient(http)
            .region(Region.of(Objects.requireNonNull(settings.region())))
            .credentialsProvider(
                ((SdkCredentials) Objects.requireNonNull(settings.credentials())).provider())
            .forcePathStyle(settings.pathStyle())
            .requestChecksumCalculation(calculation)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .overrideConfiguration(
                overrides -> {
                  overrides.addExecutionInterceptor(counter);
                  if (options.profile() != null) {
                    // The SDK would take the endpoint of the profile called default.
                    overrides.defaultProfileName(options.profile());
                  }
                });
    URI endpoint = settings.endpoint();
    if (endpoint != null) {
      builder.endpointOverride(endpoint);
    }
    this.s3 = builder.build();
  }

  S3Client s3() {
    return s3;
  }

  /** The bytes sent so far. */
  RequestCounter counter() {
    return counter;
  }

  @Override
  public void close() {
    s3.close();
    http.close();
  }
}
