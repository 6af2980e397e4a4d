// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.aws;

import io.s3e.client.CredentialsSource;
import io.s3e.jvm.HostSizing;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How S3E's clients reach a store. Immutable and checked; made by {@link #builder()}. Every message
 * of a bad value names the setting, the value and what is accepted. Each accessor returns what the
 * builder's method of that name has set; {@link #headers} all that {@link Builder#header} has.
 */
public final class AwsClientSettings {
  private static final double MAX_GBPS = 1000;
  private static final int MAX_CONNECTIONS = 4096;
  private static final Duration LONGEST = Duration.ofHours(1);

  /** Nobody else has it. */
  private final Builder values;

  private AwsClientSettings(Builder values) {
    this.values = values.copy();
  }

  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from these settings. */
  public Builder toBuilder() {
    return values.copy();
  }

  public @Nullable URI endpoint() {
    return values.endpoint;
  }

  public @Nullable String region() {
    return values.region;
  }

  public boolean pathStyle() {
    return values.pathStyle;
  }

  public boolean dualStack() {
    return values.dualStack;
  }

  public boolean followRegion() {
    return values.followRegion;
  }

  public @Nullable CredentialsSource credentials() {
    return values.credentials;
  }

  public boolean anonymous() {
    return values.anonymous;
  }

  public double targetGbps() {
    return values.targetGbps;
  }

  public int maxConnections() {
    Integer told = values.maxConnections;
    return told == null ? HostSizing.connections(values.targetGbps) : told;
  }

  public Duration connectTimeout() {
    return values.connectTimeout;
  }

  public Duration requestTimeout() {
    return values.requestTimeout;
  }

  public Duration stallTimeout() {
    return values.stallTimeout;
  }

  public @Nullable Path caFile() {
    return values.caFile;
  }

  public String userAgentPrefix() {
    return values.userAgentPrefix;
  }

  public String userAgentSuffix() {
    return values.userAgentSuffix;
  }

  public Map<String, String> headers() {
    return Map.copyOf(values.headers);
  }

  /** Collects settings; each setter checks its value and throws IllegalArgumentException. */
  public static final class Builder implements Cloneable {
    private @Nullable URI endpoint;
    private @Nullable String region;
    private boolean pathStyle;
    private boolean dualStack;
    private boolean followRegion = true;
    private @Nullable CredentialsSource credentials;
    private boolean anonymous;
    private double targetGbps = HostSizing.ofThisJvm().targetGbps();
    private @Nullable Integer maxConnections;
    private Duration connectTimeout = Duration.ofSeconds(5);
    private Duration requestTimeout = Duration.ofSeconds(30);
    private Duration stallTimeout = Duration.ofSeconds(160);
    private @Nullable Path caFile;
    private String userAgentPrefix = "";
    private String userAgentSuffix = "";
    private Map<String, String> headers = new LinkedHashMap<>();

    private Builder() {}

    private Builder copy() {
      try {
        Builder copy = (Builder) clone();
        copy.headers = new LinkedHashMap<>(headers);
        return copy;
      } catch (CloneNotSupportedException e) {
        throw new IllegalStateException(e);
      }
    }

    /** The store's absolute http or https URI, no query; null (the default) for AWS's own. */
    public Builder endpoint(@Nullable URI value) {
      boolean known =
          value == null
              || (value.getHost() != null
                  && String.valueOf(value.getScheme()).matches("(?i)https?")
                  && value.getRawUserInfo() == null
                  && value.getRawQuery() == null);
      String told = String.valueOf(value).replaceFirst("//.*@", "//***@");
      require(known, "endpoint", told, "http://host[:port] or https://host[:port]");
      endpoint = value;
      return this;
    }

    /**
     * The signing region's name, for example eu-central-1; null (the default) to find it as the SDK
     * does, or for us-east-1 if there is an endpoint.
     */
    public Builder region(@Nullable String value) {
      require(value == null || !value.isBlank(), "region", value, "a region such as eu-central-1");
      region = value;
      return this;
    }

    /** Whether the bucket goes into the path rather than the host name. Default false. */
    public Builder pathStyle(boolean value) {
      pathStyle = value;
      return this;
    }

    /** True takes AWS's endpoints with IPv6 addresses; not with an endpoint. Default false. */
    public Builder dualStack(boolean value) {
      dualStack = value;
      return this;
    }

    /**
     * True reads a bucket in the region that the store names, once for each bucket, where that is
     * not {@link #region}. Default true.
     */
    public Builder followRegion(boolean value) {
      followRegion = value;
      return this;
    }

    /**
     * What to sign with; null (the default) for the SDK's default chain, where the SDK is on the
     * class path. {@link io.s3e.client.given.SdkCredentials} is any other provider of the SDK's.
     */
    public Builder credentials(@Nullable CredentialsSource value) {
      credentials = value;
      return this;
    }

    /** True sends unsigned requests, also where there are credentials. Default false. */
    public Builder anonymous(boolean value) {
      anonymous = value;
      return this;
    }

    /** Gbit/s to open connections for, above 0 to 1000. Default {@link HostSizing#targetGbps}. */
    public Builder targetGbps(double value) {
      require(value > 0 && value <= MAX_GBPS, "targetGbps", value, "above 0 to " + MAX_GBPS);
      targetGbps = value;
      return this;
    }

    /** Upper limit of connections, 1 to 4096. Default {@link HostSizing#connections}. */
    public Builder maxConnections(int value) {
      boolean isInRange = value >= 1 && value <= MAX_CONNECTIONS;
      require(isInRange, "maxConnections", value, "1 to " + MAX_CONNECTIONS);
      maxConnections = value;
      return this;
    }

    /** Longest wait for a connection, 1 ms to 1 h. Default 5 s. */
    public Builder connectTimeout(Duration value) {
      connectTimeout = timeout("connectTimeout", value);
      return this;
    }

    /** Longest wait for an answer without a body to stream, 1 ms to 1 h. Default 30 s. */
    public Builder requestTimeout(Duration value) {
      requestTimeout = timeout("requestTimeout", value);
      return this;
    }

    /**
     * How long a connection may bring (next to) nothing, 1 ms to 1 h; the CRT rounds up to whole
     * seconds, at least 2. Default 160 s: an engine gives its GETs up sooner, and has up to so much
     * patience with each that it sends again.
     */
    public Builder stallTimeout(Duration value) {
      stallTimeout = timeout("stallTimeout", value);
      return this;
    }

    /** PEM file of the certificates to trust; null (the default) for those that the JVM trusts. */
    public Builder caFile(@Nullable Path value) {
      caFile = value;
      return this;
    }

    /** Text before "S3E" in the User-Agent header: printable ASCII. Default empty. */
    public Builder userAgentPrefix(String value) {
      userAgentPrefix = printable("userAgentPrefix", value);
      return this;
    }

    /** Text after "S3E" in the User-Agent header: printable ASCII. Default empty. */
    public Builder userAgentSuffix(String value) {
      userAgentSuffix = printable("userAgentSuffix", value);
      return this;
    }

    /** A header for every request. */
    public Builder header(String name, String value) {
      require(!name.isBlank(), "header", name, "a name and a value");
      headers.put(name, value);
      return this;
    }

    public AwsClientSettings build() {
      return new AwsClientSettings(this);
    }

    private static String printable(String key, String value) {
      require(value.chars().allMatch(c -> c >= ' ' && c < 127), key, value, "printable ASCII");
      return value;
    }

    private static Duration timeout(String key, Duration value) {
      boolean isLongEnough = value.compareTo(Duration.ofMillis(1)) >= 0;
      require(isLongEnough && value.compareTo(LONGEST) <= 0, key, value, "1 ms to 1 h");
      return value;
    }

    private static void require(
        boolean holds, String key, @Nullable Object value, String accepted) {
      if (!holds) {
        throw new IllegalArgumentException(key + " is '" + value + "'; accepted is " + accepted);
      }
    }
  }
}
