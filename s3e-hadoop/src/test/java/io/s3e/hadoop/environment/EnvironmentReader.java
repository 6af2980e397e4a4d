// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.environment;

import io.s3e.hadoop.S3AServer;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.OpenFileOptions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;

/**
 * A program that reads one object and says what came of it: {@value #BYTES} and their checksum or
 * {@value #ERROR} and the exception's class and message, then {@value #FALLBACKS}, then {@value
 * #FILE_SYSTEM}.
 */
public final class EnvironmentReader {
  static final String BYTES = "BYTES ";
  static final String ERROR = "ERROR ";
  static final String FALLBACKS = "FALLBACKS ";
  static final String FILE_SYSTEM = "FILE-SYSTEM ";

  /** A setting of this program's: how much direct memory it leaves to others; unset, all. */
  static final String DIRECT_BYTES_LEFT = "test.direct.bytes.left";

  /** Held to the end, as an application's buffers are. */
  private static final List<ByteBuffer> HELD = new ArrayList<>();

  private EnvironmentReader() {}

  /**
   * @param args endpoint, bucket, key, length, then settings {@code key=value}; one without a value
   *     is unset
   */
  public static void main(String[] args) throws Exception {
    Configuration conf = S3AServer.s3a(URI.create(args[0]));
    conf.set("fs.s3a.input.stream.type", "classic");
    for (int i = 4; i < args.length; i++) {
      String[] setting = args[i].split("=", 2);
      if (setting[1].isEmpty()) {
        conf.unset(setting[0]);
      } else {
        conf.set(setting[0], setting[1]);
      }
    }
    long left = conf.getLong(DIRECT_BYTES_LEFT, 0);
    if (left > 0) {
      leaveDirectMemory(left);
    }
    // Left to Hadoop's shutdown hook, as most programs do.
    FileSystem fileSystem = FileSystem.newInstance(URI.create("s3a://" + args[1]), conf);
    System.out.println(read(fileSystem, new Path("/" + args[2]), Integer.parseInt(args[3])));
    IOStatistics statistics = ((IOStatisticsSource) fileSystem).getIOStatistics();
    System.out.println(FALLBACKS + statistics.counters().getOrDefault("s3e_client_fallback", 0L));
    System.out.println(FILE_SYSTEM + fileSystem.toString().replace('\n', ' '));
  }

  private static String read(FileSystem fileSystem, Path path, int length) throws Exception {
    byte[] bytes = new byte[length];
    // The length is given, so that the read is the first request and not S3A's HEAD.
    try (FSDataInputStream in =
        fileSystem
            .openFile(path)
            .must(OpenFileOptions.FS_OPTION_OPENFILE_LENGTH, Integer.toString(length))
            .build()
            .get()) {
      in.readFully(bytes);
    } catch (IOException e) {
      return ERROR + e.getClass().getName() + " " + chain(e);
    }
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return BYTES + crc.getValue();
  }

  private static String chain(Throwable failure) {
    StringBuilder chain = new StringBuilder();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      chain.append(cause).append(" <- ");
    }
    return chain.toString().replace('\n', ' ');
  }

  /** Takes direct memory until no more than {@code left} bytes of the limit are free. */
  private static void leaveDirectMemory(long left) {
    int piece = 1 << 20;
    try {
      while (true) {
        HELD.add(ByteBuffer.allocateDirect(piece));
      }
    } catch (OutOfMemoryError full) {
      for (long given = 0; given < left; given += piece) {
        HELD.remove(HELD.size() - 1);
      }
      System.gc();
    }
  }
}
