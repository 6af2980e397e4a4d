// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.client.CredentialsSource;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.hadoop.conf.AdapterConfig;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;
import software.amazon.awssdk.services.s3.S3ServiceClientConfiguration;

/**
 * S3A's client of one file system, read once when it has been built: what S3E's own client takes
 * over from it ({@link #settings}), and what only S3A's client can do ({@link #reasonAgainstOwn}).
 * So S3A alone decides how the store is reached. Immutable.
 */
record S3AClientView(S3AFacts facts) {
  /** The view of a file system that is open. */
  static S3AClientView of(S3AFileSystem fileSystem, AdapterConfig config) {
    return new S3AClientView(
        S3AFacts.of(
            fileSystem.getS3AInternals().getAmazonS3Client("S3E client settings"),
            fileSystem.getConf(),
            fileSystem.getBucket(),
            config));
  }

  /**
   * Why the bucket has to be read by S3A's client and not by S3E's, in words for a log line that
   * name key and value; null if there is no reason.
   */
  @Nullable String reasonAgainstOwn() {
    return S3ATraits.first(facts);
  }

  /** Settings with which S3E's client does what S3A's does. */
  AwsClientSettings settings(CredentialsSource credentials, boolean anonymous) {
    AdapterConfig config = facts.config();
    S3ServiceClientConfiguration built = facts.built();
    ClientOverrideConfiguration overrides = built.overrideConfiguration();
    AwsClientSettings.Builder settings =
        config
            .reach()
            .endpoint(built.endpointOverride().orElse(null))
            .region(facts.region())
            .followRegion(facts.followsRegions())
            .dualStack(facts.isDualStack())
            .pathStyle(facts.conf().getBoolean(Constants.PATH_STYLE_ACCESS, false))
            .credentials(credentials)
            .anonymous(anonymous)
            .userAgentPrefix(
                overrides.advancedOption(SdkAdvancedClientOption.USER_AGENT_PREFIX).orElse(""))
            .userAgentSuffix(
                overrides.advancedOption(SdkAdvancedClientOption.USER_AGENT_SUFFIX).orElse(""));
    overrides.headers().forEach((name, values) -> settings.header(name, String.join(",", values)));
    return settings.build();
  }
}
