// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.setup;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;

/**
 * Makes S3E's file system by its name, as programs do, and says what became of it. Refers to
 * nothing that may be missing: it is run on class paths that lack something.
 */
final class FileSystemMaker {
  private static final String CAUSED_BY = " <- ";

  private FileSystemMaker() {}

  // Whatever is thrown is what the test is about.
  @SuppressWarnings("IllegalCatch")
  public static void main(String[] arguments) {
    Configuration conf = new Configuration();
    conf.set("fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem");
    conf.set("fs.AbstractFileSystem.s3a.impl", "io.s3e.hadoop.S3EAbstractFileSystem");
    URI bucket = URI.create("s3a://bucket");
    try {
      if (arguments[0].equals("context")) {
        FileContext.getFileContext(bucket, conf);
      } else {
        FileSystem.newInstance(bucket, conf);
      }
      System.out.println("SAID made");
    } catch (Throwable e) {
      System.out.println("SAID " + words(e));
    }
  }

  private static String words(Throwable thrown) {
    StringBuilder words = new StringBuilder();
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      words.append(words.length() == 0 ? "" : CAUSED_BY).append(cause);
    }
    return words.toString();
  }
}
