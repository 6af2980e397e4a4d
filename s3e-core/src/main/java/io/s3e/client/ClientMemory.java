// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

import java.util.function.Function;

/**
 * Memory and request sizes that an engine grants to a client, and the transports that its clients
 * share.
 *
 * @param ownedBytes direct and native memory for bodies that the client may own at most; 0 asks for
 *     a client that owns none beyond its transport's buffers
 * @param requestBytes the longest range the engine wants to send as one GET, in bytes
 * @param blockBytes the engine's block size; request limits are multiples of it where possible
 * @param transports those that are open
 */
public record ClientMemory(
    long ownedBytes, int requestBytes, int blockBytes, Transports transports) {
  /** Memory for a client that shares nothing. */
  public ClientMemory(long ownedBytes, int requestBytes, int blockBytes) {
    this(ownedBytes, requestBytes, blockBytes, ClientMemory::unshared);
  }

  /** The transports of an engine, by what tells them apart. */
  public interface Transports {
    /**
     * The transport under a key, made if there is none.
     *
     * @param key equal for clients that can share; of one class for each class of transport
     * @param memory the most that a new one may own; {@code maker} gets the memory that is granted
     */
    <T extends Transport> Transport.Lease<T> lease(
        Object key, ClientMemory memory, Function<ClientMemory, T> maker);
  }

  /**
   * A client's use of the transport under a key.
   *
   * @param maker makes it, if there is none, of the memory that it is handed
   */
  public <T extends Transport> Transport.Lease<T> lease(
      Object key, Function<ClientMemory, T> maker) {
    return transports.lease(key, this, maker);
  }

  /** The same for a client that may own less. */
  public ClientMemory withOwnedBytes(long bytes) {
    return new ClientMemory(bytes, requestBytes, blockBytes, transports);
  }

  private static <T extends Transport> Transport.Lease<T> unshared(
      Object key, ClientMemory memory, Function<ClientMemory, T> maker) {
    T made = maker.apply(memory);
    return new Transport.Lease<>(made, made::close);
  }
}
