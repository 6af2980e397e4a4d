// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.disk.CacheKey;
import io.s3e.disk.DiskCacheConfig.Scope;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.Base64;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.alias.CredentialProvider;
import org.apache.hadoop.security.alias.CredentialProviderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheSecretTest {
  private static final String KEY = "fs.s3a.s3e.cache.key";
  private static final String SECRET = Base64.getEncoder().encodeToString(new byte[32]);

  private final Configuration conf = new Configuration(false);

  private static CacheKey inApp(Credentials credentials) throws Exception {
    UserGroupInformation user = UserGroupInformation.createRemoteUser("cache-secret-test");
    user.addCredentials(credentials);
    return user.doAs(
        (PrivilegedExceptionAction<CacheKey>)
            () -> CacheSecret.find(Scope.APP, new Configuration(false), "logs"));
  }

  @Test
  void theSubmittersSecretIsFoundByTheProcessesOfTheApplication() throws Exception {
    Credentials credentials = new Credentials();
    CacheSecret.addTo(credentials);
    byte[] secret = credentials.getSecretKey(new Text("s3e.cache.key"));
    assertThat(secret).hasSize(32);
    CacheSecret.addTo(credentials);
    assertThat(credentials.getSecretKey(new Text("s3e.cache.key"))).isEqualTo(secret);
    assertThat(inApp(credentials)).isNotNull();
  }

  @Test
  void twoApplicationsHaveTwoSecrets() {
    Credentials one = new Credentials();
    Credentials other = new Credentials();
    CacheSecret.addTo(one);
    CacheSecret.addTo(other);
    Text alias = new Text(CacheSecret.ALIAS);
    assertThat(one.getSecretKey(alias)).isNotEqualTo(other.getSecretKey(alias));
  }

  @Test
  void anApplicationWithoutItIsToldHowToGetIt() {
    assertThatThrownBy(() -> inApp(new Credentials()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("fs.s3a.s3e.cache.encryption")
        .hasMessageContaining("s3e.cache.key")
        .hasMessageContaining("CacheSecret.addTo(job.getCredentials())");
  }

  @Test
  void aSecretOfAnotherLengthIsRefusedWithoutShowingIt() {
    Credentials credentials = new Credentials();
    credentials.addSecretKey(new Text("s3e.cache.key"), "sesame".getBytes());
    assertThatThrownBy(() -> inApp(credentials))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has 6 bytes: expected 32 bytes")
        .hasMessageNotContaining("sesame");
  }

  @Test
  void theHostsSecretComesFromTheConfiguration() {
    conf.set(KEY, SECRET);
    assertThat(CacheSecret.find(Scope.HOST, conf, "logs")).hasToString("CacheKey");
    assertThat(CacheSecret.find(Scope.HOST, conf, null)).isNotNull();
  }

  @Test
  void theHostsSecretComesFromACredentialProviderForOneBucketToo(@TempDir Path temp)
      throws Exception {
    conf.set("hadoop.security.credential.provider.path", "jceks://file" + temp + "/keys.jceks");
    CredentialProvider provider = CredentialProviderFactory.getProviders(conf).get(0);
    provider.createCredentialEntry("fs.s3a.bucket.logs.s3e.cache.key", SECRET.toCharArray());
    provider.flush();
    assertThat(CacheSecret.find(Scope.HOST, conf, "logs")).isNotNull();
    assertThatThrownBy(() -> CacheSecret.find(Scope.HOST, conf, "others"))
        .hasMessageContaining(KEY + " is not set");
  }

  @Test
  void aHostWithoutItOrWithAnotherThingIsToldWhatIsExpected() {
    assertThatThrownBy(() -> CacheSecret.find(Scope.HOST, conf, "logs"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(KEY + " is not set: expected 32 bytes in Base64");
    conf.set(KEY, "open!sesame");
    assertThatThrownBy(() -> CacheSecret.find(Scope.HOST, conf, "logs"))
        .hasMessageContaining(KEY + " is not Base64")
        .hasNoCause()
        .hasMessageNotContaining("sesame");
    conf.set(KEY, "c2VzYW1l");
    assertThatThrownBy(() -> CacheSecret.find(Scope.HOST, conf, "logs"))
        .hasMessageContaining(KEY + " has 6 bytes: expected 32 bytes")
        .hasMessageNotContaining("c2VzYW1l");
  }
}
