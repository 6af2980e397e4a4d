package io.s3e.hadoop.client;

import io.s3e.S3E;
import io.s3e.client.ClientProvider;
import io.s3e.client.ClientProvider.ClientMemory;
import io.s3e.client.ObjectClient;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import io.s3e.client.aws.ClientKind;
import io.s3e.client.library.CrtLibrary;
import io.s3e.hadoop.cache.EngineFactory;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.ClientChoice;
import io.s3e.hadoop.conf.S3EKeys;
import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.AWSCredentialProviderList;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.audit.S3AAuditConstants;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3ServiceClientConfiguration;

/**
 * Makes the engine of one file system: chooses the client, and gives S3E's own client the
 * credentials, region, endpoint, addressing, headers and user agent that S3A's client has. These
 * are asked of S3A's client itself, so that S3A alone decides what they are.
 */
public final class FileSystemClients implements ReadEngine.Maker {
  private static final Logger LOG = LoggerFactory.getLogger(FileSystemClients.class);
  private static final String REGION_HEADER = "x-amz-bucket-region";
  private static final Closeable NOTHING = () -> {};

  private final S3AFileSystem fileSystem;
  private final AdapterConfig config;
  private final EngineFactory cache;
  private final Configuration conf;
  private final String bucket;

  public FileSystemClients(S3AFileSystem fileSystem, AdapterConfig config, EngineFactory cache) {
    this.fileSystem = fileSystem;
    this.config = config;
    this.cache = cache;
    conf = fileSystem.getConf();
    bucket = fileSystem.getBucket();
  }

  @Override
  public ReadEngine.Made make() throws IOException {
    if (config.client() == ClientChoice.S3A) {
      return byS3A();
    }
    String reason = OwnClientLimits.reason(conf, bucket);
    if (reason == null && config.client() != ClientChoice.SDK_SYNC) {
      reason = crtReason();
    }
    if (reason != null) {
      sayFallback(reason);
      return byS3A();
    }
    Region region = region();
    if (region.problem() != null) {
      sayFallback(region.problem());
      return byS3A();
    }
    AWSCredentialProviderList credentials =
        fileSystem.getS3AInternals().shareCredentials("S3E client of " + fileSystem.getUri());
    boolean made = false;
    try {
      AwsClientSettings settings = settings(region.name(), credentials);
      S3E engine = engine(memory -> own(settings, memory));
      made = true;
      return new ReadEngine.Made(engine, credentials::close);
    } catch (RuntimeException | LinkageError e) {
      throw new IOException("Cannot make S3E's client for " + fileSystem.getUri() + ": " + e, e);
    } finally {
      if (!made) {
        credentials.close();
      }
    }
  }

  private ReadEngine.Made byS3A() throws IOException {
    return new ReadEngine.Made(engine(s3a()), NOTHING);
  }

  private S3E engine(ClientProvider client) throws IOException {
    var region = s3aClient().region();
    return cache.create(
        fileSystem.getUri().toString(),
        EngineFactory.storeName(endpoint(), region == null ? null : region.id()),
        secret(),
        client);
  }

  /**
   * By S3A's word, which counts a delegation token's encryption too, and by the configuration's.
   */
  private @Nullable String secret() {
    return switch (fileSystem.getS3EncryptionAlgorithm()) {
      case SSE_C, CSE_KMS, CSE_CUSTOM ->
          "objects are encrypted by " + fileSystem.getS3EncryptionAlgorithm().getMethod();
      default -> OwnClientLimits.notForDisk(conf);
    };
  }

  private ClientProvider s3a() {
    return S3AStore.provider(config, fileSystem.getChangeDetectionPolicy());
  }

  private ObjectClient own(AwsClientSettings settings, ClientMemory memory) {
    if (isCrt()) {
      long needed = CrtLibrary.minimumBytes(memory);
      if (memory.ownedBytes() < needed) {
        sayFallback(
            "it needs "
                + needed
                + " bytes of "
                + S3EKeys.MEMORY_BUDGET.name()
                + " and may have "
                + memory.ownedBytes());
        return s3a().create(memory);
      }
    }
    ObjectClient client = AwsClients.provider(kind(), settings).create(memory);
    return RevisionCheckingClient.over(
        new AuditedClient(client, fileSystem.getInstrumentation(), isAudited()),
        fileSystem.getChangeDetectionPolicy());
  }

  private boolean isAudited() {
    return conf.getBoolean(
        S3AAuditConstants.AUDIT_ENABLED, S3AAuditConstants.AUDIT_ENABLED_DEFAULT);
  }

  private ClientKind kind() {
    return switch (config.client()) {
      case AUTO, CRT -> ClientKind.CRT;
      case SDK_ASYNC -> ClientKind.SDK_ASYNC;
      case SDK_SYNC -> ClientKind.SDK_SYNC;
      case S3A -> throw new IllegalStateException("S3A makes its own client");
    };
  }

  private boolean isCrt() {
    return config.client() == ClientChoice.AUTO || config.client() == ClientChoice.CRT;
  }

  /** All clients but the synchronous one stand upon the CRT. */
  private @Nullable String crtReason() {
    String unusable = CrtLibrary.unusableBecause();
    if (unusable != null) {
      return unusable;
    }
    boolean tls = endpoint().map(uri -> "https".equalsIgnoreCase(uri.getScheme())).orElse(true);
    if (!tls) {
      return null;
    }
    return isCrt() ? OwnClientLimits.crtTrust(config) : OwnClientLimits.sdkAsyncTrust(config);
  }

  private void sayFallback(@Nullable String reason) {
    LOG.info(
        "Reading {} by S3A's client and not by {}: {}",
        fileSystem.getUri(),
        isCrt() ? "the AWS CRT" : config.client().text(),
        reason);
  }

  private S3ServiceClientConfiguration s3aClient() {
    return fileSystem
        .getS3AInternals()
        .getAmazonS3Client("S3E client settings")
        .serviceClientConfiguration();
  }

  private Optional<URI> endpoint() {
    return s3aClient().endpointOverride();
  }

  /** A region, or why none is known. */
  private record Region(@Nullable String name, @Nullable String problem) {}

  /**
   * S3A's client follows buckets into other regions, which S3E's does not: without an endpoint of
   * the user's, the bucket itself is asked where it is, once.
   */
  private Region region() {
    var configured = s3aClient().region();
    String name = configured == null ? null : configured.id();
    if (endpoint().isPresent()) {
      return new Region(name, null);
    }
    try {
      Optional<String> told =
          fileSystem
              .getS3AInternals()
              .getBucketMetadata()
              .sdkHttpResponse()
              .firstMatchingHeader(REGION_HEADER);
      return new Region(told.orElse(name), null);
    } catch (IOException | SdkException e) {
      if (!conf.getTrimmed(Constants.AWS_REGION, "").isEmpty()) {
        LOG.debug("Region of {} taken from the configuration", bucket, e);
        return new Region(name, null);
      }
      return new Region(
          null, Constants.AWS_REGION + " is not set and the bucket's region cannot be asked: " + e);
    }
  }

  private AwsClientSettings settings(
      @Nullable String region, AWSCredentialProviderList credentials) {
    AwsCredentials resolved = credentials.resolveCredentials();
    ClientOverrideConfiguration overrides = s3aClient().overrideConfiguration();
    AwsClientSettings.Builder settings =
        AwsClientSettings.builder()
            .endpoint(endpoint().orElse(null))
            .region(region)
            .pathStyle(conf.getBoolean(Constants.PATH_STYLE_ACCESS, false))
            // Not the list itself: an SDK client closes what it can, and this one is shared.
            .credentials(credentials::resolveCredentials)
            .anonymous(resolved.accessKeyId() == null)
            .targetGbps(config.targetGbps())
            .connectTimeout(config.connectTimeout())
            .stallTimeout(config.engine().stallTimeout())
            .userAgentSuffix(userAgent(overrides));
    if (config.client() == ClientChoice.SDK_SYNC) {
      settings.maxConnections(config.clientThreads());
    } else {
      config.maxConnections().ifPresent(settings::maxConnections);
    }
    if (!config.tlsCaFile().isEmpty()) {
      settings.caFile(Path.of(config.tlsCaFile()));
    }
    overrides.headers().forEach((name, values) -> settings.header(name, String.join(",", values)));
    return settings.build();
  }

  private static String userAgent(ClientOverrideConfiguration overrides) {
    String prefix = overrides.advancedOption(SdkAdvancedClientOption.USER_AGENT_PREFIX).orElse("");
    String suffix = overrides.advancedOption(SdkAdvancedClientOption.USER_AGENT_SUFFIX).orElse("");
    return (prefix + " " + suffix).trim();
  }
}
