// SPDX-License-Identifier: Apache-2.0
package io.s3e.spark;

import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.jvm.HostSizing;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;

/**
 * Whether S3E's memory budget fits the memory that executors are asked for, by the settings alone:
 * before there is an executor.
 */
final class MemoryChecks {
  private static final long MIB = 1L << 20;
  private static final Pattern DIRECT_LIMIT =
      Pattern.compile("-XX:MaxDirectMemorySize=(\\d+[kKmMgGtT]?)");

  private static final String LEAST_OVERHEAD = "384m";
  private static final double OVERHEAD_FACTOR = 0.1;

  /** The part of the overhead for what the JVM itself and Spark's network take. */
  private static final double OF_OTHERS = 0.25;

  private final SparkConf spark;
  private final AdapterConfig config;
  private final long heapBytes;

  /**
   * @param config as it applies to buckets without settings of their own
   */
  MemoryChecks(SparkConf spark, AdapterConfig config) {
    this.spark = spark;
    this.config = config;
    heapBytes = spark.getSizeAsMb("spark.executor.memory", "1g") << 20;
  }

  /** One sentence for each setting that does not fit, with the numbers and the key to set. */
  List<String> findings() {
    List<String> findings = new ArrayList<>();
    long wanted = config.budgetBytes();
    // For the JVM, 0 is no limit of its own.
    long direct = directLimit().filter(bytes -> bytes > 0).orElse(heapBytes);
    if (wanted > direct / 2) {
      findings.add(
          String.format(
              Locale.ROOT,
              "spark.s3e.memory.budget is %d MiB, but half of an executor's direct memory is %d MiB"
                  + " and no more applies: set -XX:MaxDirectMemorySize=%dm in"
                  + " spark.executor.extraJavaOptions, or lower the budget",
              mib(wanted),
              mib(direct / 2),
              wholeMib(2 * wanted)));
    }
    long budget = budget(wanted, direct);
    long overhead = overheadBytes();
    if (isInContainer() && budget > (1 - OF_OTHERS) * overhead) {
      findings.add(
          String.format(
              Locale.ROOT,
              "S3E's budget of %d MiB of direct memory is more than three quarters of an executor's"
                  + " overhead of %d MiB, so that its container may be killed: set"
                  + " spark.executor.memoryOverhead to %dm, or spark.s3e.memory.budget to %dm",
              mib(budget),
              mib(overhead),
              wholeMib((long) Math.ceil(budget / (1 - OF_OTHERS))),
              mib((long) ((1 - OF_OTHERS) * overhead))));
    }
    return findings;
  }

  private long budget(long wanted, long direct) {
    int cores = spark.getInt("spark.executor.cores", 1);
    HostSizing host = new HostSizing(cores, heapBytes, direct);
    return wanted > 0 ? Math.min(wanted, direct / 2) : host.memoryBytes(config.targetGbps());
  }

  /** Where memory beside the heap has a limit that somebody enforces. */
  private boolean isInContainer() {
    return isOnKubernetes() || spark.get("spark.master", "").equals("yarn");
  }

  private boolean isOnKubernetes() {
    return spark.get("spark.master", "").startsWith("k8s:");
  }

  private double overheadFactor() {
    // Of Kubernetes alone, and behind the other; Spark itself sets it for Python, to 0.4.
    double byDefault =
        isOnKubernetes()
            ? spark.getDouble("spark.kubernetes.memoryOverheadFactor", OVERHEAD_FACTOR)
            : OVERHEAD_FACTOR;
    return spark.getDouble("spark.executor.memoryOverheadFactor", byDefault);
  }

  private long overheadBytes() {
    Optional<String> set = Optional.ofNullable(spark.get("spark.executor.memoryOverhead", null));
    return set.isPresent()
        ? spark.getSizeAsMb("spark.executor.memoryOverhead") * MIB
        : Math.max(
            (long) (overheadFactor() * heapBytes),
            // Of Spark 4.
            spark.getSizeAsMb("spark.executor.minMemoryOverhead", LEAST_OVERHEAD) * MIB);
  }

  /** The limit of direct memory in the executors' options; without one it is that of the heap. */
  private Optional<Long> directLimit() {
    String options =
        spark.get("spark.executor.defaultJavaOptions", "")
            + " "
            + spark.get("spark.executor.extraJavaOptions", "");
    Matcher matcher = DIRECT_LIMIT.matcher(options);
    Optional<Long> last = Optional.empty();
    while (matcher.find()) {
      last = Optional.of(bytes(matcher.group(1)));
    }
    return last;
  }

  private static long bytes(String text) {
    int unit = "kmgt".indexOf(Character.toLowerCase(text.charAt(text.length() - 1)));
    return unit < 0
        ? Long.parseLong(text)
        : Long.parseLong(text.substring(0, text.length() - 1)) << (10 * (unit + 1));
  }

  private static long mib(long bytes) {
    return bytes / MIB;
  }

  /** The least number of MiB that hold so many bytes: less than that would be warned of again. */
  private static long wholeMib(long bytes) {
    return (bytes + MIB - 1) / MIB;
  }
}
