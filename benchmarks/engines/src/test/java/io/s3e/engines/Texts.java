// SPDX-License-Identifier: Apache-2.0
package io.s3e.engines;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.compress.BZip2Codec;

/** Text to count words in: the same for one seed. */
final class Texts {
  private static final int WORDS = 5_000;

  private Texts() {}

  /** Lines of up to twenty words. */
  static byte[] text(int bytes, long seed) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder(bytes + 256);
    while (text.length() < bytes) {
      for (int word = random.nextInt(20); word >= 0; word--) {
        text.append("word").append(random.nextInt(WORDS)).append(word == 0 ? '\n' : ' ');
      }
    }
    byte[] ascii = text.toString().getBytes(StandardCharsets.US_ASCII);
    byte[] cut = Arrays.copyOf(ascii, bytes);
    cut[bytes - 1] = '\n';
    return cut;
  }

  static byte[] gzip(byte[] text) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = new GZIPOutputStream(bytes)) {
      out.write(text);
    }
    return bytes.toByteArray();
  }

  static byte[] bzip2(byte[] text) throws IOException {
    BZip2Codec codec = new BZip2Codec();
    codec.setConf(new Configuration(false));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = codec.createOutputStream(bytes)) {
      out.write(text);
    }
    return bytes.toByteArray();
  }
}
