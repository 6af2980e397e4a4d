package io.s3e.cli;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.ClientKind;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
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
 * How to reach the store: options, and behind them the environment and the profile as the AWS
 * command line reads them.
 */
final class StoreOptions {
  /** The region for a store other than AWS if none is given. */
  private static final String ANY_REGION = "us-east-1";

  @Option(
      names = "--endpoint",
      paramLabel = "URL",
      description =
          "The store, for example http://127.0.0.1:9000. Default: AWS_ENDPOINT_URL_S3,"
              + " AWS_ENDPOINT_URL, the profile's endpoint_url, else AWS.")
  private @Nullable URI endpoint;

  @Option(
      names = "--region",
      description =
          "Default: AWS_REGION, the profile's, the instance's; " + ANY_REGION + " with --endpoint.")
  private @Nullable String region;

  @Option(
      names = "--path-style",
      description = "Bucket in the path, not in the host name (MinIO, Ceph, S3Proxy).")
  private boolean pathStyle;

  @Option(
      names = "--profile",
      paramLabel = "NAME",
      description =
          "Profile of ~/.aws. Default: the SDK's chain (environment, AWS_PROFILE, container,"
              + " instance).")
  private @Nullable String profile;

  @Option(names = "--anonymous", description = "Send unsigned requests: for public buckets.")
  private boolean anonymous;

  @Option(
      names = "--ca-bundle",
      paramLabel = "FILE",
      description =
          "PEM file of certificates to trust in place of the system's. Default: AWS_CA_BUNDLE.")
  private @Nullable Path caBundle;

  /** Settings of clients, with region and credentials found where no option names them. */
  AwsClientSettings.Builder settings() {
    return AwsClientSettings.builder()
        .endpoint(endpoint())
        .region(region())
        .pathStyle(pathStyle)
        .credentials(credentials())
        .anonymous(anonymous)
        .caFile(caBundle());
  }

  /** The store's URI; null for AWS. */
  @Nullable URI endpoint() {
    if (endpoint != null) {
      return endpoint;
    }
    return Stream.of(
            Optional.ofNullable(System.getenv("AWS_ENDPOINT_URL_S3")),
            Optional.ofNullable(System.getenv("AWS_ENDPOINT_URL")),
            profileSection().flatMap(section -> section.property("endpoint_url")))
        .flatMap(Optional::stream)
        .filter(url -> !url.isBlank())
        .findFirst()
        .map(URI::create)
        .orElse(null);
  }

  /**
   * @throws SdkClientException if nobody names one and the store is AWS
   */
  private String region() {
    if (region != null) {
      return region;
    }
    if (endpoint() == null) {
      return DefaultAwsRegionProviderChain.builder()
          .profileName(profileName())
          .build()
          .getRegion()
          .id();
    }
    try {
      // Without the instance, which takes seconds to say that there is none.
      Region found =
          new AwsRegionProviderChain(
                  new SystemSettingsRegionProvider(),
                  new AwsProfileRegionProvider(ProfileFile::defaultProfileFile, profileName()))
              .getRegion();
      return found.id();
    } catch (SdkClientException nobodySaid) {
      return ANY_REGION;
    }
  }

  /** The credentials to sign with. A profile named here comes before the environment. */
  private AwsCredentialsProvider credentials() {
    if (anonymous) {
      return AnonymousCredentialsProvider.create();
    }
    return profile == null
        ? DefaultCredentialsProvider.builder().build()
        : ProfileCredentialsProvider.create(profile);
  }

  /**
   * @throws IllegalArgumentException if there is no such file
   */
  private @Nullable Path caBundle() {
    String fromEnvironment = System.getenv("AWS_CA_BUNDLE");
    URI store = endpoint();
    boolean tls = store == null || "https".equalsIgnoreCase(store.getScheme());
    Path file = caBundle;
    if (file == null && tls && fromEnvironment != null && !fromEnvironment.isBlank()) {
      file = Path.of(fromEnvironment);
    }
    if (file != null && !Files.isReadable(file)) {
      throw new IllegalArgumentException("the CA bundle " + file + " cannot be read");
    }
    return file;
  }

  private String profileName() {
    return profile != null ? profile : ProfileFileSystemSetting.AWS_PROFILE.getStringValueOrThrow();
  }

  private Optional<Profile> profileSection() {
    return ProfileFile.defaultProfileFile().profile(profileName());
  }

  /** Names of {@link ClientKind} for picocli. */
  static final class ClientConverter implements ITypeConverter<ClientKind> {
    @Override
    public ClientKind convert(String value) {
      try {
        return ClientKind.parse("--client", value);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }
}
