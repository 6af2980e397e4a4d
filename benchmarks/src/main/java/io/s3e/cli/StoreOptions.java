// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import io.s3e.bench.StoreAddress;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.given.SdkCredentials;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How to reach the store. */
final class StoreOptions extends StoreAddress {
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
        .pathStyle(pathStyle())
        .credentials(new SdkCredentials(credentials()))
        .anonymous(anonymous())
        .caFile(caBundle());
  }

  /**
   * @throws IllegalArgumentException if there is no such file
   */
  private @Nullable Path caBundle() {
    String fromEnvironment = System.getenv("AWS_CA_BUNDLE");
    URI store = endpoint();
    Path file = caBundle;
    if (file == null
        && (store == null || isTls(store))
        && fromEnvironment != null
        && !fromEnvironment.isBlank()) {
      file = Path.of(fromEnvironment);
    }
    if (file != null && !Files.isReadable(file)) {
      throw new IllegalArgumentException("the CA bundle " + file + " cannot be read");
    }
    return file;
  }
}
