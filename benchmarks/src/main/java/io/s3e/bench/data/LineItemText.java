// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench.data;

import io.trino.tpch.LineItem;
import io.trino.tpch.LineItemGenerator;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.function.LongConsumer;

/**
 * Lines of TPC-H lineitem, fields separated by bars, as {@code dbgen} writes them.
 *
 * <p>The lines of a small part of scale 1 are written over and over, each pass with its number in
 * front of every line, so that no two places of the file hold the same bytes and a stream that
 * returns the right line from the wrong place is found out.
 */
public final class LineItemText {

  /** Bytes of one pass: generated once, so that a large file costs little more than its copy. */
  private static final int PASS_BYTES = 32 << 20;

  /** Makes scale 1 of 6,000,000 lines end soon enough for one pass. */
  private static final int PARTS = 16;

  private LineItemText() {}

  /**
   * Writes exactly {@code length} bytes; the last line may be cut.
   *
   * @param progress told how many bytes are written, now and then
   */
  public static void write(Path file, long length, LongConsumer progress) throws IOException {
    byte[] lines = lines((int) Math.min(PASS_BYTES, length));
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 20)) {
      long written = 0;
      for (int pass = 0; written < length; pass++) {
        written += writePass(out, lines, pass, length - written);
        progress.accept(written);
      }
    }
  }

  private static byte[] lines(int atLeast) {
    StringBuilder text = new StringBuilder(atLeast + 256);
    Iterator<LineItem> items = new LineItemGenerator(1.0, 1, PARTS).iterator();
    while (text.length() < atLeast && items.hasNext()) {
      text.append(items.next().toLine()).append('\n');
    }
    return text.toString().getBytes(StandardCharsets.US_ASCII);
  }

  /** Writes every line with the pass in front of it, as long as there is room. */
  private static long writePass(OutputStream out, byte[] lines, int pass, long room)
      throws IOException {
    byte[] prefix = (pass + "|").getBytes(StandardCharsets.US_ASCII);
    long left = room;
    int start = 0;
    while (start < lines.length && left > 0) {
      int end = start;
      while (lines[end] != '\n') {
        end++;
      }
      int prefixLength = (int) Math.min(prefix.length, left);
      out.write(prefix, 0, prefixLength);
      left -= prefixLength;
      int lineLength = (int) Math.min(end + 1 - start, left);
      out.write(lines, start, lineLength);
      left -= lineLength;
      start = end + 1;
    }
    return room - left;
  }
}
