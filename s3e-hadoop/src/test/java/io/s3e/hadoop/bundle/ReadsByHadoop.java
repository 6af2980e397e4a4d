// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.bundle;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;

/**
 * {@link CheckedReads} through {@code s3a://}; names S3E in configuration only. Arguments: the
 * endpoint, bucket, key, the two secrets, and the directory of the cache.
 */
final class ReadsByHadoop extends CheckedReads {
  private final FileSystem fs;
  private final Path path;

  private ReadsByHadoop(FileSystem fs, Path path) {
    this.fs = fs;
    this.path = path;
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("fs.s3a.impl", "io.s3e.hadoop.S3EFileSystem");
    conf.set("fs.s3a.endpoint", args[0]);
    conf.set("fs.s3a.endpoint.region", "us-east-1");
    conf.set("fs.s3a.access.key", args[3]);
    conf.set("fs.s3a.secret.key", args[4]);
    conf.setBoolean("fs.s3a.path.style.access", true);
    conf.setInt("fs.s3a.s3e.memory.budget", MEMORY_BYTES);
    conf.set("fs.s3a.s3e.cache.mode", "disk");
    conf.set("fs.s3a.s3e.cache.scope", "host");
    conf.set("fs.s3a.s3e.cache.dirs", args[5]);
    conf.setLong("fs.s3a.s3e.cache.capacity", 16L * LENGTH);
    URI bucket = URI.create("s3a://" + args[1]);
    try (FileSystem fs = FileSystem.newInstance(bucket, conf)) {
      new ReadsByHadoop(fs, new Path(bucket + "/" + args[2])).run();
    }
    System.out.println("END");
  }

  @Override
  Source open() throws IOException {
    FSDataInputStream in = fs.open(path);
    return new Source() {
      @Override
      public InputStream inOrder() {
        return in;
      }

      @Override
      public void readFullyAt(long at, byte[] target) throws IOException {
        in.readFully(at, target);
      }

      @Override
      public List<CompletableFuture<ByteBuffer>> readVectored(List<int[]> ranges)
          throws IOException {
        List<FileRange> asked = new ArrayList<>();
        ranges.forEach(range -> asked.add(FileRange.createFileRange(range[0], range[1])));
        in.readVectored(asked, ByteBuffer::allocate);
        return asked.stream().map(FileRange::getData).toList();
      }

      @Override
      public void close() throws IOException {
        in.close();
      }
    };
  }

  /** As the file system says it; with what has gone to S3A's client. */
  @Override
  String client() {
    String said = fs.toString().replaceFirst("(?s).* by ([\\w-]+).*", "$1");
    return said + " fallbacks " + counter("s3e_client_fallback");
  }

  @Override
  long fetchedBytes() {
    return counter("s3e_fetched_bytes");
  }

  @Override
  long diskBytes() {
    return fs instanceof IOStatisticsSource source
        ? source.getIOStatistics().gauges().getOrDefault("s3e_cache_bytes", 0L)
        : 0;
  }

  private long counter(String name) {
    return fs instanceof IOStatisticsSource source
        ? source.getIOStatistics().counters().getOrDefault(name, 0L)
        : 0;
  }
}
