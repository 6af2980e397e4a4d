// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import io.s3e.block.ObjectRef;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.given.SdkCredentials;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.CredentialUtils;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ServiceClientConfiguration;

/**
 * One of Iceberg's clients of the store, as it was built: what S3E's own client takes over from it,
 * and what only Iceberg's can do. So Iceberg alone decides how the store is reached, and refreshes
 * the credentials.
 *
 * @param client Iceberg's
 * @param built its endpoint, region and credentials; null if it does not show them
 * @param properties with which it was made, for what the SDK does not show
 */
record ClientView(
    S3Client client, @Nullable S3ServiceClientConfiguration built, Map<String, String> properties) {
  private static final String PATH_STYLE = "s3.path-style-access";
  private static final String DUAL_STACK = "s3.dualstack-enabled";
  private static final String CROSS_REGION = "s3.cross-region-access-enabled";
  private static final String CONNECTIONS = "http-client.apache.max-connections";
  private static final String ACCESS_POINTS = "s3.access-points.";

  /** GETs that Iceberg's client has in flight for S3E: a thread each, of S3E's own. */
  private static final int MOST_THREADS = 32;

  /** Factories of Iceberg's whose clients differ in their credentials alone. */
  private static final Set<String> KNOWN_FACTORIES =
      Set.of(
          "org.apache.iceberg.aws.AwsClientFactories",
          "org.apache.iceberg.aws.AwsClientFactories$DefaultAwsClientFactory",
          "org.apache.iceberg.aws.AssumeRoleAwsClientFactory",
          "org.apache.iceberg.aws.s3.DefaultS3FileIOAwsClientFactory");

  private static final Set<String> SCHEMES = Set.of("s3", "s3a", "s3n");

  /** A property which says that not all can read. */
  private record Trait(String key, Predicate<String> holds) {
    @Nullable String in(Map<String, String> properties) {
      String value = properties.get(key);
      return value != null && holds.test(value) ? key + " is \"" + value + "\"" : null;
    }

    static @Nullable String first(List<Trait> traits, Map<String, String> properties) {
      for (Trait trait : traits) {
        String words = trait.in(properties);
        if (words != null) {
          return words;
        }
      }
      return null;
    }
  }

  private static final List<Trait> FOR_STREAMS_OF_ICEBERG =
      List.of(
          new Trait(S3EProperties.ENABLED, value -> !S3EProperties.is(value, "true")),
          // The key would have to be kept apart from other tables' blocks. Iceberg takes any case.
          new Trait("s3.sse.type", "custom"::equalsIgnoreCase));

  private static final List<Trait> FOR_CLIENT_OF_ICEBERG =
      List.of(
          new Trait(
              S3EProperties.CLIENT,
              value -> S3EProperties.is(value, S3EProperties.CLIENT_OF_ICEBERG)),
          new Trait("client.factory", value -> !KNOWN_FACTORIES.contains(value)),
          new Trait("s3.client-factory-impl", value -> !KNOWN_FACTORIES.contains(value)),
          new Trait("s3.remote-signing-enabled", Boolean::parseBoolean),
          new Trait("s3.access-grants.enabled", Boolean::parseBoolean),
          new Trait("s3.acceleration-enabled", Boolean::parseBoolean));

  static ClientView of(S3Client client, Map<String, String> properties) {
    S3ServiceClientConfiguration built;
    try {
      built = client.serviceClientConfiguration();
    } catch (UnsupportedOperationException e) {
      // A client of somebody's own, which need not have one.
      built = null;
    }
    return new ClientView(client, built, properties);
  }

  /**
   * Why S3E is not to read at all, in words for a log line that name property and value; null if
   * there is no reason.
   */
  static @Nullable String reasonAgainstS3e(Map<String, String> properties) {
    String trait = Trait.first(FOR_STREAMS_OF_ICEBERG, properties);
    return trait != null
        ? trait
        : properties.keySet().stream()
            .filter(key -> key.startsWith(ACCESS_POINTS))
            .findFirst()
            .map(key -> key + " names an access point")
            .orElse(null);
  }

  /** Why only Iceberg's client can send S3E's requests; words as above. */
  @Nullable String reasonAgainstOwn() {
    if (built == null || built.credentialsProvider() == null || built.region() == null) {
      return "the client does not show how it was built";
    }
    String trait = Trait.first(FOR_CLIENT_OF_ICEBERG, properties);
    String reason = trait == null ? fips() : trait;
    reason = reason == null ? ForeignParts.first(built, storeUri()) : reason;
    return reason == null ? Proxies.between(storeUri(), properties) : reason;
  }

  /** The SDK has it from environment, system property or profile: no property of Iceberg tells. */
  private @Nullable String fips() {
    String host = client.utilities().getUrl(asked -> asked.bucket("any").key("key")).getHost();
    boolean isByEndpoint = shown().endpointOverride().isPresent();
    return isByEndpoint || !("." + host).contains(".s3-fips.")
        ? null
        : "FIPS is asked for: " + host;
  }

  /** Whether {@code S3FileIO} is for the location, by its scheme. */
  static boolean isS3(String location) {
    int colon = location.indexOf(':');
    return colon > 0 && SCHEMES.contains(location.substring(0, colon));
  }

  /**
   * The object at a location of Iceberg's; null if that is none which S3E can name: S3 Express,
   * Outposts, Object Lambda, an ARN, or a key that Iceberg would cut at a question mark or a hash.
   */
  static @Nullable ObjectRef object(String location) {
    int scheme = location.indexOf("://");
    int slash = scheme < 0 ? -1 : location.indexOf('/', scheme + 3);
    if (slash < 0 || !SCHEMES.contains(location.substring(0, scheme))) {
      return null;
    }
    String bucket = location.substring(scheme + 3, slash);
    String key = location.substring(slash + 1);
    boolean isPlain =
        key.indexOf('?') < 0 && key.indexOf('#') < 0 && !key.contains("://") && !key.isEmpty();
    boolean isBucket =
        bucket.indexOf(':') < 0
            && !ObjectRef.isDirectory(bucket)
            && !ObjectRef.isOtherPoint(bucket);
    return isPlain && isBucket && !bucket.isEmpty() ? new ObjectRef(bucket, key) : null;
  }

  /**
   * The name that blocks of the store are kept under, the same as that of {@code s3a://}; null if
   * nobody can be told to read the same store.
   */
  @Nullable String store() {
    return built == null ? null : AwsClients.storeName(built.endpointOverride(), region());
  }

  private URI storeUri() {
    return URI.create(AwsClients.storeName(shown().endpointOverride(), region()));
  }

  private S3ServiceClientConfiguration shown() {
    if (built == null) {
      throw new IllegalStateException("Nothing is known of " + client);
    }
    return built;
  }

  private @Nullable String region() {
    return shown().region() == null ? null : shown().region().id();
  }

  /** Settings with which S3E's client does what Iceberg's does. */
  AwsClientSettings settings() {
    var credentials = CredentialUtils.toCredentialsProvider(shown().credentialsProvider());
    return S3EProperties.client(properties)
        .endpoint(shown().endpointOverride().orElse(null))
        .region(region())
        .pathStyle(is(PATH_STYLE))
        .dualStack(is(DUAL_STACK))
        .followRegion(is(CROSS_REGION))
        // Not the provider itself, which is Iceberg's client's to close.
        .credentials(new SdkCredentials(credentials::resolveCredentials))
        .userAgentSuffix("iceberg")
        .build();
  }

  /**
   * How many GETs Iceberg's client may have in flight for S3E, if so many are wanted: by half of
   * its connections, which writes and HEADs take too, and from Iceberg 1.10.1 on other clients.
   */
  int threads(int wanted) {
    int connections;
    try {
      connections = Integer.parseInt(properties.getOrDefault(CONNECTIONS, "50"));
    } catch (NumberFormatException e) {
      connections = 1;
    }
    return Math.max(1, Math.min(connections / 2, Math.max(MOST_THREADS, wanted)));
  }

  private boolean is(String key) {
    return Boolean.parseBoolean(properties.get(key));
  }
}
