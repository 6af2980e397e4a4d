// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.environment;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.ForkedJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;

/**
 * The report of an {@link EnvironmentReader}.
 *
 * @param result its line of bytes or error
 * @param fallbacks as the file system counts them
 * @param log all other lines, with those of the log
 * @param time from the start to the end of the process
 */
record Outcome(String result, int fallbacks, String fileSystem, List<String> log, Duration time) {
  private static final String INSTEAD = "by S3A's client";

  /**
   * Waits until it has ended.
   *
   * @param start in {@link System#nanoTime}
   */
  static Outcome of(ForkedJvm jvm, long start) throws InterruptedException {
    List<String> log = new ArrayList<>();
    int fallbacks = Integer.parseInt(jvm.await(EnvironmentReader.FALLBACKS, log));
    String fileSystem = jvm.await(EnvironmentReader.FILE_SYSTEM, log);
    String result =
        log.stream()
            .filter(
                line ->
                    line.startsWith(EnvironmentReader.BYTES)
                        || line.startsWith(EnvironmentReader.ERROR))
            .findFirst()
            .orElseThrow(() -> new AssertionError(log));
    long time = jvm.awaitEnd() - start;
    log.addAll(jvm.rest());
    return new Outcome(
        result, fallbacks, fileSystem, log, Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(time)));
  }

  boolean isContent(byte[] content) {
    CRC32 crc = new CRC32();
    crc.update(content);
    return result.equals(EnvironmentReader.BYTES + crc.getValue());
  }

  /** The class of the error that it was; fails if it was none. */
  String errorClass() {
    assertThat(result).as("%s", log).startsWith(EnvironmentReader.ERROR);
    return result.split(" ", 3)[1];
  }

  List<String> logged(String part) {
    return log.stream().filter(line -> line.contains(part)).toList();
  }

  /** Asserts that S3E's own client has read it all. */
  void readsByItsOwn(byte[] content) {
    assertThat(isContent(content)).as("%s", this).isTrue();
    assertThat(fileSystem).contains(" by crt");
    assertThat(fallbacks).isZero();
    assertThat(logged(INSTEAD)).isEmpty();
  }

  /** Asserts that S3A's client has read it all, and that one line of that level says why. */
  void readsByS3As(byte[] content, String level, String reason, int counted) {
    assertThat(isContent(content)).as("%s", this).isTrue();
    assertThat(fileSystem).contains(" by s3a,");
    assertThat(fallbacks).isEqualTo(counted);
    assertThat(logged(INSTEAD)).hasSize(1);
    assertThat(logged(INSTEAD).get(0)).contains(level).contains(reason);
  }
}
