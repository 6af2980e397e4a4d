// SPDX-License-Identifier: Apache-2.0
package io.s3e.cli;

import com.sun.management.OperatingSystemMXBean;
import io.s3e.OpenOptions;
import io.s3e.S3E;
import io.s3e.S3EConfig;
import io.s3e.block.ByteRange;
import io.s3e.block.ObjectRef;
import io.s3e.client.HeadRequest;
import io.s3e.client.ObjectHead;
import io.s3e.client.aws.AwsClientSettings;
import io.s3e.client.aws.AwsClients;
import java.io.EOFException;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The part of an object to read, and the number of requests. */
final class ReadOptions extends TransferOptions {
  private static final long MIN_PART = 64L << 10;
  private static final long MAX_PART = 64L << 20;
  private static final long MIN_MEMORY = 64L << 20;

  /**
   * Memory for a request in flight, in parts: the engine gives five eighths of its memory to the
   * client, which keeps an eighth of that for short reads and an eighth for readers that wait.
   */
  private static final double PARTS_PER_REQUEST = 8.0 / 5 * 8 / 7 * 8 / 7;

  /** The CRT opens a connection for each 0.4 Gbit/s. */
  private static final double GBPS_PER_CONNECTION = 0.4;

  @Option(
      names = "--range",
      paramLabel = "RANGE",
      converter = RangeSpec.Converter.class,
      description = "Only these bytes: " + RangeSpec.FORM + ".")
  private @Nullable RangeSpec range;

  @Option(names = "--version-id", paramLabel = "ID", description = "This version of the object.")
  private @Nullable String versionId;

  @Option(
      names = "--part-size",
      paramLabel = "SIZE",
      converter = ByteSize.Converter.class,
      description = "The longest request, 64k to 64m; default 8m.")
  private long partSize = 8L << 20;

  /**
   * An engine with memory for that many requests of that size.
   *
   * @param err is told where this JVM has less
   * @throws IllegalArgumentException if an option is out of range
   * @throws io.s3e.client.library.CrtUnusableException if the AWS CRT cannot be used here
   */
  S3E engine(StoreOptions store, PrintStream err) {
    int parallel = parallel();
    if (partSize < MIN_PART || partSize > MAX_PART) {
      throw new IllegalArgumentException("--part-size is " + partSize + "; accepted is 64k to 64m");
    }
    long memory = Math.max(MIN_MEMORY, (long) (PARTS_PER_REQUEST * parallel * partSize));
    requireMemory(memory);
    S3EConfig config =
        S3EConfig.DEFAULTS.toBuilder().requestBytes((int) partSize).memoryBytes(memory).build();
    long applied = config.effectiveMemoryBytes();
    if (applied < memory) {
      err.printf(
          "--parallel and --part-size take %s of memory; %s, half of this JVM's direct memory,"
              + " apply, so that fewer requests are under way:"
              + " S3E_JAVA_OPTS=-XX:MaxDirectMemorySize=%dm has room for all%n",
          ByteSize.format(memory), ByteSize.format(applied), ((2 * memory) >> 20) + 1);
    }
    AwsClientSettings.Builder settings = store.settings().maxConnections(parallel);
    double gbps = parallel * GBPS_PER_CONNECTION;
    return S3E.create(config, AwsClients.crt(settings.targetGbps(gbps).build()));
  }

  private static void requireMemory(long bytes) {
    long half = physicalMemory() / 2;
    if (bytes > half) {
      throw new IllegalArgumentException(
          "--parallel and --part-size take "
              + ByteSize.format(bytes)
              + " of memory; accepted is half of what this machine has, "
              + ByteSize.format(half));
    }
  }

  private static long physicalMemory() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
  }

  /**
   * The bytes to read.
   *
   * @param open the version that the store told, so that no other is read
   * @param bytes within the object
   * @param heads how many HEADs the store was sent for it
   */
  record Selection(OpenOptions open, ObjectHead head, ByteRange bytes, int heads) {}

  /**
   * Asks the store for size and version.
   *
   * @throws EOFException if the object has nothing of the range
   */
  Selection select(S3E engine, ObjectRef object) throws IOException {
    HeadRequest request = new HeadRequest(object, versionId, Map.of(), null);
    StatedHead stated = StatedHead.ask(engine.client(), request);
    ObjectHead head = stated.head();
    // To name a version takes s3:GetObjectVersion: the ETag alone holds to what the HEAD saw.
    String version = versionId == null && head.etag() == null ? head.versionId() : versionId;
    ByteRange bytes = range == null ? new ByteRange(0, head.size()) : range.in(head.size());
    OpenOptions open =
        OpenOptions.DEFAULTS
            .withSize(head.size())
            .withVersion(head.etag(), version)
            .withSplit(bytes);
    return new Selection(open, head, bytes, stated.sent());
  }
}
