// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.formats;

import static io.s3e.testing.Eventually.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.block.ObjectRef;
import io.s3e.hadoop.S3AReads;
import io.s3e.hadoop.S3AServer;
import io.s3e.testing.HostileS3Server;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.impl.AWSClientConfig;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;

/**
 * A file system over a bucket of its own of a {@link HostileS3Server}, which libraries find by
 * {@link FileSystem#get}. {@link #close} looks whether all memory has come back.
 */
final class ColumnarStore implements AutoCloseable {
  /** A stream, and for S3E what {@code fs.s3a.s3e.columnar} is set to. */
  enum Stream {
    AUTO,
    OFF,
    OBSERVE,
    CLASSIC
  }

  /**
   * What was asked of the server.
   *
   * @param dependent GETs that a reader waited for when they were sent
   */
  record Traffic(long gets, long dependent, long bytes) {
    Traffic minus(Traffic earlier) {
      return new Traffic(gets - earlier.gets, dependent - earlier.dependent, bytes - earlier.bytes);
    }
  }

  private static final Pattern ASKED = Pattern.compile("s3e_columnar_asked_bytes");
  private static final Pattern ENDED =
      Pattern.compile("s3e_columnar_(withdrawn|.*_used|.*_wasted)_bytes");
  private static final Pattern WASTED = Pattern.compile("s3e_columnar_.*_wasted_bytes");

  private static final AtomicInteger BUCKETS = new AtomicInteger();

  private final HostileS3Server server;
  private final Stream stream;
  private final String bucket = "formats-" + BUCKETS.incrementAndGet();
  private final Configuration conf;
  private final FileSystem fs;

  ColumnarStore(HostileS3Server server, Stream stream) throws Exception {
    this(server, stream, Map.of());
  }

  /** With further keys. */
  ColumnarStore(HostileS3Server server, Stream stream, Map<String, String> settings)
      throws Exception {
    this.server = server;
    this.stream = stream;
    conf = configuration(server.endpoint(), stream);
    settings.forEach(conf::set);
    fs = FileSystem.get(URI.create("s3a://" + bucket), conf);
  }

  static Configuration configuration(URI endpoint, Stream stream) {
    Configuration conf =
        stream == Stream.CLASSIC ? S3AServer.s3a(endpoint) : S3AServer.s3e(endpoint);
    conf.setBoolean("fs.s3a.impl.disable.cache", false);
    if (stream == Stream.CLASSIC) {
      conf.set("fs.s3a.input.stream.type", "classic");
      conf.unset("fs.s3a.attempts.maximum");
      conf.unset("fs.s3a.retry.limit");
      return conf;
    }
    conf.set("fs.s3a.s3e.columnar", stream.name().toLowerCase(Locale.ROOT));
    conf.set("fs.s3a.s3e.memory.budget", "256M");
    S3AServer.stallsAfter(conf, Duration.ofSeconds(1));
    conf.set("fs.s3a.s3e.read.timeout", "60s");
    return S3AReads.small(conf);
  }

  Configuration conf() {
    return conf;
  }

  FileSystem fs() {
    return fs;
  }

  /** Stores a file. */
  Path put(String name, byte[] content) {
    server.put(new ObjectRef(bucket, name), content);
    return new Path("s3a://" + bucket + "/" + name);
  }

  /** Of this bucket since the beginning. */
  Traffic traffic() {
    long gets = 0;
    long bytes = 0;
    for (HostileS3Server.Request get : server.gets()) {
      if (get.target().startsWith("/" + bucket + "/")) {
        gets++;
        String[] bounds = get.header("Range").substring("bytes=".length()).split("-");
        bytes += Long.parseLong(bounds[1]) + 1 - Long.parseLong(bounds[0]);
      }
    }
    long guesses = stream == Stream.CLASSIC ? 0 : statistic("s3e_prefetch_gets");
    return new Traffic(gets, gets - guesses, bytes);
  }

  /** A counter or gauge of the file system. */
  long statistic(String name) {
    IOStatistics statistics = IOStatisticsSupport.retrieveIOStatistics(fs);
    Long counter = statistics.counters().get(name);
    return counter != null ? counter : statistics.gauges().get(name);
  }

  /** Closes the file system; with S3E all guesses have an end and all memory has to come back. */
  @Override
  public void close() throws Exception {
    fs.close();
    AWSClientConfig.resetMinimumOperationDuration();
    if (stream != Stream.CLASSIC) {
      checkGuesses(fs);
      awaitTrue(
          "all memory is given back", () -> statistic("stream_read_active_memory_in_use") == 0);
    }
  }

  /** Bytes that were asked for ahead of readers of columns, and not read. */
  long wastedGuesses() {
    return sum(fs, WASTED);
  }

  /** Each byte that was asked for ahead was used, wasted or withdrawn. All streams are closed. */
  static void checkGuesses(FileSystem fs) {
    assertThat(sum(fs, ASKED)).as("bytes asked for").isEqualTo(sum(fs, ENDED));
  }

  private static long sum(FileSystem fs, Pattern names) {
    return IOStatisticsSupport.retrieveIOStatistics(fs).counters().entrySet().stream()
        .filter(counter -> names.matcher(counter.getKey()).matches())
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
