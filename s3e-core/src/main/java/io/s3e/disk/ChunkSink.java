package io.s3e.disk;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Takes the chunks that were read from disk, in order. */
@FunctionalInterface
interface ChunkSink {
  /**
   * Takes a verified chunk.
   *
   * @param chunk its number in the object
   * @param bytes all of the chunk, from position to limit, valid until this returns
   * @return false to end the read here
   */
  boolean accept(int chunk, ByteBuffer bytes) throws IOException;
}
