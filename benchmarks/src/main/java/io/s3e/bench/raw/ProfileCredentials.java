// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;

/**
 * Credentials of a profile for S3A, from both of AWS's files and of every kind that the SDK knows;
 * S3A's own provider reads the file of secrets alone. S3A makes one for each file system, and
 * closes it.
 */
public final class ProfileCredentials implements AwsCredentialsProvider, AutoCloseable {

  /** Key of the profile's name. */
  public static final String PROFILE = "s3e.bench.profile";

  private final ProfileCredentialsProvider provider;

  /** As S3A calls it. */
  public ProfileCredentials(URI bucket, Configuration conf) {
    provider = ProfileCredentialsProvider.create(conf.getTrimmed(PROFILE));
  }

  @Override
  public AwsCredentials resolveCredentials() {
    return provider.resolveCredentials();
  }

  @Override
  public void close() {
    provider.close();
  }
}
