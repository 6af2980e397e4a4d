// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.doctor;

import io.s3e.S3EConfig;
import io.s3e.hadoop.conf.AdapterConfig;
import io.s3e.hadoop.conf.ConfigValues;
import io.s3e.hadoop.conf.S3EKeys;
import io.s3e.hadoop.doctor.Report.Section;
import io.s3e.jvm.HostSizing;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;

/**
 * The budget beside the memory that it is taken from: in this JVM, and in the JVMs that MapReduce
 * and Spark start, by their configuration.
 */
final class MemoryChecks {
  private static final long MIB = 1L << 20;

  /** Hadoop's, where neither container nor heap is set: 1024 MiB, of which the heap has 0.8. */
  private static final int CONTAINER_MIB = 1024;

  private static final float HEAP_RATIO = 0.8f;
  private static final String HEAP_RATIO_KEY = "mapreduce.job.heap.memory-mb.ratio";

  /** Spark's: a tenth of the heap, and 384 MiB at least. */
  private static final long EXECUTOR_MIB = 1024;

  private static final double OVERHEAD_FACTOR = 0.1;
  private static final long LEAST_OVERHEAD_MIB = 384;

  private static final Pattern HEAP_OPTION = Pattern.compile("-Xmx(\\d{1,12})([kKmMgGtT]?)");
  private static final Pattern SPARK_SIZE =
      Pattern.compile("(\\d{1,12})(?:([kmgt])b?|b)?", Pattern.CASE_INSENSITIVE);

  private final Settings settings;
  private final ClassPath classPath;
  private final Report.Part report;
  private final HostSizing host = HostSizing.ofThisJvm();

  MemoryChecks(Settings settings, ClassPath classPath, Report report) {
    this.settings = settings;
    this.classPath = classPath;
    this.report = report.in(Section.MEMORY);
  }

  void run(AdapterConfig config) {
    checkThisJvm(config.engine());
    if (classPath.has(Library.SPARK) || settings.namesPlugin()) {
      checkExecutor(config);
    } else {
      checkTask(config, "map");
      checkTask(config, "reduce");
    }
  }

  private void checkThisJvm(S3EConfig engine) {
    long applied = engine.effectiveMemoryBytes();
    String value =
        String.format(
            Locale.ROOT,
            "budget %s of %s of direct memory, heap %s, %d processors",
            size(applied),
            size(host.directBytes()),
            size(host.heapBytes()),
            host.processors());
    if (engine.memoryBytes() > applied) {
      report.todo(
          "this JVM",
          value,
          S3EKeys.MEMORY_BUDGET.name()
              + " = "
              + ConfigValues.sizeText(engine.memoryBytes())
              + " is more than half of the direct memory: lower it, or raise"
              + " -XX:MaxDirectMemorySize to twice the budget");
    } else {
      report.ok("this JVM", value);
    }
  }

  private void checkTask(AdapterConfig config, String kind) {
    Configuration conf = settings.hadoop();
    String container = "mapreduce." + kind + ".memory.mb";
    String options =
        conf.get("mapred.child.java.opts", "")
            + " "
            + conf.get("mapreduce." + kind + ".java.opts", "");
    long containerBytes;
    float ratio;
    try {
      containerBytes = conf.getInt(container, -1) * MIB;
      ratio = conf.getFloat(HEAP_RATIO_KEY, HEAP_RATIO);
    } catch (NumberFormatException e) {
      String keys = container + " and " + HEAP_RATIO_KEY;
      report.todo(
          "a " + kind + " task",
          "no number: " + e.getMessage(),
          "Set " + keys + " to numbers: MiB, and a share from 0 to 1");
      return;
    }
    long heapBytes = lastHeapOption(options);
    if (!(ratio > 0 && ratio <= 1)) {
      ratio = HEAP_RATIO;
    }
    if (containerBytes <= 0) {
      containerBytes = heapBytes == 0 ? CONTAINER_MIB * MIB : (long) (heapBytes / ratio);
    }
    if (heapBytes == 0) {
      heapBytes = (long) Math.ceil(containerBytes / MIB * ratio) * MIB;
    }
    tell("a " + kind + " task", config, heapBytes, containerBytes, container);
  }

  /** The last -Xmx, which the JVM takes, in bytes; 0 without one. */
  private static long lastHeapOption(String options) {
    long heap = 0;
    Matcher option = HEAP_OPTION.matcher(options);
    while (option.find()) {
      heap = Long.parseLong(option.group(1)) * unit(option.group(2));
    }
    return heap;
  }

  private void checkExecutor(AdapterConfig config) {
    long heap = sparkBytes("spark.executor.memory", EXECUTOR_MIB * MIB, 1);
    String factor = settings.spark("spark.executor.memoryOverheadFactor");
    if (factor.isEmpty() && settings.spark("spark.master").startsWith("k8s:")) {
      factor = settings.spark("spark.kubernetes.memoryOverheadFactor");
    }
    double part =
        factor.matches("\\d{0,9}\\.?\\d{1,9}") ? Double.parseDouble(factor) : OVERHEAD_FACTOR;
    // Of Spark 4.
    long least = sparkBytes("spark.executor.minMemoryOverhead", LEAST_OVERHEAD_MIB * MIB, MIB);
    long byDefault = Math.max(least, (long) (heap * part));
    long overhead = sparkBytes("spark.executor.memoryOverhead", byDefault, MIB);
    tell("an executor", config, heap, heap + overhead, "spark.executor.memoryOverhead");
  }

  /**
   * @param unit of a bare number, in bytes
   */
  private long sparkBytes(String key, long byDefault, long unit) {
    Matcher size = SPARK_SIZE.matcher(settings.spark(key));
    if (!size.matches()) {
      return byDefault;
    }
    String suffix = size.group(2);
    boolean bare = suffix == null && !settings.spark(key).toLowerCase(Locale.ROOT).endsWith("b");
    return Long.parseLong(size.group(1)) * (bare ? unit : unit(suffix == null ? "" : suffix));
  }

  private static long unit(String suffix) {
    return switch (suffix.toLowerCase(Locale.ROOT)) {
      case "k" -> 1L << 10;
      case "m" -> MIB;
      case "g" -> 1L << 30;
      case "t" -> 1L << 40;
      default -> 1;
    };
  }

  /**
   * @param limitKey raises the memory beside the heap
   */
  private void tell(
      String who, AdapterConfig config, long heapBytes, long containerBytes, String limitKey) {
    HostSizing task = new HostSizing(host.processors(), heapBytes, heapBytes);
    long wanted =
        config.budgetBytes() == S3EConfig.AUTOMATIC
            ? task.memoryBytes(config.targetGbps())
            : config.budgetBytes();
    long budget = task.appliedBytes(wanted, 2L * config.engine().blockBytes());
    long beside = containerBytes - heapBytes;
    String value =
        String.format(
            Locale.ROOT,
            "budget %s, of the %s that its container of %s has beside the heap of %s",
            size(budget),
            size(beside),
            size(containerBytes),
            size(heapBytes));
    // The JVM itself takes the rest.
    if (budget > beside - beside / 4) {
      report.todo(
          who,
          value,
          "Raise "
              + limitKey
              + " or lower "
              + S3EKeys.MEMORY_BUDGET.name()
              + ": "
              + (budget > beside
                  ? "it does not fit"
                  : "more than three quarters of that are taken"));
    } else {
      report.ok(who, value);
    }
  }

  static String size(long bytes) {
    return bytes / MIB + " MiB";
  }
}
