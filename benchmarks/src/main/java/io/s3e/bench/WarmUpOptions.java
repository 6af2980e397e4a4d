// SPDX-License-Identifier: Apache-2.0
package io.s3e.bench;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Options of {@code bench} about what a JVM has done before its runs are counted. */
final class WarmUpOptions {

  private static final long MEBIBYTE = 1L << 20;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      showDefaultValue = Visibility.NEVER,
      description =
          "How long each engine runs each workload before it is counted; once at least, but not in"
              + " cold ones. In manyfs and neighbour every JVM reads so long. Default: 3; 12 in the"
              + " preset standard, 8 in aws.")
  private @Nullable Double seconds;

  @Option(
      names = "--steady",
      paramLabel = "PERCENT",
      showDefaultValue = Visibility.NEVER,
      description =
          "A warm-up ends before its time with a run whose rate differs by no more from that of the"
              + " run before, once the JVM's compilers take no more than twice that part of the"
              + " machine's processor time; an engine's rounds end after three whose rates differ"
              + " by no more; 0: never. Default: 0; 5 in the presets standard and aws.")
  private @Nullable Double steadyPercent;

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
  Duration time(Preset.WarmUp byPreset) {
    double time = seconds == null ? byPreset.seconds() : seconds;
    if (!(time >= 0)) {
      throw new IllegalArgumentException("--warm-up must be at least 0 s and is " + time);
    }
    return Duration.ofMillis(Math.round(time * 1e3));
  }

  /**
   * By how much of its rate a run may differ from the one before for the warm-up to end.
   *
   * @throws IllegalArgumentException when it is no share
   */
  double steadyShare(Preset.WarmUp byPreset) {
    double percent = steadyPercent == null ? byPreset.steadyPercent() : steadyPercent;
    if (!(percent >= 0 && percent <= 100)) {
      throw new IllegalArgumentException("--steady must be 0 to 100 % and is " + percent);
    }
    return percent / 100;
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
