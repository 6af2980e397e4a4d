// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.server;

import java.time.Instant;

/**
 * One request and how it was answered: filled in on its way, read by the {@link RequestLog} at its
 * end. One thread.
 */
final class Exchange {

  private final HttpHead request;
  private final Operation operation;
  private final long connection;
  private final Instant arrived = Instant.now();
  private final long arrivedNanos = System.nanoTime();
  private long waitNanos;
  private int status;
  private long bytesReceived;
  private long bytesSent;
  private boolean relayed;
  private boolean complete;

  /** A request whose head has just come, on that connection. */
  Exchange(HttpHead request, long connection) {
    this.request = request;
    this.operation = Operation.of(request);
    this.connection = connection;
  }

  HttpHead request() {
    return request;
  }

  Operation operation() {
    return operation;
  }

  /** Number of the connection, in the order in which they were accepted. */
  long connection() {
    return connection;
  }

  Instant arrived() {
    return arrived;
  }

  /** When the head had come, by {@link System#nanoTime}. */
  long arrivedNanos() {
    return arrivedNanos;
  }

  /** The answer's head goes out now. */
  void answered(int withStatus) {
    waitNanos = System.nanoTime() - arrivedNanos;
    status = withStatus;
  }

  /** Time from the request's head to the answer's. */
  long waitNanos() {
    return waitNanos;
  }

  /** Status of the answer; 0 when there was none. */
  int status() {
    return status;
  }

  void received(long bytes) {
    bytesReceived += bytes;
  }

  /** Body of the request, as framed within HTTP. */
  long bytesReceived() {
    return bytesReceived;
  }

  void sent(long bytes) {
    bytesSent += bytes;
  }

  /** Body of the answer, as handed to the kernel. */
  long bytesSent() {
    return bytesSent;
  }

  /** S3Proxy gets the request. */
  void relay() {
    relayed = true;
  }

  boolean isRelayed() {
    return relayed;
  }

  void completed() {
    complete = true;
  }

  /** Whether the whole answer went out; if not, the client went away or the connection broke. */
  boolean isComplete() {
    return complete;
  }
}
