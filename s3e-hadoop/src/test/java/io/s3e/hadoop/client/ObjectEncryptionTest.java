// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ObjectEncryptionTest {
  @ParameterizedTest
  @CsvSource({
    ", false",
    "CSE-KMS, true",
    "CSE-CUSTOM, true",
    "SSE-C, false",
    "SSE-KMS, false",
    "AES256, false"
  })
  void encryptionInTheClientIsTold(String algorithm, boolean inClient) {
    Configuration conf = new Configuration(false);
    if (algorithm != null) {
      conf.set("fs.s3a.encryption.algorithm", algorithm);
    }
    assertThat(ObjectEncryption.isInClient(conf)).isEqualTo(inClient);
  }
}
