// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop;

import io.s3e.block.ByteRange;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.hadoop.fs.FSDataInputStream;

/** A Parquet file of the recordings: its real footer, behind zeros in place of its data. */
public final class RecordedParquet {
  private static final int TRAILER_BYTES = 8;

  private final String name;
  private final byte[] content;
  private final int footerBytes;

  private RecordedParquet(String name, byte[] content, int footerBytes) {
    this.name = name;
    this.content = content;
    this.footerBytes = footerBytes;
  }

  /** TPC-H's lineitem in 9 row groups of 2.5 MB. */
  public static RecordedParquet lineitem() {
    byte[] footer = resource("lineitem.footer");
    byte[] content = new byte[Integer.parseInt(lines("lineitem").get(0).split(" ")[4])];
    System.arraycopy(footer, 0, content, content.length - footer.length, footer.length);
    return new RecordedParquet("lineitem", content, footer.length);
  }

  private static byte[] resource(String file) {
    try (InputStream in = RecordedParquet.class.getResourceAsStream("/columnar/files/" + file)) {
      return Objects.requireNonNull(in, file).readAllBytes();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> lines(String name) {
    return new String(resource(name + ".layout.tsv"), StandardCharsets.UTF_8).lines().toList();
  }

  public byte[] content() {
    return content;
  }

  /** A column's chunk of each row group. */
  public List<ByteRange> chunks(String column) {
    List<ByteRange> chunks = new ArrayList<>();
    for (String line : lines(name)) {
      String[] words = line.split("\t");
      if (words.length > 1 && words[1].equals(column)) {
        chunks.add(ByteRange.ofLength(Long.parseLong(words[5]), Long.parseLong(words[6])));
      }
    }
    return chunks;
  }

  /** Reads the footer as parquet-java does. */
  public void readFooter(FSDataInputStream in) throws IOException {
    in.seek(content.length - TRAILER_BYTES);
    in.readFully(new byte[TRAILER_BYTES]);
    in.seek(content.length - footerBytes);
    in.readFully(new byte[footerBytes - TRAILER_BYTES]);
  }
}
