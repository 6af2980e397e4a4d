// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import io.s3e.block.ByteRange;
import io.s3e.columnar.FileLayout.Format;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What the last bytes of an object say of it: Parquet by the {@code PAR1} behind its footer, ORC by
 * its postscript, never by its name.
 *
 * @param footer the bytes that the layout is read from
 * @param compression number of the codec of an ORC footer; 0 for none
 * @param blockBytes what a compressed chunk of it holds at most
 */
record FileTail(Format format, ByteRange footer, int compression, int blockBytes) {
  /** So many of the last bytes tell what the object is. */
  static final int LAST_BYTES = 256;

  /** Length of the footer, and the magic. */
  private static final int PARQUET_TRAILER_BYTES = 8;

  /** {@code PAR1} as the last four bytes, the last one highest. */
  private static final int PARQUET_MAGIC = 'P' | 'A' << 8 | 'R' << 16 | '1' << 24;

  private static final byte[] ORC_MAGIC = {'O', 'R', 'C'};

  /** ORC writes 256 KiB, unless it is told otherwise. */
  private static final int MAX_BLOCK_BYTES = 1 << 20;

  private static final int POSTSCRIPT_FOOTER_LENGTH = 1;
  private static final int POSTSCRIPT_COMPRESSION = 2;
  private static final int POSTSCRIPT_BLOCK_SIZE = 3;

  /**
   * The tail of an object whose last bytes, {@value #LAST_BYTES} or all of it, these are; null if
   * it is neither Parquet nor ORC, or encrypted Parquet.
   */
  static @Nullable FileTail of(byte[] last, long objectSize) throws MalformedException {
    if (last.length >= PARQUET_TRAILER_BYTES && intAt(last, last.length - 4) == PARQUET_MAGIC) {
      long length = intAt(last, last.length - PARQUET_TRAILER_BYTES);
      long end = objectSize - PARQUET_TRAILER_BYTES;
      if (length < 1 || length > Math.min(ParquetFooter.MAX_BYTES, end)) {
        throw new MalformedException("a footer of " + length + " bytes");
      }
      return new FileTail(Format.PARQUET, new ByteRange(end - length, end), 0, 0);
    }
    return ofOrc(last, objectSize);
  }

  /** As the postscript of an ORC file says; null if these bytes have none. */
  private static @Nullable FileTail ofOrc(byte[] last, long objectSize) throws MalformedException {
    int at = last.length - 1;
    int length = at < 0 ? 0 : last[at] & 0xFF;
    if (length <= ORC_MAGIC.length
        || length > at
        || !Arrays.equals(last, at - ORC_MAGIC.length, at, ORC_MAGIC, 0, ORC_MAGIC.length)) {
      return null;
    }
    ProtobufReader in = new ProtobufReader(last, at - length, at);
    long[] postscript = in.readNumbers(POSTSCRIPT_BLOCK_SIZE);
    long end = objectSize - 1 - length;
    long footer = postscript[POSTSCRIPT_FOOTER_LENGTH];
    long compression = postscript[POSTSCRIPT_COMPRESSION];
    long block = postscript[POSTSCRIPT_BLOCK_SIZE];
    if (footer < 1 || footer > OrcTail.MAX_FOOTER_BYTES || footer > end) {
      throw new MalformedException("a footer of " + footer + " bytes");
    }
    if (compression > Byte.MAX_VALUE || block > MAX_BLOCK_BYTES) {
      throw new MalformedException("compression " + compression + " of blocks of " + block);
    }
    ByteRange range = new ByteRange(end - footer, end);
    return new FileTail(Format.ORC, range, (int) compression, (int) block);
  }

  /** The layout that the bytes of {@link #footer} tell. */
  FileLayout layout(byte[] bytes, OrcCodecs codecs) throws MalformedException {
    return format == Format.PARQUET
        ? ParquetFooter.parse(bytes, footer.start())
        : OrcTail.parse(footer.start(), compression, blockBytes, bytes, codecs);
  }

  private static int intAt(byte[] bytes, int at) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(at);
  }
}
