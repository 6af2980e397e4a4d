// SPDX-License-Identifier: Apache-2.0
package io.s3e.jobs;

import java.io.InputStream;
import java.net.URI;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.Path;

/**
 * Prints the SHA-256 of a file that FileContext opens, as YARN's localizer and Spark's checkpoints
 * do.
 */
public final class Digest {
  private Digest() {}

  public static void main(String[] args) throws Exception {
    URI uri = URI.create(args[0]);
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    byte[] buffer = new byte[1 << 16];
    try (InputStream in =
        FileContext.getFileContext(uri, new Configuration()).open(new Path(uri))) {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        digest.update(buffer, 0, read);
      }
    }
    System.out.println(HexFormat.of().formatHex(digest.digest()));
  }
}
