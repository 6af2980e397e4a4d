// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.client;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.conf.AdapterConfig;
import java.io.IOException;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.Constants;
import org.apache.hadoop.fs.s3a.impl.AWSClientConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.http.apache.ProxyConfiguration;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ServiceClientConfiguration;

/**
 * S3A's client for one bucket, and the settings that it was built from: all that {@link S3ATraits}
 * are read from.
 *
 * @param built what S3A's client says of itself
 * @param followsRegions whether S3A's client reads buckets of other regions
 * @param store where S3A's client sends requests for the bucket: scheme, host and port
 * @param conf with the bucket's own settings in place
 */
record S3AFacts(
    S3ServiceClientConfiguration built,
    boolean followsRegions,
    URI store,
    Configuration conf,
    String bucket,
    AdapterConfig config) {
  private static final Logger LOG = LoggerFactory.getLogger(S3AFacts.class);

  /** The SDK's wrapper that follows buckets; newer versions alone have a getter for it. */
  private static final String FOLLOWER = "S3CrossRegionSyncClient";

  /** The SDK's own classes, S3A's, and those of OpenTelemetry's agent and of Datadog's. */
  private static final List<String> KNOWN =
      List.of(
          "software.amazon.awssdk.",
          "org.apache.hadoop.fs.s3a.",
          "io.opentelemetry.",
          "datadog.trace.");

  private static final String OTHER_REGION = "another-region-1";

  static S3AFacts of(S3Client client, Configuration conf, String bucket, AdapterConfig config) {
    return new S3AFacts(
        client.serviceClientConfiguration(),
        client.getClass().getSimpleName().equals(FOLLOWER),
        store(client, bucket),
        conf,
        bucket,
        config);
  }

  /** The SDK's own answer: it knows dual-stack from system properties, environment, profile. */
  private static URI store(S3Client client, String bucket) {
    URL url = client.utilities().getUrl(request -> request.bucket(bucket).key("key"));
    try {
      return new URI(url.getProtocol(), null, url.getHost(), url.getPort(), null, null, null);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("S3A's client reads from " + url, e);
    }
  }

  /** Null if S3A's client knows none. */
  @Nullable String region() {
    return built.region() == null ? null : built.region().id();
  }

  boolean isTls() {
    return "https".equalsIgnoreCase(store.getScheme());
  }

  /** Only the endpoints of AWS have such names. */
  boolean isDualStack() {
    return built.endpointOverride().isEmpty() && store.getHost().contains(".dualstack.");
  }

  /**
   * Whether it is a bucket of S3 Express One Zone, by its name, as the SDK knows it: its requests
   * are signed by a session.
   */
  boolean isDirectoryBucket() {
    return ObjectRef.isDirectory(bucket);
  }

  /**
   * Whether the bucket is an access point of Outposts, Object Lambda, S3 Express or several
   * regions. S3A takes the ARN that is set for a bucket for its name.
   */
  boolean isOtherPoint() {
    boolean isArn = bucket.startsWith("arn:");
    return ObjectRef.isOtherPoint(bucket)
        || (isArn && !store.getHost().contains(".s3-accesspoint."));
  }

  boolean isSet(String key) {
    return !conf.getTrimmed(key, "").isEmpty();
  }

  @Nullable String isSetTo(String key) {
    return isSet(key) ? key + " is " + conf.getTrimmed(key) : null;
  }

  @Nullable String isTrue(String key) {
    return conf.getBoolean(key, false) ? key + " is true" : null;
  }

  static @Nullable String property(String name) {
    String value = System.getProperty(name);
    return value == null ? null : name + " is " + value;
  }

  /**
   * The HTTP proxy between S3A's client and the bucket, as the SDK resolves it: {@code
   * fs.s3a.proxy.*}, else system properties, else the environment, each with its exceptions. Null
   * if there is none.
   */
  @Nullable String httpProxy() {
    ProxyConfiguration proxy;
    try {
      proxy = AWSClientConfig.createProxyConfiguration(conf, bucket);
    } catch (IOException | IllegalArgumentException e) {
      LOG.debug("The proxy's settings cannot be read", e);
      return Constants.PROXY_HOST + " cannot be used: " + e.getMessage();
    }
    if (proxy.host() == null || proxy.port() <= 0 || isExcepted(proxy)) {
      return null;
    }
    String address = proxy.host() + ":" + proxy.port();
    if (isSet(Constants.PROXY_HOST)) {
      return Constants.PROXY_HOST + " is " + address;
    }
    return System.getProperty("http.proxyHost") != null
        ? "http.proxyHost is " + address
        : "HTTP_PROXY is " + address;
  }

  /** As the SDK's route planner does it; a bucket may also turn out to be in another region. */
  private boolean isExcepted(ProxyConfiguration proxy) {
    String host = store.getHost().toLowerCase(Locale.ROOT);
    String region = region();
    String abroad =
        followsRegions && built.endpointOverride().isEmpty() && region != null
            ? host.replace(region, OTHER_REGION)
            : host;
    return List.of(host, abroad).stream()
        .allMatch(name -> proxy.nonProxyHosts().stream().anyMatch(name::matches));
  }

  /** The SOCKS proxy that Java's sockets would take; null if none. */
  @Nullable String socksProxy() {
    ProxySelector selector = ProxySelector.getDefault();
    if (selector == null) {
      return null;
    }
    int port = store.getPort() > 0 ? store.getPort() : isTls() ? 443 : 80;
    for (Proxy proxy : selector.select(URI.create("socket://" + store.getHost() + ":" + port))) {
      if (proxy.type() == Proxy.Type.SOCKS) {
        String property = property("socksProxyHost");
        return property != null ? property : "the proxy is " + proxy;
      }
    }
    return null;
  }

  /**
   * The first of these classes that is neither S3A's nor the SDK's own, with {@code words} before
   * its name; null if none. The agents that trace a JVM put interceptors into each client of the
   * SDK, which change nothing of what is read: S3E's own GETs are spans where {@code
   * fs.s3a.s3e.explain} says so.
   */
  static @Nullable String foreign(String words, Iterable<?> objects) {
    for (Object object : objects) {
      String name = object.getClass().getName();
      if (KNOWN.stream().noneMatch(name::startsWith)) {
        return words + name;
      }
    }
    return null;
  }
}
