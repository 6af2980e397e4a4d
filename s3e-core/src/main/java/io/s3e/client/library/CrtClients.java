package io.s3e.client.library;

import io.s3e.client.ClientProvider.ClientMemory;
import io.s3e.client.ObjectClient;

/**
 * Makes clients over the CRT. Implemented by one class of {@code io.s3e.client.crt}, which {@link
 * CrtLibrary} creates by name in whichever class loader holds the CRT.
 */
public interface CrtClients {

  /**
   * Opens a client.
   *
   * @param delivery how bodies are to come; with {@link CrtCapability#LENDS} the client lends if
   *     the memory allows it too
   * @throws IllegalArgumentException if the memory is less than {@link #minimumBytes}, or the CA
   *     file cannot be read
   */
  ObjectClient open(CrtSettings settings, ClientMemory memory, CrtCapability delivery);

  /** The least {@code memory.ownedBytes()} that {@link #open} accepts, in bytes. */
  long minimumBytes(ClientMemory memory);
}
