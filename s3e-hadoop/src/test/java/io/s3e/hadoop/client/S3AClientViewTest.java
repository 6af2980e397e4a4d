// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.client.aws.AwsClientSettings;
import io.s3e.hadoop.conf.AdapterConfig;
import java.lang.reflect.Method;
import java.net.URI;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.client.config.SdkAdvancedClientOption;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.S3ServiceClientConfiguration;

class S3AClientViewTest {
  private final Configuration conf = new Configuration(false);
  private final Map<String, String> properties = new HashMap<>();

  @AfterEach
  void clearProperties() {
    properties.keySet().forEach(System::clearProperty);
  }

  @Test
  void anOrdinaryBucketHasNoReason() {
    assertThat(view("logs").reasonAgainstOwn()).isNull();
    conf.set(
        "fs.s3a.audit.service.classname", "org.apache.hadoop.fs.s3a.audit.impl.LoggingAuditor");
    assertThat(view("logs").reasonAgainstOwn()).isNull();
    conf.set("fs.s3a.audit.enabled", "false");
    conf.set("fs.s3a.audit.service.classname", "org.example.NeverMade");
    assertThat(view("logs", b -> b.endpointOverride(URI.create("http://store:9000"))))
        .extracting(S3AClientView::reasonAgainstOwn)
        .isNull();
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
    "fs.s3a.audit.service.classname, org.example.RefusingAuditor",
    "fs.s3a.audit.execution.interceptors, org.example.Interceptor",
    "fs.s3a.audit.request.handlers, org.example.Handler",
    "fs.s3a.s3.client.factory.impl, io.s3e.hadoop.client.S3AClientViewTest$OtherFactory",
  })
  void whatOnlyS3AsClientCarriesIsNamed(String key, String value) {
    conf.set(key, value);
    assertThat(view("logs").reasonAgainstOwn()).startsWith(key + " is " + value);
  }

  /** Other ones are signed in other ways, or answer elsewhere. */
  @Test
  void anAccessPointOfAnotherKindIsNamed() {
    for (String other :
        List.of(
            "point--use1-az4--xa-s3",
            "test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3",
            "my-object-lambda-acc-1a4n8yjrb3kda96f67zwrwiiuse1a--ol-s3",
            "arn:aws:s3-object-lambda:eu-west-1:123456789012:accesspoint/a",
            "arn:aws:s3-outposts:eu-west-1:123456789012:outpost/op-01/accesspoint/a")) {
      assertThat(view(other).reasonAgainstOwn()).contains("access point");
    }
    assertThat(view("arn:aws:s3:eu-west-1:123456789012:accesspoint/a").reasonAgainstOwn()).isNull();
  }

  @Test
  void aDirectoryBucketWithoutSessionsIsNamed() {
    S3AClientView view = view("fast--use1-az4--x-s3");
    assertThat(view.reasonAgainstOwn()).isNull();
    conf.set("fs.s3a.s3express.create.session", "false");
    assertThat(view.reasonAgainstOwn()).isEqualTo("fs.s3a.s3express.create.session is false");
  }

  @Test
  void interceptorsOfSomebodysOwnAreNamed() {
    String reason =
        view("logs", b -> b.overrideConfiguration(o -> o.addExecutionInterceptor(new Foreign())))
            .reasonAgainstOwn();
    assertThat(reason).isEqualTo("it has the interceptor " + Foreign.class.getName());
  }

  @ParameterizedTest
  @CsvSource({
    "javax.net.ssl.keyStore, /k.p12",
    "socksProxyHost, socks.example.org",
    "http.proxyHost, proxy.example.org",
  })
  void propertiesOfTheJvmAreNamed(String name, String value) {
    property(name, value);
    property("http.proxyPort", "3128");
    assertThat(view("logs").reasonAgainstOwn()).startsWith(name + " is " + value);
  }

  @Test
  void aTrustStoreOfTheJvmIsNoReason() {
    property("javax.net.ssl.trustStore", "/t.p12");
    assertThat(view("logs").reasonAgainstOwn()).isNull();
  }

  @Test
  void keyStoresMatterToTlsOnly() {
    property("javax.net.ssl.keyStore", "/k.p12");
    assertThat(
            view("logs", b -> b.endpointOverride(URI.create("http://store:9000")))
                .reasonAgainstOwn())
        .isNull();
  }

  @ParameterizedTest
  @CsvSource({
    // nonProxyHosts, endpoint, proxied
    "*.amazonaws.com, , false",
    "'localhost|*.amazonaws.com', , false",
    "*.eu-west-1.amazonaws.com, , true", // the bucket may be in another region
    "*.example.org, , true",
    "store, http://store:9000, true", // the bucket goes into the host's name
    "*.store, http://store:9000, false",
    "127.*, http://127.0.0.1:9000, false",
    "localhost, http://127.0.0.1:9000, true",
  })
  void aProxyDoesNotMatterToHostsThatItIsNotFor(String except, URI endpoint, boolean proxied) {
    property("http.proxyHost", "proxy");
    property("http.proxyPort", "3128");
    property("http.nonProxyHosts", except);
    String reason = view("logs", b -> b.endpointOverride(endpoint)).reasonAgainstOwn();
    assertThat(reason).isEqualTo(proxied ? "http.proxyHost is proxy:3128" : null);
  }

  /** S3A's HTTP client looks at http.proxyHost alone, whatever the endpoint's scheme. */
  @Test
  void aProxyThatS3AsClientDoesNotTakeIsNotOurs() {
    property("https.proxyHost", "proxy");
    property("https.proxyPort", "3128");
    assertThat(view("logs").reasonAgainstOwn()).isNull();
  }

  @Test
  void theSettingsAreThoseOfS3AsClient() {
    conf.set("fs.s3a.path.style.access", "true");
    AwsClientSettings settings =
        view(
                "logs",
                b ->
                    b.overrideConfiguration(
                        o ->
                            o.putHeader("x-amz-request-payer", "requester")
                                .putAdvancedOption(
                                    SdkAdvancedClientOption.USER_AGENT_PREFIX, "me, Hadoop")
                                .putAdvancedOption(
                                    SdkAdvancedClientOption.USER_AGENT_SUFFIX, "dt")))
            .settings(() -> null, true);
    assertThat(settings.region()).isEqualTo("eu-west-1");
    assertThat(settings.followRegion()).isTrue();
    assertThat(settings.pathStyle()).isTrue();
    assertThat(settings.dualStack()).isFalse();
    assertThat(settings.anonymous()).isTrue();
    assertThat(settings.headers()).containsEntry("x-amz-request-payer", "requester");
    assertThat(settings.userAgentPrefix()).isEqualTo("me, Hadoop");
    assertThat(settings.userAgentSuffix()).isEqualTo("dt");
    assertThat(
            view("logs", b -> b.crossRegionAccessEnabled(false))
                .settings(() -> null, true)
                .followRegion())
        .isFalse();
  }

  @Test
  void dualStackIsFoundAsTheSdkFindsIt() {
    property("aws.useDualstackEndpoint", "true");
    S3AClientView view = view("logs");
    assertThat(view.settings(() -> null, true).dualStack()).isTrue();
    assertThat(view.reasonAgainstOwn()).isNull();
  }

  /** A setting that a newer SDK has, and that nobody here has thought of, fails this test. */
  @Test
  void everySettingOfTheSdksClientIsAccountedFor() {
    assertThat(getters(S3ServiceClientConfiguration.class))
        .isSubsetOf(
            // carried over by settings()
            "region",
            "endpointOverride",
            "credentialsProvider",
            "crossRegionAccessEnabled",
            // traits
            "overrideConfiguration",
            "endpointProvider",
            "authSchemes",
            // of S3 Express and access grants, which are traits
            "authSchemeProvider",
            // ranges have no checksums
            "requestChecksumCalculation",
            "responseChecksumValidation");
    assertThat(getters(ClientOverrideConfiguration.class))
        .isSubsetOf(
            // carried over by settings()
            "headers",
            // traits; a user agent is an advanced option too
            "executionInterceptors",
            // the engine's own, by keys of S3E's
            "retryPolicy",
            "retryMode",
            "retryStrategy",
            "retryStrategyConfigurator",
            "apiCallTimeout",
            "apiCallAttemptTimeout",
            // of no bearing on what is read
            "metricPublishers",
            "scheduledExecutorService",
            "compressionConfiguration",
            "executionAttributes",
            "defaultProfileFile",
            "defaultProfileFileSupplier",
            "defaultProfileName",
            "appId");
  }

  private static Set<String> getters(Class<?> type) {
    return Arrays.stream(type.getMethods())
        .filter(method -> method.getParameterCount() == 0)
        .filter(method -> method.getDeclaringClass() != Object.class)
        .map(Method::getName)
        .filter(name -> !List.of("toBuilder", "builder", "toString", "hashCode").contains(name))
        .collect(java.util.stream.Collectors.toSet());
  }

  private void property(String name, String value) {
    properties.put(name, value);
    System.setProperty(name, value);
  }

  private S3AClientView view(String bucket) {
    return view(bucket, b -> {});
  }

  private S3AClientView view(String bucket, Consumer<S3ClientBuilder> change) {
    try (S3Client client = built(change)) {
      return new S3AClientView(S3AFacts.of(client, conf, bucket, AdapterConfig.read(conf, bucket)));
    }
  }

  private static S3Client built(Consumer<S3ClientBuilder> change) {
    S3ClientBuilder builder =
        S3Client.builder()
            .region(Region.EU_WEST_1)
            .credentialsProvider(AnonymousCredentialsProvider.create())
            .crossRegionAccessEnabled(true);
    change.accept(builder);
    return builder.build();
  }

  /** Does nothing. */
  private static final class Foreign implements ExecutionInterceptor {}

  /** Somebody's own. */
  public static final class OtherFactory extends org.apache.hadoop.fs.s3a.DefaultS3ClientFactory {}
}
