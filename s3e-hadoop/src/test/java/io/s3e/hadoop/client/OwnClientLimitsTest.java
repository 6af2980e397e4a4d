package io.s3e.hadoop.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.hadoop.conf.AdapterConfig;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OwnClientLimitsTest {
  private final Configuration conf = new Configuration(false);

  @Test
  void anOrdinaryBucketHasNoReason() {
    assertThat(OwnClientLimits.reason(conf, "logs")).isNull();
    assertThat(OwnClientLimits.encryptsInClient(conf)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "fs.s3a.endpoint.fips, true",
    "fs.s3a.access.grants.enabled, true",
    "fs.s3a.http.signer.enabled, true",
    "fs.s3a.custom.signers, 'Mine:org.example.Signer'",
    "fs.s3a.signing-algorithm, Mine",
    "fs.s3a.s3.signing-algorithm, Mine",
    "fs.s3a.proxy.host, proxy.example.org",
    "fs.s3a.audit.execution.interceptors, org.example.Interceptor",
    "fs.s3a.audit.request.handlers, org.example.Handler",
    "fs.s3a.s3.client.factory.impl, io.s3e.hadoop.client.OwnClientLimitsTest$OtherFactory",
  })
  void whatOnlyS3AsClientCarriesIsNamed(String key, String value) {
    conf.set(key, value);
    assertThat(OwnClientLimits.reason(conf, "logs")).startsWith(key + " is");
  }

  @Test
  void bucketsOfOtherKindsAreNamed() {
    assertThat(OwnClientLimits.reason(conf, "fast--use1-az4--x-s3")).contains("S3 Express");
    assertThat(OwnClientLimits.reason(conf, "arn:aws:s3:eu-west-1:1:accesspoint/a"))
        .contains("access point");
    conf.set("fs.s3a.bucket.logs.accesspoint.arn", "arn:aws:s3:eu-west-1:1:accesspoint/a");
    assertThat(OwnClientLimits.reason(conf, "logs")).contains("access point");
  }

  @ParameterizedTest
  @CsvSource({
    "CSE-KMS, true",
    "CSE-CUSTOM, true",
    "SSE-C, false",
    "SSE-KMS, false",
    "AES256, false"
  })
  void encryptionInTheClientIsTold(String algorithm, boolean inClient) {
    conf.set("fs.s3a.encryption.algorithm", algorithm);
    assertThat(OwnClientLimits.encryptsInClient(conf)).isEqualTo(inClient);
  }

  @Test
  void aJavaTrustStoreIsNotForTheCrt() {
    AdapterConfig system = AdapterConfig.read(conf, "logs");
    conf.set("fs.s3a.s3e.tls.ca.file", "/etc/ca.pem");
    AdapterConfig ownFile = AdapterConfig.read(conf, "logs");
    assertThat(OwnClientLimits.crtTrust(system)).isNull();
    assertThat(OwnClientLimits.sdkAsyncTrust(system)).isNull();
    assertThat(OwnClientLimits.crtTrust(ownFile)).isNull();
    assertThat(OwnClientLimits.sdkAsyncTrust(ownFile)).contains("fs.s3a.s3e.tls.ca.file is set");
    System.setProperty("javax.net.ssl.trustStore", "/etc/trust.jks");
    try {
      assertThat(OwnClientLimits.crtTrust(system)).contains("javax.net.ssl.trustStore is set");
      assertThat(OwnClientLimits.crtTrust(ownFile)).isNull();
      assertThat(OwnClientLimits.sdkAsyncTrust(system)).contains("javax.net.ssl.trustStore is set");
    } finally {
      System.clearProperty("javax.net.ssl.trustStore");
    }
  }

  /** Somebody's own. */
  public static final class OtherFactory extends org.apache.hadoop.fs.s3a.DefaultS3ClientFactory {}
}
