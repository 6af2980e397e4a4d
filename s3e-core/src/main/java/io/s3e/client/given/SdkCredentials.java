// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.given;

import io.s3e.client.CredentialsSource;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;

/**
 * The credentials of a provider of the AWS SDK, for clients that know nothing of it. Exceptions of
 * the provider pass as they are.
 *
 * @param provider not closed by the clients
 */
public record SdkCredentials(AwsCredentialsProvider provider) implements CredentialsSource {

  /** Those of the SDK's default chain. */
  @SuppressWarnings("deprecation") // create(): what would replace it is absent in older SDKs.
  public static SdkCredentials byDefault() {
    return new SdkCredentials(DefaultCredentialsProvider.create());
  }

  /** The region that the SDK's default chain finds. */
  public static String defaultRegion() {
    return new DefaultAwsRegionProviderChain().getRegion().id();
  }

  @Override
  public @Nullable Credentials resolve() {
    AwsCredentials found = provider.resolveCredentials();
    if (found.accessKeyId() == null || found.secretAccessKey() == null) {
      return null;
    }
    String token = found instanceof AwsSessionCredentials session ? session.sessionToken() : null;
    return new Credentials(
        found.accessKeyId(), found.secretAccessKey(), token, found.expirationTime().orElse(null));
  }
}
