package io.s3e.disk;

import java.nio.ByteBuffer;

/** Chunks of one disk block that can be written. */
interface ChunkSource {
  /** Which chunks there are: a bit for each. */
  int mask();

  /** The bytes of one of them, from position to limit; the caller's own view of shared memory. */
  ByteBuffer chunk(int index);
}
