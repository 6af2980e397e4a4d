// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.S3EKeys;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AEncryptionMethods;
import org.apache.hadoop.fs.s3a.S3AFileSystem;

/** Whose streams read a bucket, and why: the one place that decides it. */
public enum StreamChoice {
  S3E("its settings allow it"),
  S3A_BY_SETTING(S3EKeys.ENABLED.name() + " is false"),
  S3A_FOR_ENCRYPTION("objects are encrypted in the client");

  private final String reason;

  StreamChoice(String reason) {
    this.reason = reason;
  }

  /**
   * Before there is a file system.
   *
   * @param conf with per-bucket overrides applied
   * @throws IOException if S3A does not accept the settings of encryption
   */
  public static StreamChoice of(AdapterConfig config, String bucket, Configuration conf)
      throws IOException {
    return config.enabled() ? of(ObjectEncryption.of(bucket, conf)) : S3A_BY_SETTING;
  }

  /** By what S3A has found, where S3E is not switched off. */
  public static StreamChoice of(S3AEncryptionMethods algorithm) {
    return ObjectEncryption.isInClient(algorithm) ? S3A_FOR_ENCRYPTION : S3E;
  }

  /** By S3A's word, which counts delegation tokens too, where S3E is not switched off. */
  public static StreamChoice of(S3AFileSystem initialized) {
    return initialized.isCSEEnabled()
        ? S3A_FOR_ENCRYPTION
        : of(initialized.getS3EncryptionAlgorithm());
  }

  /** In words that end a sentence. */
  public String reason() {
    return reason;
  }
}
