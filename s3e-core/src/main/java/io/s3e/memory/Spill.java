package io.s3e.memory;

/** Where blocks go that leave memory. Called by readers, among others; must not block. */
public interface Spill {
  /** Nowhere. */
  Spill NONE =
      new Spill() {
        @Override
        public void settled(Block block) {}

        @Override
        public void leaving(Block block) {}
      };

  /**
   * A block has been read or abandoned, and memory is so short that it will leave before long. To
   * spill it now is to have it out of the way then. It may be evicted at any moment.
   */
  void settled(Block block);

  /**
   * A block is about to leave memory, because its memory is needed. Its bytes are there during the
   * call.
   */
  void leaving(Block block);
}
