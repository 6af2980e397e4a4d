// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import io.s3e.bench.raw.ProfileCredentials;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.profiles.Profile;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.profiles.ProfileFileSystemSetting;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;

/**
 * Where the store is and who asks it: options that all commands of the tool share, and behind them
 * the environment and the profile as the AWS command line reads them.
 */
public class StoreAddress {
  /** The region for a store other than AWS if none is given. */
  private static final String ANY_REGION = "us-east-1";

  private static final String ENDPOINT_FORM = "http://HOST[:PORT] or https://HOST[:PORT]";

  @Option(
      names = "--endpoint",
      paramLabel = "URL",
      converter = EndpointConverter.class,
      showDefaultValue = Visibility.NEVER,
      description =
          "The store, for example http://127.0.0.1:9000. Default: AWS_ENDPOINT_URL_S3,"
              + " AWS_ENDPOINT_URL, the profile's endpoint_url, else AWS.")
  private @Nullable URI endpoint;

  @Option(
      names = "--region",
      showDefaultValue = Visibility.NEVER,
      description =
          "Default: AWS_REGION, AWS_DEFAULT_REGION, the profile's, the instance's; "
              + ANY_REGION
              + " with --endpoint.")
  private @Nullable String region;

  @Option(
      names = "--path-style",
      showDefaultValue = Visibility.NEVER,
      description = "Bucket in the path, not in the host name (MinIO, Ceph, S3Proxy).")
  private boolean pathStyle;

  @Option(
      names = "--profile",
      paramLabel = "NAME",
      showDefaultValue = Visibility.NEVER,
      description =
          "Profile of ~/.aws. Default: the SDK's chain (environment, AWS_PROFILE, container,"
              + " instance).")
  private @Nullable String profile;

  @Option(
      names = "--anonymous",
      showDefaultValue = Visibility.NEVER,
      description = "Send unsigned requests: for public buckets.")
  private boolean anonymous;

  protected final boolean pathStyle() {
    return pathStyle;
  }

  protected final boolean anonymous() {
    return anonymous;
  }

  /**
   * The store's URI; null for AWS.
   *
   * @throws IllegalArgumentException if the environment or the profile names something else
   */
  public final @Nullable URI endpoint() {
    if (endpoint != null) {
      return endpoint;
    }
    return Stream.of(
            fromEnvironment("AWS_ENDPOINT_URL_S3"),
            fromEnvironment("AWS_ENDPOINT_URL"),
            profileSection()
                .flatMap(section -> section.property("endpoint_url"))
                .flatMap(url -> found("endpoint_url of profile " + profileName(), url)))
        .flatMap(Optional::stream)
        .findFirst()
        .orElse(null);
  }

  private static Optional<URI> fromEnvironment(String name) {
    return Optional.ofNullable(System.getenv(name)).flatMap(url -> found(name, url));
  }

  private static Optional<URI> found(String name, String url) {
    if (url.isBlank()) {
      return Optional.empty();
    }
    return Optional.of(
        parse(url)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        name + " is \"" + url + "\"; accepted is " + ENDPOINT_FORM)));
  }

  private static Optional<URI> parse(String url) {
    try {
      URI uri = new URI(url);
      boolean web = "http".equalsIgnoreCase(uri.getScheme()) || isTls(uri);
      return web && uri.getHost() != null ? Optional.of(uri) : Optional.empty();
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }

  protected static boolean isTls(URI store) {
    return "https".equalsIgnoreCase(store.getScheme());
  }

  /**
   * The region to sign for.
   *
   * @throws SdkClientException if nobody names one and the store is AWS
   */
  protected final String region() {
    if (region != null) {
      return region;
    }
    Optional<String> found = regionWithoutInstance();
    if (found.isPresent()) {
      return found.get();
    }
    return endpoint() == null
        ? DefaultAwsRegionProviderChain.builder()
            .profileName(profileName())
            .build()
            .getRegion()
            .id()
        : ANY_REGION;
  }

  /** The instance takes seconds to say that there is none. */
  private Optional<String> regionWithoutInstance() {
    try {
      return Optional.of(
          new AwsRegionProviderChain(
                  new SystemSettingsRegionProvider(),
                  StoreAddress::defaultRegion,
                  new AwsProfileRegionProvider(ProfileFile::defaultProfileFile, profileName()))
              .getRegion()
              .id());
    } catch (SdkClientException nobodySaid) {
      return Optional.empty();
    }
  }

  /** The variable of the AWS command line, which the SDK passes over; null lets the next say it. */
  private static @Nullable Region defaultRegion() {
    String name = System.getenv("AWS_DEFAULT_REGION");
    return name == null || name.isBlank() ? null : Region.of(name.strip());
  }

  /** The credentials to sign with. A profile named here comes before the environment. */
  protected final AwsCredentialsProvider credentials() {
    if (anonymous) {
      return AnonymousCredentialsProvider.create();
    }
    return profile == null
        ? DefaultCredentialsProvider.builder().build()
        : ProfileCredentialsProvider.create(profile);
  }

  /** The profile that an option names; null for the SDK's own. */
  public final @Nullable String profile() {
    return profile;
  }

  private String profileName() {
    return profile != null ? profile : ProfileFileSystemSetting.AWS_PROFILE.getStringValueOrThrow();
  }

  private Optional<Profile> profileSection() {
    return ProfileFile.defaultProfileFile().profile(profileName());
  }

  /** Whether an option says anything. */
  final boolean isTold() {
    return endpoint != null || region != null || pathStyle || profile != null || anonymous;
  }

  /**
   * What the options say, as Hadoop configuration entries of a bucket, which S3A prefers to its
   * general ones; without an option, where the environment or the profile says that the store is.
   * What they leave open S3A finds by itself.
   *
   * @param others entries that apply beside: an endpoint or a region there comes before the
   *     environment's
   */
  final Map<String, String> hadoop(String bucket, Map<String, String> others) {
    Map<String, String> entries = new LinkedHashMap<>();
    String keys = "fs.s3a.bucket." + bucket + ".";
    boolean isToldElsewhere =
        others.containsKey(keys + "endpoint") || others.containsKey("fs.s3a.endpoint");
    if (!isTold() && isToldElsewhere) {
      return entries;
    }
    URI store = endpoint();
    if (!isTold() && store == null) {
      return entries;
    }
    if (store != null) {
      entries.put(keys + "endpoint", store.toString());
    }
    boolean isRegionToldElsewhere =
        others.containsKey(keys + "endpoint.region")
            || others.containsKey("fs.s3a.endpoint.region");
    if (region != null || !isRegionToldElsewhere) {
      Optional.ofNullable(region)
          .or(this::regionWithoutInstance)
          .or(() -> store == null ? Optional.empty() : Optional.of(ANY_REGION))
          .ifPresent(name -> entries.put(keys + "endpoint.region", name));
    }
    if (pathStyle) {
      entries.put(keys + "path.style.access", "true");
    }
    String credentials = keys + "aws.credentials.provider";
    if (anonymous) {
      entries.put(credentials, AnonymousAWSCredentialsProvider.NAME);
    } else if (profile != null) {
      entries.put(credentials, ProfileCredentials.class.getName());
      entries.put(ProfileCredentials.PROFILE, profile);
    }
    return entries;
  }

  private static final class EndpointConverter implements ITypeConverter<URI> {
    @Override
    public URI convert(String value) {
      return parse(value)
          .orElseThrow(
              () -> new TypeConversionException('"' + value + "\" is not " + ENDPOINT_FORM));
    }
  }
}
