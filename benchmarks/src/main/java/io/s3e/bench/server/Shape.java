package io.s3e.bench.server;

import java.time.Duration;

/**
 * How the server answers reads.
 *
 * @param timeToFirstByte wait before the first byte of every answer to a GET, HEAD or list
 * @param bytesPerSecond ceiling of one connection's response bodies; 0 means unlimited
 */
public record Shape(Duration timeToFirstByte, long bytesPerSecond) {

  /** As fast as the loopback device goes. */
  public static final Shape UNSHAPED = new Shape(Duration.ZERO, 0);

  public Shape {
    if (timeToFirstByte.isNegative()) {
      throw new IllegalArgumentException("timeToFirstByte is negative: " + timeToFirstByte);
    }
    if (bytesPerSecond < 0) {
      throw new IllegalArgumentException("bytesPerSecond is negative: " + bytesPerSecond);
    }
  }
}
