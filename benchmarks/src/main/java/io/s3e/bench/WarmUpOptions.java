package io.s3e.bench;

import java.time.Duration;
import picocli.CommandLine.Option;

/** Options of {@code bench} about what a JVM has done before its runs are counted. */
final class WarmUpOptions {

  private static final long MEBIBYTE = 1L << 20;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      defaultValue = "3",
      description =
          "How long each engine runs each workload before it is counted; once at least, but not in"
              + " cold ones. In manyfs and neighbour every JVM reads so long.")
  private double seconds;

  @Option(
      names = "--warm-up-size",
      paramLabel = "MIB",
      defaultValue = "0",
      description =
          "How much each engine reads in each workload before it is counted, at least; 10240 for"
              + " the processor time of a JVM whose compiler is done.")
  private long mebibytes;

  @Option(
      names = "--cold-jvms",
      paramLabel = "N",
      defaultValue = "15",
      description =
          "How many fresh JVMs each engine has in cold and cold-NAME; --rounds elsewhere.")
  private int coldJvms;

  /**
   * @throws IllegalArgumentException when it is negative
   */
  Duration time() {
    if (!(seconds >= 0)) {
      throw new IllegalArgumentException("--warm-up must be at least 0 s and is " + seconds);
    }
    return Duration.ofMillis(Math.round(seconds * 1e3));
  }

  /**
   * @throws IllegalArgumentException when it is negative
   */
  long bytes() {
    if (mebibytes < 0) {
      throw new IllegalArgumentException(
          "--warm-up-size must be at least 0 MiB and is " + mebibytes);
    }
    return mebibytes * MEBIBYTE;
  }

  /**
   * @throws IllegalArgumentException when there is none
   */
  int coldJvms() {
    if (coldJvms < 1) {
      throw new IllegalArgumentException("--cold-jvms must be at least 1 and is " + coldJvms);
    }
    return coldJvms;
  }
}
