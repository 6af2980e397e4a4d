package io.s3e.client;

/**
 * Makes the client of one engine once the engine knows how much memory there is. Not called again
 * for the same engine.
 */
@FunctionalInterface
public interface ClientProvider {

  /**
   * @param memory what the client may use
   * @return a client whose {@link ClientLimits#ownedBytes()} is at most {@code memory.ownedBytes()}
   */
  ObjectClient create(ClientMemory memory);

  /**
   * Memory and request sizes that the engine grants to its client.
   *
   * @param ownedBytes direct and native memory for bodies that the client may own at most; 0 asks
   *     for a client that owns none beyond its transport's buffers
   * @param requestBytes the longest range the engine wants to send as one GET, in bytes
   * @param blockBytes the engine's block size; request limits are multiples of it where possible
   */
  record ClientMemory(long ownedBytes, int requestBytes, int blockBytes) {}
}
