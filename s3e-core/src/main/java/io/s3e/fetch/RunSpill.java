package io.s3e.fetch;

import io.s3e.memory.Block;
import io.s3e.memory.Spill;

/** Hands the blocks that leave memory to the tenant that has fetched them. Any thread. */
public final class RunSpill implements Spill {
  @Override
  public void settled(Block block) {
    ((RunFetch) block.fate()).spill().settled(block);
  }

  @Override
  public void leaving(Block block) {
    ((RunFetch) block.fate()).spill().leaving(block);
  }
}
