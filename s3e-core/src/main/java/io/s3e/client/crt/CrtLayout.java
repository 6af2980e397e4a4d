// SPDX-License-Identifier: Apache-2.0
package io.s3e.client.crt;

import io.s3e.client.ClientLimits;
import io.s3e.client.ClientMemory;
import io.s3e.client.library.CrtMemoryException;

/**
 * How a {@link CrtObjectClient} divides the memory it may own. Pure arithmetic.
 *
 * <p>The CRT hands out memory in slots of one part size, and a response occupies a whole slot
 * however short it is. So one size fits badly: a slot for 8 MiB wastes 8 MiB on a 64 KiB read. The
 * client has two pools: <i>wide</i> slots, lent to the engine for long sequential requests, and
 * <i>narrow</i> ones for short reads, copied out of during the callback and free again at once.
 *
 * <p><b>Overdue GETs.</b> A GET that hangs keeps its narrow slot, for the CRT takes it before it
 * sends. So that such GETs, and those that are sent again, can leave their places to others there
 * are up to four narrow slots more; they are allocated only while they are needed. Connections are
 * the CRT's to share, {@code maxConnections} for each of the two clients: a user's limit below the
 * number of narrow slots makes GETs wait inside the CRT, those that hang included. A GET that hangs
 * in a wide slot keeps it, and so does every GET of a client that lends nothing: its memory is all
 * places.
 *
 * <p>Narrow slots hold an eighth of a request (at least a block, at most about 1 MiB) and take an
 * eighth of the memory, but at least 16 of them, so that 16 threads with random reads do not queue;
 * never more than 32 or half the memory. The rest goes to wide slots: 32 if they can be of 1 MiB at
 * least, then more of 4 MiB until each connection has one, then longer ones, up to the engine's
 * longest request (docs/adr/0006-slots.md, 0055-a-slot-a-connection.md). With room for fewer than
 * four wide slots of 1 MiB nothing is lent.
 *
 * <p>The {@link ClientLimits} say it all: a copied request has a narrow slot, a lent one a wide
 * one.
 */
final class CrtLayout {
  private static final int MIB = 1 << 20;

  /** Enough concurrent requests for 170 Gbit/s in slots of 4 MiB. */
  private static final int MAX_SLOTS = 512;

  private static final int MIN_NARROW_SLOTS = 16;
  private static final int MAX_NARROW_SLOTS = 32;
  private static final int MAX_OVERDUE_SLOTS = 4;
  private static final int WANTED_WIDE_SLOTS = 32;
  private static final int WANTED_WIDE_BYTES = 4 * MIB;

  /** Where everything is copied, more and shorter requests would cost more processor time. */
  private static final int WANTED_COPIED_SLOTS = 16;

  private static final int MIN_WIDE_SLOTS = 4;

  /** The CRT's pool allocates 16 slots as one buffer, which must stay below 2 GiB. */
  private static final int MAX_SLOT_BYTES = 64 * MIB;

  private CrtLayout() {}

  /** Narrow slots and, as memory allows, wide ones, {@code connections} of which can be used. */
  static ClientLimits lending(ClientMemory memory, int connections) {
    int block = block(memory);
    int narrow = narrowBytes(memory, block);
    long half = memory.ownedBytes() / 2 / narrow;
    long wanted =
        Math.max(MIN_NARROW_SLOTS, Math.min(MAX_NARROW_SLOTS, memory.ownedBytes() / 8 / narrow));
    int narrowSlots = (int) Math.min(half, wanted);
    int overdueSlots = Math.min(MAX_OVERDUE_SLOTS, narrowSlots / 4);
    long rest = memory.ownedBytes() - (long) (narrowSlots + overdueSlots) * narrow;
    int smallest = roundUp(MIB, block);
    if (rest / smallest < MIN_WIDE_SLOTS) {
      return copying(memory);
    }
    long usable = Math.min(MAX_SLOTS, connections * 8L / 7);
    long slots = Math.max(WANTED_WIDE_SLOTS, Math.min(usable, rest / WANTED_WIDE_BYTES));
    int wide = slotBytes(memory, rest / slots, smallest, block);
    int wideSlots = (int) Math.min(MAX_SLOTS, rest / wide);
    long owned = memory.ownedBytes() - rest + (long) wide * wideSlots;
    return new ClientLimits(narrow, narrowSlots, overdueSlots, wide, wideSlots, owned);
  }

  /** Narrow slots only, as long as is affordable, where nothing is lent. */
  static ClientLimits copying(ClientMemory memory) {
    int block = block(memory);
    if (memory.ownedBytes() < 2L * block) {
      throw new CrtMemoryException(memory.ownedBytes());
    }
    int slot = slotBytes(memory, memory.ownedBytes() / WANTED_COPIED_SLOTS, block, block);
    int slots = (int) Math.min(MAX_SLOTS, memory.ownedBytes() / slot);
    return ClientLimits.copying(slot, slots, (long) slot * slots);
  }

  private static int block(ClientMemory memory) {
    return Math.min(memory.blockBytes(), MAX_SLOT_BYTES);
  }

  /** The engine's request size in whole blocks. */
  private static int request(ClientMemory memory, int block) {
    return Math.max(block, Math.min(memory.requestBytes(), MAX_SLOT_BYTES) / block * block);
  }

  private static int narrowBytes(ClientMemory memory, int block) {
    int eighth = roundUp(Math.max(1, memory.requestBytes() / 8), block);
    int cap = Math.min(roundUp(MIB, block), request(memory, block));
    return Math.min(eighth, cap);
  }

  /**
   * The engine's request size, or the longest multiple of the block (at least {@code smallest})
   * within {@code share}.
   */
  private static int slotBytes(ClientMemory memory, long share, int smallest, int block) {
    int request = request(memory, block);
    long affordable = share / block * block;
    return (int) Math.max(Math.min(smallest, request), Math.min(request, affordable));
  }

  private static int roundUp(int value, int multiple) {
    return (int) Math.min(MAX_SLOT_BYTES, ((long) value + multiple - 1) / multiple * multiple);
  }
}
