// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.Deflater;

/** Writes the ends of ORC files, as far as tests need them. */
final class OrcWriter {
  /** Compression of the footer, with its number in the postscript. */
  enum Compression {
    NONE,
    ZLIB
  }

  record Stripe(long offset, long index, long data, long footer) {}

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /** Footer, postscript and its length: the last bytes of a file. */
  static byte[] tail(List<Stripe> stripes, Compression compression, int blockBytes) {
    OrcWriter footer = new OrcWriter();
    footer.number(1, 3);
    for (Stripe stripe : stripes) {
      OrcWriter one = new OrcWriter();
      one.number(1, stripe.offset);
      one.number(2, stripe.index);
      one.number(3, stripe.data);
      one.number(4, stripe.footer);
      one.number(5, 1000);
      footer.message(3, one.out.toByteArray());
    }
    footer.message(4, "a type".getBytes(StandardCharsets.UTF_8));
    footer.number(6, 1000L * stripes.size());
    byte[] plain = footer.out.toByteArray();
    byte[] stored = compression == Compression.NONE ? plain : compress(plain, blockBytes);
    OrcWriter postscript = new OrcWriter();
    postscript.number(1, stored.length);
    postscript.number(2, compression.ordinal());
    postscript.number(3, blockBytes);
    postscript.message(8000, "ORC".getBytes(StandardCharsets.UTF_8));
    ByteArrayOutputStream tail = new ByteArrayOutputStream();
    tail.writeBytes(stored);
    tail.writeBytes(postscript.out.toByteArray());
    tail.write(postscript.out.size());
    return tail.toByteArray();
  }

  /**
   * The footer of a stripe, not compressed.
   *
   * @param streams kind, column and length of each
   * @param length of the footer in bytes
   */
  static byte[] stripeFooter(List<long[]> streams, int length) {
    for (int padding = 0; padding < length; padding++) {
      OrcWriter footer = new OrcWriter();
      for (long[] stream : streams) {
        OrcWriter one = new OrcWriter();
        one.number(1, stream[0]);
        one.number(2, stream[1]);
        one.number(3, stream[2]);
        footer.message(1, one.out.toByteArray());
      }
      footer.message(3, new byte[padding]);
      if (footer.out.size() == length) {
        return footer.out.toByteArray();
      }
    }
    throw new IllegalArgumentException("no footer of " + length + " bytes: " + streams.size());
  }

  private static byte[] compress(byte[] plain, int blockBytes) {
    ByteArrayOutputStream chunks = new ByteArrayOutputStream();
    for (int at = 0; at < plain.length; at += blockBytes) {
      int length = Math.min(blockBytes, plain.length - at);
      Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
      deflater.setInput(plain, at, length);
      deflater.finish();
      byte[] packed = new byte[2 * length + 64];
      int count = deflater.deflate(packed);
      deflater.end();
      boolean isPlain = count >= length;
      int header = isPlain ? length << 1 | 1 : count << 1;
      chunks.write(header);
      chunks.write(header >>> 8);
      chunks.write(header >>> 16);
      chunks.write(isPlain ? plain : packed, isPlain ? at : 0, isPlain ? length : count);
    }
    return chunks.toByteArray();
  }

  private void number(int field, long value) {
    varint((long) field << 3);
    varint(value);
  }

  private void message(int field, byte[] bytes) {
    varint((long) field << 3 | 2);
    varint(bytes.length);
    out.writeBytes(bytes);
  }

  private void varint(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      out.write((int) (rest & 0x7F | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
  }
}
