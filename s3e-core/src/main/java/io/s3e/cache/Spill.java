package io.s3e.cache;

/** Where blocks go that leave memory. Called by whoever needs their memory; must not block. */
@FunctionalInterface
public interface Spill {
  /** Nowhere. */
  Spill NONE = block -> {};

  /**
   * A block is about to leave memory, because its memory is needed. Its bytes are there during the
   * call.
   */
  void leaving(Block block);
}
