// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.reliability;

import java.time.Duration;
import java.time.Instant;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.core.exception.SdkClientException;

/**
 * A provider as a role has one: its credentials change, they expire, and now and then there are
 * none. S3A makes it by its name, so what it gives is one for the JVM.
 */
public final class RotatingCredentials implements AwsCredentialsProvider {
  /** Longer than the 20 s before the end in which S3E gives credentials to no request. */
  private static final Duration LIFETIME = Duration.ofSeconds(22);

  private static volatile String accessKey = "first";
  private static volatile boolean down;

  /** Called by S3A. */
  public RotatingCredentials() {}

  static void give(String newAccessKey) {
    accessKey = newAccessKey;
  }

  static String accessKey() {
    return accessKey;
  }

  static void down(boolean value) {
    down = value;
  }

  @Override
  public AwsCredentials resolveCredentials() {
    if (down) {
      throw SdkClientException.create("the provider is down");
    }
    return AwsSessionCredentials.builder()
        .accessKeyId(accessKey)
        .secretAccessKey("secret")
        .sessionToken("token")
        .expirationTime(Instant.now().plus(LIFETIME))
        .build();
  }
}
