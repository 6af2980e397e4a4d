// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.bundle;

import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;

/**
 * A program that reads by S3E and by the application's own aws-crt in one JVM, and prints what
 * became of it. It names S3E in configuration only, so that the bundle may be in a child loader.
 * Arguments: the endpoint, bucket, key, length, the two secrets, and which of the two reads first;
 * "none" leaves the application's out. The system property {@code bundle} names the jar to put into
 * a child loader.
 */
public final class BothCrts {
  private final URI endpoint;
  private final String bucket;
  private final String key;
  private final int length;
  private final String accessKey;
  private final String secretKey;

  private BothCrts(String[] args) {
    endpoint = URI.create(args[0]);
    bucket = args[1];
    key = args[2];
    length = Integer.parseInt(args[3]);
    accessKey = args[4];
    secretKey = args[5];
  }

  public static void main(String[] args) throws Exception {
    BothCrts program = new BothCrts(args);
    String bundle = System.getProperty("bundle");
    if (bundle != null) {
      // Never closed: native threads of the CRT may ask for classes until the JVM ends.
      Thread.currentThread()
          .setContextClassLoader(
              new URLClassLoader(
                  new URL[] {Path.of(bundle).toUri().toURL()}, BothCrts.class.getClassLoader()));
    }
    if (args[6].equals("application")) {
      program.byApplication();
    }
    try (FileSystem fs = program.fileSystem()) {
      program.byS3e(fs);
      if (args[6].equals("s3e")) {
        // While S3E's event loops live.
        program.byApplication();
      }
      program.byS3e(fs);
    }
    System.out.println("END");
  }

  private void byApplication() throws Exception {
    long read =
        CrtOfTheApplication.read(endpoint, "/" + bucket + "/" + key, length, accessKey, secretKey);
    System.out.println("APPLICATION " + CrtOfTheApplication.version() + " read " + read);
  }

  private FileSystem fileSystem() throws IOException {
    Configuration conf = new Configuration();
    conf.setClassLoader(Thread.currentThread().getContextClassLoader());
    conf.set("fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem");
    conf.set("fs.s3a.endpoint", endpoint.toString());
    conf.set("fs.s3a.endpoint.region", "us-east-1");
    conf.set("fs.s3a.access.key", accessKey);
    conf.set("fs.s3a.secret.key", secretKey);
    conf.setBoolean("fs.s3a.path.style.access", true);
    conf.set("fs.s3a.s3e.cache.mode", "memory");
    return FileSystem.newInstance(URI.create("s3a://" + bucket), conf);
  }

  private void byS3e(FileSystem fs) throws IOException {
    byte[] bytes = new byte[length];
    try (FSDataInputStream in =
        fs.open(new org.apache.hadoop.fs.Path("s3a://" + bucket + "/" + key))) {
      in.readFully(0, bytes);
    }
    int wrong = 0;
    for (int i = 0; i < length; i++) {
      wrong += bytes[i] == (byte) (i % 251) ? 0 : 1;
    }
    System.out.println("S3E read " + length + " wrong " + wrong + " " + fs);
  }
}
