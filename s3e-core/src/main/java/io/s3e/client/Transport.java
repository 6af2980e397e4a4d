// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

/**
 * Connections to stores and the memory that bodies arrive in: the part of a client that knows no
 * credentials and that the clients of several tenants can therefore share.
 */
public interface Transport extends AutoCloseable {
  /** The load that all clients over the transport can carry together; constant over its life. */
  ClientLimits limits();

  /**
   * Whether it is as good as one that is made now: then it may wait for clients to come when its
   * last one has left. Any thread.
   */
  default boolean isWhole() {
    return true;
  }

  /**
   * Frees connections, memory and threads, after the last client over it has ended its requests.
   * Waits a bounded time.
   */
  @Override
  void close();

  /**
   * One client's use of a transport. Closed once by the client, when it is closed or cannot be
   * made; after the last one to close the transport closes, maybe later.
   *
   * @param <T> class of the transport
   * @param end what closing does
   */
  record Lease<T extends Transport>(T transport, Runnable end) implements AutoCloseable {
    @Override
    public void close() {
      end.run();
    }
  }
}
