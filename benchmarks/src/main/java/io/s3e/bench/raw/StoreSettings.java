// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.given.SdkCredentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.fs.s3a.auth.CredentialProviderListFactory;

/** Reads the place of the store and the credentials from S3A's configuration. */
public final class StoreSettings {

  private static final String CA_FILE = "fs.s3a.s3e.tls.ca.file";

  private StoreSettings() {}

  /**
   * Endpoint, region, addressing and credentials as S3A would take them for this bucket.
   *
   * @param bucket {@code s3a://BUCKET/...}
   * @throws IOException when the credentials that are configured cannot be made
   */
  public static AwsClientSettings of(URI bucket, Configuration configuration) throws IOException {
    Configuration conf = S3AUtils.propagateBucketOptions(configuration, bucket.getHost());
    AwsClientSettings.Builder settings =
        AwsClientSettings.builder()
            .pathStyle(conf.getBoolean(Constants.PATH_STYLE_ACCESS, false))
            .credentials(
                new SdkCredentials(
                    CredentialProviderListFactory.createAWSCredentialProviderList(bucket, conf)));
    String endpoint = conf.getTrimmed(Constants.ENDPOINT, "");
    if (!endpoint.isEmpty() && !endpoint.equals(Constants.CENTRAL_ENDPOINT)) {
      settings.endpoint(uri(endpoint, conf));
    }
    String region = conf.getTrimmed(Constants.AWS_REGION, "");
    if (!region.isEmpty()) {
      settings.region(region);
    }
    String caFile = conf.getTrimmed(CA_FILE, "");
    if (!caFile.isEmpty()) {
      settings.caFile(Path.of(caFile));
    }
    return settings.build();
  }

  private static URI uri(String endpoint, Configuration conf) {
    if (endpoint.contains("://")) {
      return URI.create(endpoint);
    }
    boolean tls = conf.getBoolean(Constants.SECURE_CONNECTIONS, true);
    return URI.create((tls ? "https://" : "http://") + endpoint);
  }
}
