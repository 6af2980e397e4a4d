// SPDX-License-Identifier: Apache-2.0
package io.s3e.client;

/**
 * The requests and bytes that one client can carry. The fetch layer never asks for more.
 *
 * <p>A client may <i>lend</i> memory: it delivers a response in a buffer of its own, of at most
 * {@code lentSlotBytes}, which stays valid until it is given back. Every lent response occupies a
 * whole slot, however short it is. All other responses are <i>copied</i> out of the client's
 * buffers during the callback.
 *
 * @param copyRequestBytes the longest range of a copied GET, in bytes
 * @param copyRequests how many copied GETs may be in flight
 * @param overdueRequests how many copied GETs more may be in flight while as many hang: those leave
 *     their places to others
 * @param lentSlotBytes the longest range of a lent GET, in bytes; 0 if the client lends nothing
 * @param lentSlots how many lent buffers may be in flight or held; 0 if the client lends nothing
 * @param ownedBytes direct or native memory that the client may hold at most for response bodies;
 *     charged to the memory budget for the client's life
 */
public record ClientLimits(
    int copyRequestBytes,
    int copyRequests,
    int overdueRequests,
    int lentSlotBytes,
    int lentSlots,
    long ownedBytes) {

  public ClientLimits {
    if (copyRequestBytes < 1 || copyRequests < 1) {
      String got = ", got " + copyRequests + " of " + copyRequestBytes + " bytes";
      throw new IllegalArgumentException(
          "a client needs at least one copied request of at least one byte" + got);
    }
    if (overdueRequests < 0 || lentSlotBytes < 0 || lentSlots < 0 || ownedBytes < 0) {
      throw new IllegalArgumentException("negative limit");
    }
  }

  /** Limits of a client that only copies. */
  public static ClientLimits copying(int requestBytes, int requests, long ownedBytes) {
    return new ClientLimits(requestBytes, requests, 0, 0, 0, ownedBytes);
  }

  /** Whether the client lends buffers. */
  public boolean lends() {
    return lentSlots > 0;
  }
}
