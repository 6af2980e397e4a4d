// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import java.util.Arrays;

/** Which client fetches. {@link #AUTO} is decided when the engine is made. */
public enum ClientChoice {
  AUTO("auto"),
  CRT("crt"),
  S3A("s3a");

  private final String text;

  ClientChoice(String text) {
    this.text = text;
  }

  /** The name in the configuration. */
  public String text() {
    return text;
  }

  /** The path capability of a file system that this client reads for. */
  public String capability() {
    return S3EKeys.CAPABILITY + ".client." + text;
  }

  /**
   * The choice that a client of this name stands for; {@code crt-borrowed} is {@link #CRT}.
   *
   * @param client by {@link io.s3e.client.ObjectClient#name()}
   */
  public static ClientChoice reading(String client) {
    return Arrays.stream(values())
        .filter(choice -> client.startsWith(choice.text))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no client is called " + client));
  }
}
