// SPDX-License-Identifier: Apache-2.0
package io.s3e.iceberg;

import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;
import software.amazon.awssdk.services.s3.S3ServiceClientConfiguration;

/**
 * What somebody has put into Iceberg's client, or into each client of the JVM, that S3E's own does
 * not have: it would send requests which the store refuses, with no way back, for the store answers
 * them.
 */
final class ForeignParts {
  /** The SDK's own classes, Iceberg's, and those of OpenTelemetry's agent and of Datadog's. */
  private static final List<String> KNOWN =
      List.of("software.amazon.", "org.apache.iceberg.", "io.opentelemetry.", "datadog.trace.");

  private static final String KEY_STORE = "javax.net.ssl.keyStore";

  private ForeignParts() {}

  /**
   * The first of a client, in words for a log line; null if it has none.
   *
   * @param store where the client sends requests: scheme, host and port
   */
  static @Nullable String first(S3ServiceClientConfiguration built, URI store) {
    return Stream.of(
            named("it has the interceptor ", built.overrideConfiguration().executionInterceptors()),
            signer(built),
            named("it signs by ", built.authSchemes().values()),
            named("its endpoints come from ", built.endpointProvider().stream().toList()),
            keyStore(store))
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  private static @Nullable String named(String words, Iterable<?> parts) {
    for (Object part : parts) {
      String name = part.getClass().getName();
      if (KNOWN.stream().noneMatch(name::startsWith)) {
        return words + name;
      }
    }
    return null;
  }

  /** Any: the SDK's own that is chosen here is none that S3E's client would take. */
  private static @Nullable String signer(S3ServiceClientConfiguration built) {
    return built
        .overrideConfiguration()
        .advancedOption(SdkAdvancedClientOption.SIGNER)
        .map(signer -> "its signer is " + signer.getClass().getName())
        .orElse(null);
  }

  /** Certificates by which the JVM's own clients prove who they are. */
  private static @Nullable String keyStore(URI store) {
    String file =
        "https".equalsIgnoreCase(store.getScheme()) ? System.getProperty(KEY_STORE) : null;
    return file == null ? null : KEY_STORE + " is \"" + file + "\"";
  }
}
