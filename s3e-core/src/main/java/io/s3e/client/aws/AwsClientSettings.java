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
 * of a bad value names the setting, the value and what is accepted.
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

  /** The store's URI; null for AWS's own endpoint of the region. */
  public @Nullable URI endpoint() {
    return values.endpoint;
  }

  /** Signing region; null to find it as the SDK does, or us-east-1 if there is an endpoint. */
  public @Nullable String region() {
    return values.region;
  }

  /** Whether the bucket goes into the path rather than the host name. */
  public boolean pathStyle() {
    return values.pathStyle;
  }

  /** Whether AWS's endpoints with IPv6 addresses are used. */
  public boolean dualStack() {
    return values.dualStack;
  }

  /** Whether a bucket that turns out to be in another region is read there. */
  public boolean followRegion() {
    return values.followRegion;
  }

  /** Credentials to sign with; null for the SDK's default chain, unless {@link #anonymous()}. */
  public @Nullable CredentialsSource credentials() {
    return values.credentials;
  }

  /** Whether requests go unsigned. */
  public boolean anonymous() {
    return values.anonymous;
  }

  /** Throughput to open connections for, in Gbit/s. */
  public double targetGbps() {
    return values.targetGbps;
  }

  /** Upper limit of connections. */
  public int maxConnections() {
    Integer told = values.maxConnections;
    return told == null ? HostSizing.connections(values.targetGbps) : told;
  }

  /** Longest wait for a connection. */
  public Duration connectTimeout() {
    return values.connectTimeout;
  }

  /** Longest wait for an answer to a request that has no body to stream. */
  public Duration requestTimeout() {
    return values.requestTimeout;
  }

  /** How long a connection may bring (next to) nothing before it is given up. */
  public Duration stallTimeout() {
    return values.stallTimeout;
  }

  /** PEM file of the certificates to trust in place of the JVM's; null for the JVM's. */
  public @Nullable Path caFile() {
    return values.caFile;
  }

  /** Text before "S3E" in the User-Agent header; may be empty. */
  public String userAgentPrefix() {
    return values.userAgentPrefix;
  }

  /** Text after "S3E" in the User-Agent header; may be empty. */
  public String userAgentSuffix() {
    return values.userAgentSuffix;
  }

  /** Headers added to every request. */
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

    /** An absolute http or https URI without query; null (the default) for AWS. */
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

    /** A region's name, for example eu-central-1; null (the default) to find it. */
    public Builder region(@Nullable String value) {
      require(value == null || !value.isBlank(), "region", value, "a region such as eu-central-1");
      region = value;
      return this;
    }

    /** Default false. */
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
     * Null (the default) for the SDK's default chain, where the SDK is on the class path. {@link
     * io.s3e.client.given.SdkCredentials} is any other provider of the SDK's.
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

    /** In Gbit/s, above 0 to 1000. Default {@link HostSizing#targetGbps}. */
    public Builder targetGbps(double value) {
      require(value > 0 && value <= MAX_GBPS, "targetGbps", value, "above 0 to " + MAX_GBPS);
      targetGbps = value;
      return this;
    }

    /** 1 to 4096. Default {@link HostSizing#connections}. */
    public Builder maxConnections(int value) {
      boolean isInRange = value >= 1 && value <= MAX_CONNECTIONS;
      require(isInRange, "maxConnections", value, "1 to " + MAX_CONNECTIONS);
      maxConnections = value;
      return this;
    }

    /** 1 ms to 1 h. Default 5 s. */
    public Builder connectTimeout(Duration value) {
      connectTimeout = timeout("connectTimeout", value);
      return this;
    }

    /** 1 ms to 1 h. Default 30 s. */
    public Builder requestTimeout(Duration value) {
      requestTimeout = timeout("requestTimeout", value);
      return this;
    }

    /**
     * 1 ms to 1 h; the CRT rounds up to whole seconds, at least 2. Default 160 s: an engine gives
     * its GETs up sooner, and has up to so much patience with each that it sends again.
     */
    public Builder stallTimeout(Duration value) {
      stallTimeout = timeout("stallTimeout", value);
      return this;
    }

    /** A PEM file; null (the default) for what the JVM trusts. */
    public Builder caFile(@Nullable Path value) {
      caFile = value;
      return this;
    }

    /** Printable ASCII. Default empty. */
    public Builder userAgentPrefix(String value) {
      userAgentPrefix = printable("userAgentPrefix", value);
      return this;
    }

    /** Printable ASCII. Default empty. */
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
