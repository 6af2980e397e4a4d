// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

/**
 * How the server answers reads: GET, HEAD and lists. Immutable.
 *
 * @param firstByte wait before the first byte of an answer
 * @param bytesPerSecond ceiling of one connection's response bodies; 0 means unlimited
 * @param totalBytesPerSecond ceiling of all connections' response bodies together, shared among
 *     those that have something to send; 0 means unlimited
 */
public record Shape(FirstByteTime firstByte, long bytesPerSecond, long totalBytesPerSecond) {

  /** As fast as the loopback device goes. */
  public static final Shape UNSHAPED = new Shape(FirstByteTime.NONE, 0, 0);

  public Shape {
    if (bytesPerSecond < 0) {
      throw new IllegalArgumentException(
          "bytesPerSecond must be at least 0 and is " + bytesPerSecond);
    }
    if (totalBytesPerSecond < 0) {
      throw new IllegalArgumentException(
          "totalBytesPerSecond must be at least 0 and is " + totalBytesPerSecond);
    }
  }
}
