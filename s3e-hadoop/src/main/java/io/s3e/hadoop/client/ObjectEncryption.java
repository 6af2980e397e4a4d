// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;
import org.jspecify.annotations.Nullable;

/** The encryption of objects, as S3A's configuration has it. */
public final class ObjectEncryption {
  private static final String CUSTOM_HEADERS = "fs.s3a.client.s3.custom.headers";
  private static final String CUSTOMER_KEY_HEADERS = "server-side-encryption-customer-";

  private ObjectEncryption() {}

  /** Whether objects are decrypted in the client: offsets and lengths are then not the store's. */
  public static boolean isInClient(Configuration conf) {
    return algorithm(conf).startsWith("CSE");
  }

  /**
   * Why objects must not be written to local disk: a user that encrypts them with a key of their
   * own trusts no disk with them. In words that end a sentence; null if there is no reason.
   */
  public static @Nullable String notForDisk(Configuration conf) {
    String algorithm = algorithm(conf);
    if (algorithm.startsWith("CSE") || algorithm.startsWith("SSE-C")) {
      return "objects are encrypted by " + algorithm;
    }
    return conf.get(CUSTOM_HEADERS, "").toLowerCase(Locale.ROOT).contains(CUSTOMER_KEY_HEADERS)
        ? CUSTOM_HEADERS + " has keys of SSE-C"
        : null;
  }

  private static String algorithm(Configuration conf) {
    return conf.getTrimmed(
            Constants.S3_ENCRYPTION_ALGORITHM,
            conf.getTrimmed("fs.s3a.server-side-encryption-algorithm", ""))
        .toUpperCase(Locale.ROOT);
  }
}
