package io.s3e.client.library;

import io.s3e.client.ClientMemory;
import io.s3e.client.ObjectClient;
import java.util.function.Supplier;

/**
 * Makes clients over the CRT. Implemented by one class of {@code io.s3e.client.crt}, which {@link
 * CrtLibrary} creates by name in whichever class loader holds the CRT.
 */
public interface CrtClients {

  /**
   * Opens a client.
   *
   * @param delivery how bodies are to come; with {@link CrtDelivery#LENT} if the memory allows it
   * @throws IllegalArgumentException if the memory does not {@linkplain #fits fit}, or the CA file
   *     cannot be read
   */
  ObjectClient open(CrtSettings settings, ClientMemory memory, CrtDelivery delivery);

  /**
   * Whether the memory is enough for a client: for two blocks, or there is a transport that it can
   * share.
   *
   * @param settings asked only where the memory alone is too little, since they cost reading the
   *     authorities
   */
  boolean fits(Supplier<CrtSettings> settings, ClientMemory memory, CrtDelivery delivery);
}
