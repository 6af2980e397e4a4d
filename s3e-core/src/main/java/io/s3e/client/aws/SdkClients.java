package io.s3e.client.aws;

import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.ObjectClient;
import io.s3e.client.library.CrtLibrary;
import io.s3e.client.sdk.AsyncObjectClient;
import io.s3e.client.sdk.SyncObjectClient;
import java.time.Duration;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;
import software.amazon.awssdk.core.retry.RetryPolicy;
import software.amazon.awssdk.crt.CRT;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpConfigurationOption;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.http.apache.ProxyConfiguration;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3BaseClientBuilder;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.S3CrtAsyncClientBuilder;
import software.amazon.awssdk.utils.AttributeMap;

/**
 * Builds SDK clients from settings: no retries, no checksum validation, no proxy unless asked. Uses
 * what SDK 2.24 and the newest have in common, since clusters bring their own.
 */
@SuppressWarnings("deprecation") // The successors are absent in older SDKs.
final class SdkClients {
  /** Requests are shortened until so many fit into the memory. */
  private static final int MIN_ASYNC_REQUESTS = 4;

  private SdkClients() {}

  static ObjectClient sync(AwsClientSettings settings, String region, ClientMemory memory) {
    SdkHttpClient http = apache(settings);
    S3ClientBuilder builder = S3Client.builder().httpClient(http);
    configure(builder, settings, region);
    // The time-out of a call ends where a streamed body begins.
    builder.overrideConfiguration(
        overrides(settings).apiCallTimeout(settings.requestTimeout()).build());
    S3Client s3 = builder.build();
    return new SyncObjectClient(
        s3,
        "sdk-sync",
        settings.maxConnections(),
        memory.requestBytes(),
        () -> {
          s3.close();
          http.close();
        });
  }

  static ObjectClient async(AwsClientSettings settings, String region, ClientMemory memory) {
    String problem = CrtLibrary.sdkUnusableBecause();
    if (problem != null) {
      throw new IllegalStateException("the SDK's asynchronous client cannot be used: " + problem);
    }
    if (settings.caFile() != null) {
      throw new IllegalArgumentException(
          "caFile is '"
              + settings.caFile()
              + "'; accepted is none with the SDK's asynchronous client, which trusts the system's"
              + " certificates only");
    }
    if (settings.dualStack()) {
      throw new IllegalArgumentException(
          "dualStack is true; accepted is false with the SDK's asynchronous client");
    }
    return CrtBacked.open(settings, region, memory);
  }

  private static <B extends S3BaseClientBuilder<B, C>, C> void configure(
      B builder, AwsClientSettings settings, String region) {
    builder
        .region(Region.of(region))
        .credentialsProvider(signer(settings))
        .forcePathStyle(settings.pathStyle())
        .dualstackEnabled(settings.dualStack())
        .crossRegionAccessEnabled(settings.followRegion())
        .overrideConfiguration(overrides(settings).build());
    if (settings.endpoint() != null) {
      builder.endpointOverride(settings.endpoint());
    }
    ChecksumsWhenRequired.applyTo(builder);
  }

  private static ClientOverrideConfiguration.Builder overrides(AwsClientSettings settings) {
    ClientOverrideConfiguration.Builder overrides =
        ClientOverrideConfiguration.builder()
            .retryPolicy(RetryPolicy.none())
            .putAdvancedOption(
                SdkAdvancedClientOption.USER_AGENT_PREFIX, settings.userAgentPrefix())
            .putAdvancedOption(
                SdkAdvancedClientOption.USER_AGENT_SUFFIX, AwsClients.userAgent(settings));
    settings.headers().forEach(overrides::putHeader);
    return overrides;
  }

  private static AwsCredentialsProvider signer(AwsClientSettings settings) {
    AwsCredentialsProvider provider = AwsClients.credentials(settings);
    return provider == null ? AnonymousCredentialsProvider.create() : provider;
  }

  private static SdkHttpClient apache(AwsClientSettings settings) {
    ApacheHttpClient.Builder builder =
        ApacheHttpClient.builder()
            .maxConnections(settings.maxConnections())
            .connectionTimeout(settings.connectTimeout())
            .socketTimeout(settings.stallTimeout())
            .proxyConfiguration(
                ProxyConfiguration.builder()
                    .useSystemPropertyValues(settings.environmentProxy())
                    .useEnvironmentVariableValues(settings.environmentProxy())
                    .build());
    AttributeMap.Builder defaults = AttributeMap.builder();
    if (settings.trustAll()) {
      defaults.put(SdkHttpConfigurationOption.TRUST_ALL_CERTIFICATES, true);
    } else if (settings.caFile() != null) {
      builder.tlsTrustManagersProvider(PemTrust.of(settings.caFile()));
    }
    return builder.buildWithDefaults(defaults.build());
  }

  /** The CRT refuses to watch for less. */
  private static Duration atLeastTwoSeconds(Duration time) {
    return time.toMillis() < 2_000 ? Duration.ofSeconds(2) : time;
  }

  /** The SDK's wrapper of the CRT, apart so that its types are loaded only where they exist. */
  private static final class CrtBacked {
    static ObjectClient open(AwsClientSettings settings, String region, ClientMemory memory) {
      ClientLimits limits = limits(settings, memory);
      S3CrtAsyncClientBuilder builder =
          S3AsyncClient.crtBuilder()
              .region(Region.of(region))
              .credentialsProvider(signer(settings))
              .forcePathStyle(settings.pathStyle())
              .crossRegionAccessEnabled(settings.followRegion())
              .checksumValidationEnabled(false)
              .targetThroughputInGbps(settings.targetGbps())
              .maxConcurrency(settings.maxConnections())
              .minimumPartSizeInBytes((long) limits.copyRequestBytes())
              .initialReadBufferSizeInBytes((long) limits.copyRequestBytes())
              // The least: the CRT takes 0 for its default.
              .retryConfiguration(retries -> retries.numRetries(1))
              .httpConfiguration(
                  http -> {
                    http.connectionTimeout(settings.connectTimeout())
                        .connectionHealthConfiguration(
                            health ->
                                health
                                    .minimumThroughputInBps(8192L)
                                    .minimumThroughputTimeout(
                                        atLeastTwoSeconds(settings.stallTimeout())));
                    if (settings.trustAll()) {
                      // Given false, the SDK warns that nothing is verified, which is not so.
                      http.trustAllCertificatesEnabled(true);
                    }
                  });
      if (settings.endpoint() != null) {
        builder.endpointOverride(settings.endpoint());
      }
      boolean held = hold();
      S3AsyncClient s3 = builder.build();
      return new AsyncObjectClient(
          s3,
          "sdk-async-crt",
          limits,
          settings.requestTimeout(),
          settings.headers(),
          () -> {
            s3.close();
            if (held) {
              CRT.releaseShutdownRef();
            }
          });
    }

    /**
     * Keeps the CRT calling into Java until the client is closed, also in a JVM that is ending: its
     * own shutdown hook would cut the calls, and the client could not end.
     *
     * @return whether this version of aws-crt knows of that
     */
    private static boolean hold() {
      try {
        CRT.acquireShutdownRef();
        return true;
      } catch (NoSuchMethodError e) {
        return false;
      }
    }

    /** As many requests as fit, shorter ones if that makes them at least four. */
    private static ClientLimits limits(AwsClientSettings settings, ClientMemory memory) {
      int block = memory.blockBytes();
      long affordable = Math.max(block, memory.ownedBytes() / MIN_ASYNC_REQUESTS / block * block);
      int request = (int) Math.min(memory.requestBytes(), affordable);
      int requests =
          (int) Math.max(1, Math.min(settings.maxConnections(), memory.ownedBytes() / request));
      long owned = Math.min(memory.ownedBytes(), (long) requests * request);
      return ClientLimits.copying(request, requests, owned);
    }
  }
}
