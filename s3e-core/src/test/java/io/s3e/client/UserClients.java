// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.given.BlockingStore;
import io.s3e.client.given.SdkCredentials;
import io.s3e.client.given.SyncObjectClient;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;
import software.amazon.awssdk.core.retry.RetryMode;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** SDK clients as users make them, in S3E's hands. */
final class UserClients {
  private static final int THREADS = 32;

  private UserClients() {}

  /** Apache HttpClient under the SDK's synchronous client, as S3A has it. */
  static ClientProvider apache(AwsClientSettings settings) {
    return given(
        "sdk-apache",
        settings,
        ApacheHttpClient.builder()
            .maxConnections(THREADS)
            .connectionTimeout(settings.connectTimeout())
            .socketTimeout(settings.stallTimeout()));
  }

  /** The JDK's HttpURLConnection under the SDK's synchronous client. */
  static ClientProvider urlConnection(AwsClientSettings settings) {
    return given(
        "sdk-url",
        settings,
        UrlConnectionHttpClient.builder()
            .connectionTimeout(settings.connectTimeout())
            .socketTimeout(settings.stallTimeout()));
  }

  private static ClientProvider given(
      String name, AwsClientSettings settings, SdkHttpClient.Builder<?> http) {
    return memory -> {
      S3Client s3 = client(settings, http);
      ObjectClient client =
          new SyncObjectClient(BlockingStore.of(s3), name, THREADS, memory.requestBytes());
      return new ForwardingClient() {
        @Override
        public ObjectClient client() {
          return client;
        }

        @Override
        public void close() {
          client.close();
          s3.close();
        }
      };
    };
  }

  private static S3Client client(AwsClientSettings settings, SdkHttpClient.Builder<?> http) {
    ClientOverrideConfiguration.Builder overrides =
        ClientOverrideConfiguration.builder()
            .retryStrategy(RetryMode.STANDARD)
            .putAdvancedOption(
                SdkAdvancedClientOption.USER_AGENT_SUFFIX, "S3E " + settings.userAgentSuffix());
    overrides.retryStrategy(retries -> retries.maxAttempts(1));
    settings.headers().forEach(overrides::putHeader);
    return S3Client.builder()
        .httpClientBuilder(http)
        .endpointOverride(settings.endpoint())
        .region(Region.of(settings.region()))
        .credentialsProvider(
            settings.credentials() instanceof SdkCredentials given && !settings.anonymous()
                ? given.provider()
                : AnonymousCredentialsProvider.create())
        .forcePathStyle(true)
        .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
        .overrideConfiguration(overrides.build())
        .build();
  }
}
