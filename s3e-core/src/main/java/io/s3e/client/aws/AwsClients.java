package io.s3e.client.aws;

import io.s3e.client.ClientMemory;
import io.s3e.client.ClientProvider;
import io.s3e.client.ObjectClient;
import io.s3e.client.library.CrtCapability;
import io.s3e.client.library.CrtLibrary;
import io.s3e.client.library.CrtSettings;
import io.s3e.client.library.CrtUnusableException;
import io.s3e.version.Version;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;

/**
 * Makes clients from settings, and chooses among them.
 *
 * <p>{@link ClientKind#AUTO} takes the CRT's native client for http and https alike: measured over
 * loopback it costs about half the processor time of the best SDK client for plain requests and
 * less than half by TLS (docs/adr/0002-client-choice.md). It falls back to the synchronous SDK
 * client where the CRT cannot be used (no jar, no native library for the platform, {@code /tmp}
 * mounted noexec) or where the engine's memory is too small for two slots, and says so in one line
 * at INFO.
 */
public final class AwsClients {
  private static final Logger LOG = LoggerFactory.getLogger(AwsClients.class);
  private static final String USER_AGENT = "S3E/" + Version.text();

  private AwsClients() {}

  /** A provider of whichever client reads best here: {@link ClientKind#AUTO}. */
  public static ClientProvider auto(AwsClientSettings settings) {
    return provider(ClientKind.AUTO, settings);
  }

  /** A provider of clients of that kind. Clients are made when the engine asks. */
  public static ClientProvider provider(ClientKind kind, AwsClientSettings settings) {
    return memory -> open(kind, settings, memory);
  }

  /** Whether the memory is enough for a client over the CRT, or there is one to share it with. */
  public static boolean crtFits(AwsClientSettings settings, ClientMemory memory) {
    return CrtLibrary.fits(() -> crtSettings(settings), memory);
  }

  /**
   * A provider of the CRT's client in the form that it has with versions of aws-crt which cannot
   * lend: to compare, and for stores with which borrowed buffers turn out to be trouble.
   */
  public static ClientProvider crtWithoutLending(AwsClientSettings settings) {
    return memory -> CrtLibrary.open(crtSettings(settings), memory, CrtCapability.COPIES);
  }

  private static ObjectClient open(
      ClientKind kind, AwsClientSettings settings, ClientMemory memory) {
    return switch (kind) {
      case AUTO -> crtOrSync(settings, memory);
      case CRT -> crt(settings, memory);
      case SDK_ASYNC -> SdkClients.async(settings, region(settings), memory);
      case SDK_SYNC -> SdkClients.sync(settings, region(settings), memory);
    };
  }

  private static ObjectClient crt(AwsClientSettings settings, ClientMemory memory) {
    String problem = crtProblem(settings);
    if (problem != null) {
      throw new CrtUnusableException(problem, null);
    }
    return CrtLibrary.open(crtSettings(settings), memory, CrtCapability.LENDS);
  }

  private static ObjectClient crtOrSync(AwsClientSettings settings, ClientMemory memory) {
    String problem = crtProblem(settings);
    if (problem == null && !crtFits(settings, memory)) {
      problem = "the engine's memory is too small for it (" + memory.ownedBytes() + " bytes)";
    }
    if (problem == null) {
      return crt(settings, memory);
    }
    LOG.info("Reading by the SDK's synchronous client, not by the AWS CRT: {}", problem);
    return SdkClients.sync(settings, region(settings), memory);
  }

  /**
   * Why the CRT cannot be used with these settings, in words for a log line; null if it can. Asked
   * before the client's class, which without the jar does not even load.
   */
  private static @Nullable String crtProblem(AwsClientSettings settings) {
    String problem = CrtLibrary.unusableBecause();
    if (problem == null && needsTrust(settings) && authorities(settings).isEmpty()) {
      return "the JVM's trust managers name no certificate authority that it could be told";
    }
    return problem;
  }

  private static CrtSettings crtSettings(AwsClientSettings s) {
    return new CrtSettings(
        s.endpoint(),
        region(s),
        s.pathStyle(),
        s.dualStack(),
        s.followRegion(),
        credentials(s),
        s.targetGbps(),
        s.maxConnections(),
        s.connectTimeout(),
        s.requestTimeout(),
        s.stallTimeout(),
        s.eventLoopThreads(),
        authorities(s),
        s.trustAll(),
        s.environmentProxy(),
        (s.userAgentPrefix() + " " + userAgent(s)).trim(),
        s.headers());
  }

  /** S3E's own name and what follows it. */
  static String userAgent(AwsClientSettings settings) {
    return (USER_AGENT + " " + settings.userAgentSuffix()).trim();
  }

  /**
   * The authorities that the CRT is told to trust: the JVM knows them, the CRT does not.
   *
   * @throws IllegalArgumentException if the CA file cannot be read
   */
  private static List<String> authorities(AwsClientSettings settings) {
    if (!needsTrust(settings)) {
      return List.of();
    }
    Path caFile = settings.caFile();
    return caFile == null ? JvmTrust.authorities() : Pem.blocks(Pem.read(caFile));
  }

  private static boolean needsTrust(AwsClientSettings settings) {
    URI endpoint = settings.endpoint();
    boolean tls = endpoint == null || "https".equalsIgnoreCase(endpoint.getScheme());
    return tls && !settings.trustAll();
  }

  /** The signer; null for unsigned requests. */
  @SuppressWarnings("deprecation") // create(): what would replace it is absent in older SDKs.
  static @Nullable AwsCredentialsProvider credentials(AwsClientSettings settings) {
    AwsCredentialsProvider given = settings.credentials();
    if (settings.anonymous() || given instanceof AnonymousCredentialsProvider) {
      return null;
    }
    return given != null ? given : DefaultCredentialsProvider.create();
  }

  /** The region given, or found as the SDK does; any will do where the store is not AWS. */
  private static String region(AwsClientSettings settings) {
    String given = settings.region();
    if (given != null) {
      return given;
    }
    URI endpoint = settings.endpoint();
    return endpoint != null ? "us-east-1" : new DefaultAwsRegionProviderChain().getRegion().id();
  }
}
