// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.S3EKeys;
import org.apache.hadoop.conf.Configuration;

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
   * @param conf with per-bucket overrides applied
   */
  public static StreamChoice of(AdapterConfig config, Configuration conf) {
    if (!config.enabled()) {
      return S3A_BY_SETTING;
    }
    return ObjectEncryption.isInClient(conf) ? S3A_FOR_ENCRYPTION : S3E;
  }

  /** In words that end a sentence. */
  public String reason() {
    return reason;
  }
}
