// SPDX-License-Identifier: Apache-2.0
package io.s3e.columnar;

import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Reads what a {@link FileLayout} needs out of the footer of an ORC file: the list of stripes.
 * Fields are those of orc_proto.proto.
 *
 * <p>Bounded: a footer takes at most {@value #MAX_FOOTER_BYTES} bytes, compressed or not; {@link
 * FileTail} bounds what a compressed chunk of it holds.
 */
final class OrcTail {
  /** A file of 100 columns with 1,000 stripes takes 250 KB. */
  static final int MAX_FOOTER_BYTES = 4 << 20;

  /** Compressed pieces of a footer: each is full but for the last. */
  private static final int MAX_CHUNKS = 1 << 12;

  private static final int FOOTER_STRIPES = 3;
  private static final int FOOTER_TYPES = 4;
  private static final int FOOTER_ENCRYPTION = 10;

  private static final int STRIPE_OFFSET = 1;
  private static final int STRIPE_INDEX = 2;
  private static final int STRIPE_DATA = 3;
  private static final int STRIPE_FOOTER = 4;

  private OrcTail() {}

  /** The layout of a file whose footer, as it is stored, begins at {@code footerStart}. */
  static FileLayout parse(
      long footerStart, int compression, int blockBytes, byte[] footer, OrcCodecs codecs)
      throws MalformedException {
    byte[] plain = plain(compression, blockBytes, footer, codecs);
    LayoutBuilder told = readFooter(plain, footerStart);
    told.layout.compression = compression;
    told.layout.blockBytes = blockBytes;
    return told.build();
  }

  /** What a file stores in compressed chunks, or as it is. */
  static byte[] plain(int compression, int blockBytes, byte[] stored, OrcCodecs codecs)
      throws MalformedException {
    if (compression == 0) {
      return stored;
    }
    OrcCodecs.Codec codec = codecs.codec(compression);
    if (codec == null) {
      throw new MalformedException("codec " + compression + " is not to be had");
    }
    byte[] block = new byte[blockBytes];
    byte[] plain = new byte[Math.min(MAX_FOOTER_BYTES, 4 * stored.length)];
    int filled = 0;
    BoundedReader in = new BoundedReader(stored, 0, stored.length);
    for (int chunk = 0; in.remaining() > 0; chunk++) {
      if (chunk == MAX_CHUNKS) {
        throw new MalformedException("in more than " + MAX_CHUNKS + " pieces");
      }
      int header = in.next() | in.next() << 8 | in.next() << 16;
      int length = header >>> 1;
      boolean isPlain = (header & 1) == 1;
      int at = in.at;
      in.skipBytes(length);
      int count = isPlain ? length : codec.decompress(stored, at, length, block);
      if (count > MAX_FOOTER_BYTES - filled) {
        throw new MalformedException("a footer of more than " + MAX_FOOTER_BYTES + " bytes");
      }
      if (count > plain.length - filled) {
        plain = Arrays.copyOf(plain, Math.min(MAX_FOOTER_BYTES, 2 * (filled + count)));
      }
      System.arraycopy(isPlain ? stored : block, isPlain ? at : 0, plain, filled, count);
      filled += count;
    }
    return Arrays.copyOf(plain, filled);
  }

  private static LayoutBuilder readFooter(byte[] footer, long footerStart)
      throws MalformedException {
    ProtobufReader in = new ProtobufReader(footer, 0, footer.length);
    int stripes = in.count(FOOTER_STRIPES);
    LayoutBuilder layout = new LayoutBuilder(FileLayout.Format.ORC, footerStart, stripes, 0);
    CRC32C schema = new CRC32C();
    int stripe = 0;
    while (in.nextField()) {
      switch (in.field) {
        case FOOTER_STRIPES -> {
          long[] told = in.readNumbersOfField(STRIPE_FOOTER);
          long start = told[STRIPE_OFFSET];
          long bytes = told[STRIPE_FOOTER];
          if (bytes > MAX_FOOTER_BYTES) {
            throw new MalformedException("a stripe's footer of " + bytes + " bytes");
          }
          layout.stripe(stripe++, start, told[STRIPE_INDEX], told[STRIPE_DATA], bytes);
        }
        case FOOTER_TYPES -> in.addTo(schema);
        case FOOTER_ENCRYPTION -> throw new MalformedException("encrypted");
        default -> in.skipField();
      }
    }
    layout.schema(schema.getValue());
    return layout;
  }
}
