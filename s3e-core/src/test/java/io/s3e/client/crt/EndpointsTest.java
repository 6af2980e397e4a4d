// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.s3e.client.CredentialsSource;
import io.s3e.client.library.CrtSettings;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.endpoints.S3EndpointParams;
import software.amazon.awssdk.services.s3.endpoints.S3EndpointProvider;
import software.amazon.awssdk.utils.http.SdkHttpUtils;

/** Buckets answer where the rules of the AWS SDK say. */
class EndpointsTest {
  private static final S3EndpointProvider RULES = S3EndpointProvider.defaultProvider();

  private static final List<String> BUCKETS =
      List.of(
          "data",
          "a1-b2-c3",
          "abc",
          "ab",
          "a",
          "-abc",
          "abc-",
          "a--b",
          "xn--name",
          "data-s3alias",
          "dotted.name",
          "a.b",
          "a..b",
          "a.-b",
          "a-.b",
          ".ab",
          "ab.",
          "www.data.example.com",
          "1.2.3.4",
          "1234",
          "1.2.3",
          "300.400.500.600",
          "Under_Score",
          "UPPER",
          "with space",
          "a+b*c~d",
          "sixty-three-characters-are-the-most-that-a-bucket-s-name-may-ha",
          "sixty-four-characters-are-more-than-what-a-bucket-s-name-may-hav",
          "sixty.four.characters.are.more.than.what.a.bucket.s.name.may.hav");

  private static final List<String> ENDPOINTS =
      List.of(
          "http://127.0.0.1:9000",
          "https://127.0.0.1",
          "http://[::1]:9000",
          "http://localhost:8080",
          "https://store.example:8443",
          "http://store.example",
          "http://store.example/",
          "https://store.example/base",
          "http://store.example/base/",
          "http://store.example/a%20b/c",
          "https://s3.eu-west-1.amazonaws.com",
          "https://s3.amazonaws.com");

  @Test
  void awssOwnEndpointsAreThoseOfTheSdk() {
    List<Region> regions = new ArrayList<>(Region.regions());
    regions.removeIf(Region::isGlobalRegion);
    regions.add(Region.of("us-west-9"));
    regions.add(Region.of("nowhere"));
    assertThat(regions).hasSizeGreaterThan(30);
    for (Region region : regions) {
      for (boolean pathStyle : new boolean[] {false, true}) {
        for (boolean dualStack : new boolean[] {false, true}) {
          for (String bucket : BUCKETS) {
            assertSame(null, region.id(), pathStyle, dualStack, bucket);
          }
        }
      }
    }
  }

  /** Of a directory bucket; for others it makes no difference. */
  private static final CredentialsSource SESSIONS =
      new CredentialsSource() {
        @Override
        public Credentials resolve() {
          return new Credentials("id", "secret", "token", null);
        }

        @Override
        public String sessionsOf() {
          return "key";
        }
      };

  @Test
  void aDirectoryBucketWantsSessions() {
    URI store = URI.create("http://127.0.0.1:9000");
    for (CredentialsSource source : Arrays.asList(null, CredentialsSource.of("id", "secret"))) {
      assertThatThrownBy(
              () ->
                  Endpoints.of(
                      settings(store, "us-east-1", false, false, source),
                      "data--use1-az4--x-s3",
                      "us-east-1"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'data--use1-az4--x-s3'")
          .hasMessageContaining("sessions");
    }
  }

  @Test
  void aDirectoryBucketOfAwssIsInAZone() {
    assertThatThrownBy(
            () -> Endpoints.of(settings(null, "us-east-1", false, false), "a--x-s3", "us-east-1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("bucket is 'a--x-s3'; accepted is a name with a zone");
  }

  @Test
  void directoryBucketsAnswerInTheirZone() {
    for (String bucket : List.of("data--use1-az4--x-s3", "a--b--usw2-az1--x-s3")) {
      for (boolean pathStyle : new boolean[] {false, true}) {
        assertSame(null, "us-west-2", pathStyle, false, bucket);
        assertSame(null, "cn-north-1", pathStyle, false, bucket);
        assertSame(null, "us-west-2", pathStyle, true, bucket);
        for (String endpoint : ENDPOINTS) {
          assertSame(URI.create(endpoint), "us-east-1", pathStyle, false, bucket);
          assertSame(URI.create(endpoint), "us-east-1", pathStyle, false, "no-zone--x-s3");
        }
      }
    }
  }

  @Test
  void accessPointsAnswerWhereTheSdkWouldAsk() {
    for (String point : List.of("point/logs-2", "point:logs", "point/abc")) {
      for (String region : List.of("us-east-1", "eu-west-1")) {
        String arn = "arn:aws:s3:" + region + ":123456789012:access" + point;
        assertSame(null, region, false, false, arn);
        assertSame(null, region, false, true, arn);
        // S3A's own endpoint of an access point, among others.
        String own = "https://s3-accesspoint." + region + ".amazonaws.com";
        assertSame(URI.create(own), region, false, false, arn);
        for (String endpoint : ENDPOINTS) {
          // The SDK's own rules make no URI of an address of IPv6.
          if (!endpoint.contains("[")) {
            assertSame(URI.create(endpoint), region, false, false, arn);
          }
        }
      }
    }
    String china = "arn:aws-cn:s3:cn-north-1:123456789012:accesspoint/logs";
    assertSame(null, "cn-north-1", false, false, china);
  }

  /** Elsewhere it would be signed for the wrong region, or in another way. */
  @ParameterizedTest
  @CsvSource({
    "arn:aws:s3:eu-west-1:123456789012:accesspoint/logs, us-east-1, false",
    "arn:aws:s3:us-east-1:123456789012:accesspoint/logs, us-east-1, true",
    "arn:aws:s3::123456789012:accesspoint/abcdef.mrap, us-east-1, false",
    "arn:aws:s3-object-lambda:us-east-1:123456789012:accesspoint/logs, us-east-1, false",
    "arn:aws:s3-outposts:us-east-1:123456789012:outpost/o-1/accesspoint/logs, us-east-1, false",
    "arn:aws:s3:us-east-1:123456789012:accesspoint/logs/more, us-east-1, false",
    "arn:aws:s3:us-east-1:1:accesspoint/logs, us-east-1, false",
  })
  void otherAccessPointsAreRefused(String arn, String region, boolean pathStyle) {
    assertThatThrownBy(() -> Endpoints.of(settings(null, region, pathStyle, false), arn, region))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bucket is '" + arn + "'")
        .hasMessageContaining("the ARN of an access point in " + region);
  }

  @Test
  void otherStoresAnswerWhereTheSdkWouldAsk() {
    for (String endpoint : ENDPOINTS) {
      for (boolean pathStyle : new boolean[] {false, true}) {
        for (String bucket : BUCKETS) {
          if (!isNameAndAddress(bucket, endpoint)) {
            assertSame(URI.create(endpoint), "us-east-1", pathStyle, false, bucket);
          }
        }
      }
    }
  }

  /** Of these the SDK makes a name that no server has: {@code a.b.127.0.0.1}. */
  private static boolean isNameAndAddress(String bucket, String endpoint) {
    return bucket.contains(".") && endpoint.matches("http://(127|\\[).*");
  }

  @Test
  void aNameWithDotsIsNotPutBeforeAnAddress() {
    URI store = URI.create("http://127.0.0.1:9000");
    assertThat(Endpoints.of(settings(store, "us-east-1", false, false), "a.b", "us-east-1"))
        .isEqualTo(URI.create("http://127.0.0.1:9000/a.b"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "evil.example", "a/b", "eu-west-1#", "-eu", "eu west", "ü"})
  void aRegionThatIsNoLabelOfAHostIsRefused(String region) {
    assertThatThrownBy(() -> Endpoints.of(settings(null, region, false, false), "data", region))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("region is '" + region + "'; accepted is a region's name");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "arn:aws:s3:eu-west-1:123456789012:accesspoint/mine",
        "data--use1-az4--xa-s3",
        "test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3",
        "my-object-lambda-acc-1a4n8yjrb3kda96f67zwrwiiuse1a--ol-s3"
      })
  void anAccessPointIsLeftToTheSdk(String bucket) {
    assertThatThrownBy(
            () -> Endpoints.of(settings(null, "us-east-1", false, false), bucket, "us-east-1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + bucket + "'");
  }

  @Test
  void dualStackIsAwssAlone() {
    URI store = URI.create("https://store.example");
    assertThatThrownBy(
            () -> Endpoints.of(settings(store, "us-east-1", false, true), "data", "us-east-1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("dualStack is 'true'");
  }

  @ParameterizedTest
  @CsvSource({"a b+c*~", "é~€", "a/b?c=d&e", "(!')$@:;,", "%2F%7E", "😀"})
  void textIsEncodedAsTheSdkDoes(String text) {
    assertThat(Endpoints.encoded(text)).isEqualTo(SdkHttpUtils.urlEncode(text));
  }

  private static void assertSame(
      URI endpoint, String region, boolean pathStyle, boolean dualStack, String bucket) {
    CrtSettings settings = settings(endpoint, region, pathStyle, dualStack);
    assertThat(withoutSlash(Endpoints.of(settings, bucket, region)))
        .as("%s in %s of %s, path style %s", bucket, region, endpoint, pathStyle)
        .isEqualTo(withoutSlash(byRules(endpoint, region, pathStyle, dualStack, bucket)));
  }

  private static String withoutSlash(URI url) {
    return url.toString().replaceFirst("/+$", "");
  }

  private static URI byRules(
      URI endpoint, String region, boolean pathStyle, boolean dualStack, String bucket) {
    return RULES
        .resolveEndpoint(
            S3EndpointParams.builder()
                .bucket(bucket)
                .region(Region.of(region))
                .forcePathStyle(pathStyle)
                .useDualStack(dualStack)
                .endpoint(endpoint == null ? null : endpoint.toString())
                .build())
        .join()
        .url();
  }

  private static CrtSettings settings(
      URI endpoint, String region, boolean pathStyle, boolean dualStack) {
    return settings(endpoint, region, pathStyle, dualStack, SESSIONS);
  }

  private static CrtSettings settings(
      URI endpoint,
      String region,
      boolean pathStyle,
      boolean dualStack,
      CredentialsSource credentials) {
    Duration second = Duration.ofSeconds(1);
    return new CrtSettings(
        endpoint,
        region,
        pathStyle,
        dualStack,
        true,
        credentials,
        10,
        0,
        second,
        second,
        second,
        List.of(),
        "test",
        Map.of(),
        true);
  }
}
