// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.S3AEncryptionMethods;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.security.ProviderUtils;
import org.apache.hadoop.security.alias.CredentialProviderFactory;
import org.jspecify.annotations.Nullable;

/** The encryption of objects: S3A's answer, and what follows from it. */
public final class ObjectEncryption {
  private static final String CUSTOM_HEADERS = "fs.s3a.client.s3.custom.headers";
  private static final String CUSTOMER_KEY_HEADERS = "server-side-encryption-customer-";

  private ObjectEncryption() {}

  /**
   * The algorithm that S3A's file system of a bucket will find: in the configuration and in
   * credential providers, under the bucket's own names too.
   *
   * @param conf with per-bucket overrides applied
   * @throws IOException if S3A accepts no such settings; its own file system is not made either
   */
  static S3AEncryptionMethods of(String bucket, Configuration conf) throws IOException {
    // It makes S3A's older names of keys known to Hadoop.
    S3AFileSystem.initializeClass();
    return S3AUtils.getEncryptionAlgorithm(bucket, withProviders(conf));
  }

  /** As S3A prepares the configuration, before it looks for secrets. */
  private static Configuration withProviders(Configuration conf) throws IOException {
    Configuration compatible =
        ProviderUtils.excludeIncompatibleCredentialProviders(conf, S3AFileSystem.class);
    Collection<String> ofS3A =
        compatible.getStringCollection(Constants.S3A_SECURITY_CREDENTIAL_PROVIDER_PATH);
    if (ofS3A.isEmpty()) {
      return compatible;
    }
    String general = CredentialProviderFactory.CREDENTIAL_PROVIDER_PATH;
    List<String> all = new ArrayList<>(ofS3A);
    all.addAll(compatible.getStringCollection(general));
    Configuration patched = new Configuration(compatible);
    patched.set(general, String.join(",", all));
    return patched;
  }

  /** Whether objects are decrypted in the client: offsets and lengths are then not the store's. */
  public static boolean isInClient(S3AEncryptionMethods algorithm) {
    return algorithm == S3AEncryptionMethods.CSE_KMS
        || algorithm == S3AEncryptionMethods.CSE_CUSTOM;
  }

  /**
   * Why objects must not be written to local disk: a user that encrypts them with a key of their
   * own trusts no disk with them. In words that end a sentence; null if there is no reason.
   */
  public static @Nullable String notForDisk(S3AEncryptionMethods algorithm, Configuration conf) {
    if (isInClient(algorithm) || algorithm == S3AEncryptionMethods.SSE_C) {
      return "objects are encrypted by " + algorithm.getMethod();
    }
    return conf.get(CUSTOM_HEADERS, "").toLowerCase(Locale.ROOT).contains(CUSTOMER_KEY_HEADERS)
        ? CUSTOM_HEADERS + " has keys of SSE-C"
        : null;
  }
}
