// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.hadoop.conf.AdapterConfig;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AEncryptionMethods;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.security.alias.CredentialProvider;
import org.apache.hadoop.security.alias.CredentialProviderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ObjectEncryptionTest {
  private static final String ALGORITHM = "fs.s3a.encryption.algorithm";
  private static final String PROVIDERS = "hadoop.security.credential.provider.path";
  private static final String PROVIDERS_OF_S3A = "fs.s3a.security.credential.provider.path";

  @TempDir Path temp;
  private final Configuration conf = new Configuration(false);

  private StreamChoice choice(String bucket) throws IOException {
    Configuration merged = S3AUtils.propagateBucketOptions(conf, bucket);
    return StreamChoice.of(AdapterConfig.read(merged, bucket), bucket, merged);
  }

  /** Under {@code file}, whose URI comes back. */
  private String stored(String file, String name, String value) throws Exception {
    String uri = "localjceks://file" + temp.resolve(file);
    Configuration own = new Configuration(false);
    own.set(PROVIDERS, uri);
    CredentialProvider provider = CredentialProviderFactory.getProviders(own).get(0);
    provider.createCredentialEntry(name, value.toCharArray());
    provider.flush();
    return uri;
  }

  @ParameterizedTest
  @CsvSource({
    "CSE-KMS, a-key, S3A_FOR_ENCRYPTION",
    "cse-kms, a-key, S3A_FOR_ENCRYPTION",
    "CSE-CUSTOM, a-keyring, S3A_FOR_ENCRYPTION",
    "SSE-C, a-key, S3E",
    "SSE-KMS, a-key, S3E",
    "AES256, '', S3E",
    "'', '', S3E"
  })
  void encryptionInTheClientIsTold(String algorithm, String key, StreamChoice choice)
      throws IOException {
    conf.set("fs.s3a.encryption.key", key);
    assertThat(choice("b")).isEqualTo(StreamChoice.S3E);
    conf.set(ALGORITHM, algorithm);
    assertThat(choice("b")).isEqualTo(choice);
    conf.unset(ALGORITHM);
    conf.set("fs.s3a.server-side-encryption-algorithm", algorithm);
    assertThat(choice("b")).isEqualTo(choice);
  }

  @ParameterizedTest
  @CsvSource({
    PROVIDERS + ", " + ALGORITHM,
    PROVIDERS + ", fs.s3a.server-side-encryption-algorithm",
    PROVIDERS_OF_S3A + ", " + ALGORITHM,
  })
  void anAlgorithmInACredentialProviderHoldsForAllBuckets(String providers, String name)
      throws Exception {
    conf.set(providers, stored("all.jceks", name, "CSE-KMS"));
    conf.set("fs.s3a.encryption.key", "a-key");
    assertThat(choice("b")).isEqualTo(StreamChoice.S3A_FOR_ENCRYPTION);
    assertThat(choice("c")).isEqualTo(StreamChoice.S3A_FOR_ENCRYPTION);
    conf.setBoolean("fs.s3a.s3e.enabled", false);
    assertThat(choice("b")).isEqualTo(StreamChoice.S3A_BY_SETTING);
  }

  @ParameterizedTest
  @CsvSource({
    PROVIDERS + ", fs.s3a.bucket.b.encryption.algorithm",
    PROVIDERS + ", fs.s3a.bucket.b." + ALGORITHM,
    PROVIDERS_OF_S3A + ", fs.s3a.bucket.b.encryption.algorithm",
    PROVIDERS_OF_S3A + ", fs.s3a.bucket.b." + ALGORITHM,
    "fs.s3a.bucket.b.security.credential.provider.path, " + ALGORITHM,
  })
  void anAlgorithmInACredentialProviderHoldsForItsBucketAlone(String providers, String name)
      throws Exception {
    conf.set(providers, stored("one.jceks", name, "CSE-CUSTOM"));
    conf.set("fs.s3a.encryption.key", "a-keyring");
    assertThat(choice("b")).isEqualTo(StreamChoice.S3A_FOR_ENCRYPTION);
    assertThat(choice("c")).isEqualTo(StreamChoice.S3E);
  }

  @Test
  void theProvidersOfHadoopAreAskedBesideThoseOfS3A() throws Exception {
    conf.set(PROVIDERS_OF_S3A, stored("other.jceks", "fs.s3a.access.key", "an-id"));
    conf.set(PROVIDERS, stored("all.jceks", ALGORITHM, "CSE-KMS"));
    conf.set("fs.s3a.encryption.key", "a-key");
    assertThat(choice("b")).isEqualTo(StreamChoice.S3A_FOR_ENCRYPTION);
  }

  @Test
  void theLongFormOfABucketsKeyCounts() throws IOException {
    conf.set("fs.s3a.bucket.b." + ALGORITHM, "CSE-KMS");
    conf.set("fs.s3a.encryption.key", "a-key");
    assertThat(choice("b")).isEqualTo(StreamChoice.S3A_FOR_ENCRYPTION);
    assertThat(choice("c")).isEqualTo(StreamChoice.S3E);
  }

  @Test
  void whatS3ADoesNotAcceptIsItsError() {
    conf.set(ALGORITHM, "ROT13");
    assertThatThrownBy(() -> choice("b"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("ROT13");
  }

  @Test
  void whatIsEncryptedByTheUserIsNotForDisk() {
    assertThat(ObjectEncryption.notForDisk(S3AEncryptionMethods.NONE, conf)).isNull();
    assertThat(ObjectEncryption.notForDisk(S3AEncryptionMethods.SSE_KMS, conf)).isNull();
    assertThat(ObjectEncryption.notForDisk(S3AEncryptionMethods.SSE_C, conf))
        .isEqualTo("objects are encrypted by SSE-C");
    assertThat(ObjectEncryption.notForDisk(S3AEncryptionMethods.CSE_KMS, conf))
        .isEqualTo("objects are encrypted by CSE-KMS");
    conf.set("fs.s3a.client.s3.custom.headers", "X-Amz-Server-Side-Encryption-Customer-Key=k");
    assertThat(ObjectEncryption.notForDisk(S3AEncryptionMethods.SSE_KMS, conf))
        .isEqualTo("fs.s3a.client.s3.custom.headers has keys of SSE-C");
  }
}
