// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.aws;

import io.s3e.client.ClientMemory;
import io.s3e.client.ClientProvider;
import io.s3e.client.CredentialsSource;
import io.s3e.client.ObjectClient;
import io.s3e.client.given.SdkCredentials;
import io.s3e.client.library.CrtLibrary;
import io.s3e.client.library.CrtSettings;
import io.s3e.client.library.CrtUnusableException;
import io.s3e.version.Version;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes clients over the CRT from settings, for http and https alike: measured over loopback, one
 * costs about half the processor time of the best SDK client for plain requests and less than half
 * by TLS (docs/adr/0002-client-choice.md). Where the CRT cannot be used (no jar, no native library
 * for the platform, {@code /tmp} mounted noexec), an SDK client can be given: {@link
 * io.s3e.client.given.SyncObjectClient}.
 */
public final class AwsClients {
  private static final String USER_AGENT = "S3E/" + Version.text();

  private AwsClients() {}

  /**
   * A provider of clients over the CRT, made when the engine asks. It throws {@link
   * CrtUnusableException}, which says why, where the CRT cannot be used or the engine's memory is
   * too small, and IllegalArgumentException where the CA file cannot be read.
   */
  public static ClientProvider crt(AwsClientSettings settings) {
    return memory -> open(settings, memory, true);
  }

  /**
   * A provider of the CRT's client in the form that it has where direct memory is short: to
   * compare, and for stores with which borrowed buffers turn out to be trouble.
   */
  public static ClientProvider crtWithoutLending(AwsClientSettings settings) {
    return memory -> open(settings, memory, false);
  }

  /**
   * The name that blocks of a store are kept under: {@link io.s3e.S3EConfig#store}. All who reach
   * it alike share them.
   *
   * @param endpoint the one that the client was given, whose user is left out; empty for AWS's own
   * @param region the client's; null if not known
   */
  public static String storeName(Optional<URI> endpoint, @Nullable String region) {
    String path = endpoint.map(URI::getRawPath).orElse("").replaceFirst("/+$", "");
    String aws = "https://s3." + (region == null ? "" : region + ".") + "amazonaws.com";
    String host = endpoint.map(uri -> uri.getScheme() + "://" + uri.getAuthority()).orElse(aws);
    return host.replaceFirst("//.*@", "//").toLowerCase(Locale.ROOT) + path;
  }

  private static ObjectClient open(AwsClientSettings settings, ClientMemory memory, boolean lends) {
    CrtSettings crt = crtSettings(settings, lends);
    String problem = CrtLibrary.unusableBecause();
    if (problem == null && crt.isTls() && crt.authorities().isEmpty()) {
      problem = "the JVM's trust managers name no certificate authority that it could be told";
    }
    if (problem != null) {
      throw new CrtUnusableException(
          problem + ". A client of the AWS SDK can be given instead (SyncObjectClient)", null);
    }
    return CrtLibrary.open(crt, memory);
  }

  private static CrtSettings crtSettings(AwsClientSettings s, boolean lends) {
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
        authorities(s),
        (s.userAgentPrefix() + " " + USER_AGENT + " " + s.userAgentSuffix()).trim(),
        s.headers(),
        lends);
  }

  /** Throws IllegalArgumentException where a file cannot be {@link AwsClientSettings#caFile}. */
  public static void checkCaFile(Path file) {
    var unused = Pem.read(file);
  }

  /** The authorities that the CRT is told to trust: the JVM knows them, the CRT does not. */
  private static List<String> authorities(AwsClientSettings settings) {
    if (!CrtSettings.isTls(settings.endpoint())) {
      return List.of();
    }
    Path caFile = settings.caFile();
    return caFile == null ? JvmTrust.authorities() : Pem.blocks(Pem.read(caFile));
  }

  /** What signs; null for unsigned requests. */
  private static @Nullable CredentialsSource credentials(AwsClientSettings settings) {
    CredentialsSource given = settings.credentials();
    if (settings.anonymous() || given != null) {
      return settings.anonymous() ? null : given;
    }
    return bySdk("credentials", () -> SdkCredentials.byDefault());
  }

  /** The region given, or found as the SDK does; any will do where the store is not AWS. */
  private static String region(AwsClientSettings settings) {
    String given = settings.region();
    if (given == null && settings.endpoint() == null) {
      return bySdk("region", () -> SdkCredentials.defaultRegion());
    }
    return given == null ? "us-east-1" : given;
  }

  /** What the SDK finds where a setting is left to it. */
  private static <T> T bySdk(String setting, Supplier<T> found) {
    try {
      return found.get();
    } catch (NoClassDefFoundError e) {
      throw new IllegalArgumentException(
          setting + " is not set, and the AWS SDK that would find it is not on the class path", e);
    }
  }
}
