package io.s3e.client;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.sdk.AsyncObjectClient;
import io.s3e.client.sdk.SyncObjectClient;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;
import software.amazon.awssdk.core.retry.RetryMode;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3BaseClientBuilder;
import software.amazon.awssdk.services.s3.S3Client;

/** SDK clients as users make them, in S3E's hands. */
final class UserClients {
  /** Shared, since to end one takes Netty two seconds. Its threads are daemons. */
  private static final SdkEventLoopGroup NETTY_THREADS =
      SdkEventLoopGroup.builder().numberOfThreads(2).build();

  private UserClients() {}

  /** Netty under the SDK's asynchronous client. */
  static ObjectClient netty(AwsClientSettings settings, ClientMemory memory) {
    var builder =
        S3AsyncClient.builder()
            .httpClientBuilder(
                NettyNioAsyncHttpClient.builder()
                    .eventLoopGroup(NETTY_THREADS)
                    .connectionTimeout(settings.connectTimeout())
                    .readTimeout(settings.stallTimeout()));
    S3AsyncClient s3 = configured(builder, settings).build();
    return new AsyncObjectClient(
        s3,
        "sdk-netty",
        ClientLimits.copying(memory.requestBytes(), 40, 0),
        settings.requestTimeout(),
        Map.of(),
        s3::close);
  }

  /** The JDK's HttpURLConnection under the SDK's synchronous client. */
  static ObjectClient urlConnection(AwsClientSettings settings, ClientMemory memory) {
    var builder =
        S3Client.builder()
            .httpClientBuilder(
                UrlConnectionHttpClient.builder()
                    .connectionTimeout(settings.connectTimeout())
                    .socketTimeout(settings.stallTimeout()));
    S3Client s3 = configured(builder, settings).build();
    return new SyncObjectClient(s3, "sdk-url", 32, memory.requestBytes(), s3::close);
  }

  private static <B extends S3BaseClientBuilder<B, C>, C> B configured(
      B builder, AwsClientSettings settings) {
    ClientOverrideConfiguration.Builder overrides =
        ClientOverrideConfiguration.builder()
            .retryStrategy(RetryMode.STANDARD)
            .putAdvancedOption(
                SdkAdvancedClientOption.USER_AGENT_SUFFIX, "S3E " + settings.userAgentSuffix());
    overrides.retryStrategy(retries -> retries.maxAttempts(1));
    settings.headers().forEach(overrides::putHeader);
    return builder
        .endpointOverride(settings.endpoint())
        .region(Region.of(settings.region()))
        .credentialsProvider(
            settings.anonymous() ? AnonymousCredentialsProvider.create() : settings.credentials())
        .forcePathStyle(true)
        .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
        .overrideConfiguration(overrides.build());
  }
}
