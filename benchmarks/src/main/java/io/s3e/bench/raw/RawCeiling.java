// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.raw;

import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A raw client and how many ranges it has in flight.
 *
 * @param client which client
 * @param inFlight how many GETs are under way at any time but the last
 */
public record RawCeiling(RawClientKind client, int inFlight) {

  /**
   * Length of each range, in bytes: where more bytes a request no longer make it cheaper, and S3E's
   * own longest request.
   */
  public static final int RANGE_BYTES = 8 << 20;

  private static final Pattern NAME = Pattern.compile("raw-(.+)-(\\d{1,3})");

  public RawCeiling {
    if (inFlight < 1) {
      throw new IllegalArgumentException("inFlight is " + inFlight + "; accepted is 1 or more");
    }
  }

  /** {@code raw-CLIENT-INFLIGHT}. */
  public String name() {
    return "raw-" + client.label() + '-' + inFlight;
  }

  /** The ceiling of that name; empty if it is not the name of one. */
  public static Optional<RawCeiling> parse(String name) {
    Matcher parts = NAME.matcher(name);
    if (!parts.matches() || Integer.parseInt(parts.group(2)) < 1) {
      return Optional.empty();
    }
    return Arrays.stream(RawClientKind.values())
        .filter(client -> client.label().equals(parts.group(1)))
        .map(client -> new RawCeiling(client, Integer.parseInt(parts.group(2))))
        .findFirst();
  }
}
