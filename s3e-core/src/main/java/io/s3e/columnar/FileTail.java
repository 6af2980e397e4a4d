package io.s3e.columnar;

import io.s3e.block.ByteRange;
import io.s3e.columnar.FileLayout.Format;
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

  /**
   * Reads the last bytes of an object.
   *
   * @param last the last {@value #LAST_BYTES}, or all of it if it is shorter
   * @return null if it is neither Parquet nor ORC, or encrypted Parquet
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
    return OrcTail.tail(last, objectSize);
  }

  /**
   * The layout of the file.
   *
   * @param bytes those of {@link #footer}
   * @return null if they are compressed in a way that nobody here knows
   */
  @Nullable FileLayout layout(byte[] bytes, OrcCodecs codecs) throws MalformedException {
    return format == Format.PARQUET
        ? ParquetFooter.parse(bytes, footer.start())
        : OrcTail.parse(this, bytes, codecs);
  }

  private static int intAt(byte[] bytes, int at) {
    return (bytes[at] & 0xFF)
        | (bytes[at + 1] & 0xFF) << 8
        | (bytes[at + 2] & 0xFF) << 16
        | (bytes[at + 3] & 0xFF) << 24;
  }
}
