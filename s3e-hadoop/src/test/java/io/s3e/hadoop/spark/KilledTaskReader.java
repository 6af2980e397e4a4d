// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.spark;

import io.s3e.hadoop.S3AServer;
import io.s3e.hadoop.S3EFileSystem;
import io.s3e.testing.Pause;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A task of Spark's that reads from a store which accepts connections and says nothing, and that is
 * killed meanwhile. Spark's classes are those that the test has made.
 */
final class KilledTaskReader {
  private KilledTaskReader() {}

  public static void main(String[] arguments) throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 100, InetAddress.getLoopbackAddress())) {
      Configuration conf = S3AServer.s3a(URI.create("http://127.0.0.1:" + silent.getLocalPort()));
      conf.set("fs.s3a.impl", S3EFileSystem.class.getName());
      conf.set("fs.s3a.s3e.read.timeout", "10m");
      conf.set("fs.s3a.s3e.client", "s3a");
      FileSystem fs = FileSystem.newInstance(URI.create("s3a://" + S3AServer.BUCKET), conf);
      FSDataInputStream in =
          fs.openFile(new Path("/a/file.csv"))
              .must("fs.option.openfile.length", Long.toString(8 << 20))
              .build()
              .get();
      Thread killer =
          new Thread(
              () -> {
                sleep();
                System.setProperty("test.task.killed", "true");
                System.out.println("KILLED");
              });
      killer.start();
      try {
        System.out.println("READ " + in.read());
      } catch (IOException e) {
        System.out.println("FAILED " + e);
      }
      // The requests that are under way end with the process.
      Runtime.getRuntime().halt(0);
    }
  }

  private static void sleep() {
    try {
      Pause.millis(1_000, "the task has begun to read");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
