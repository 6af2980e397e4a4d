package io.s3e.bench.core;

import io.s3e.client.ClientLimits;
import io.s3e.client.ClientProvider;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.aws.ClientKind;
import io.s3e.client.aws.PemTrust;
import io.s3e.client.sdk.AsyncObjectClient;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;

/** The clients that S3E can read by and its adapter cannot be told to. */
enum CoreClient {
  /** The CRT in the form it has where it cannot lend. */
  CRT_BYTES("crt-bytes"),

  /** The SDK's wrapper of the CRT, also where the store's certificate is the user's own. */
  CRT_BUILDER("crtbuilder"),

  /** The SDK's asynchronous client over Netty. */
  NETTY("netty");

  /** Netty holds what arrives in its own buffers until the subscriber has taken it. */
  private static final int NETTY_REQUESTS = 32;

  private final String label;

  CoreClient(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }

  /**
   * @throws IllegalArgumentException when there is none of that name
   */
  static CoreClient of(String label) {
    return Arrays.stream(values())
        .filter(client -> client.label.equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "No client is named "
                        + label
                        + "; there are "
                        + Arrays.stream(values())
                            .map(CoreClient::label)
                            .collect(Collectors.joining(", "))));
  }

  ClientProvider provider(AwsClientSettings store) {
    return switch (this) {
      case CRT_BYTES -> AwsClients.crtWithoutLending(store);
      case CRT_BUILDER -> AwsClients.provider(ClientKind.SDK_ASYNC, trusting(store));
      case NETTY -> memory -> netty(store, memory.requestBytes());
    };
  }

  /** It takes no certificate to trust; the server's identity has no part in the measurement. */
  private static AwsClientSettings trusting(AwsClientSettings store) {
    return store.caFile() == null ? store : store.toBuilder().caFile(null).trustAll(true).build();
  }

  private static AsyncObjectClient netty(AwsClientSettings store, int requestBytes) {
    NettyNioAsyncHttpClient.Builder transport =
        NettyNioAsyncHttpClient.builder()
            .maxConcurrency(NETTY_REQUESTS)
            .connectionTimeout(store.connectTimeout());
    Path caFile = store.caFile();
    if (caFile != null) {
      transport.tlsTrustManagersProvider(PemTrust.of(caFile));
    }
    S3AsyncClientBuilder builder =
        S3AsyncClient.builder()
            .httpClientBuilder(transport)
            .region(region(store.region()))
            .credentialsProvider(credentials(store.credentials()))
            .forcePathStyle(store.pathStyle())
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED);
    if (store.endpoint() != null) {
      builder.endpointOverride(store.endpoint());
    }
    S3AsyncClient s3 = builder.build();
    return new AsyncObjectClient(
        s3,
        "sdk-netty",
        ClientLimits.copying(requestBytes, NETTY_REQUESTS, 0),
        store.requestTimeout(),
        store.headers(),
        s3::close);
  }

  private static Region region(@Nullable String name) {
    return name == null ? new DefaultAwsRegionProviderChain().getRegion() : Region.of(name);
  }

  private static AwsCredentialsProvider credentials(@Nullable AwsCredentialsProvider given) {
    return Objects.requireNonNullElseGet(given, () -> DefaultCredentialsProvider.builder().build());
  }
}
