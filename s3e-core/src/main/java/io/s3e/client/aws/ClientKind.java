package io.s3e.client.aws;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Which client reads. */
public enum ClientKind {
  /** {@link #CRT} where it can be used, else {@link #SDK_SYNC}. */
  AUTO("auto"),
  /** The CRT's native client; fails where it cannot be used. */
  CRT("crt"),
  /**
   * The SDK's asynchronous client over the CRT; fails where that cannot be used. For another one
   * (Netty) make an {@link io.s3e.client.sdk.AsyncObjectClient} of it.
   */
  SDK_ASYNC("sdk-async"),
  /** The SDK's synchronous client over Apache HttpClient. */
  SDK_SYNC("sdk-sync");

  private final String configName;

  ClientKind(String configName) {
    this.configName = configName;
  }

  /** The name in configurations. */
  public String configName() {
    return configName;
  }

  /**
   * The kind of that name, in any case.
   *
   * @param key whose value this is, for the message
   * @throws IllegalArgumentException if there is none; names the key, the value and what is
   *     accepted
   */
  public static ClientKind parse(String key, String value) {
    String wanted = value.trim().toLowerCase(Locale.ROOT);
    for (ClientKind kind : values()) {
      if (kind.configName.equals(wanted)) {
        return kind;
      }
    }
    throw new IllegalArgumentException(
        key
            + " is '"
            + value
            + "'; accepted are "
            + Arrays.stream(values())
                .map(ClientKind::configName)
                .collect(Collectors.joining(", ")));
  }
}
