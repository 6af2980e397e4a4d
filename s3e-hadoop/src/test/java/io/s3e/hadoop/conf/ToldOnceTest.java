// SPDX-License-Identifier: Apache-2.0
package io.s3e.hadoop.conf;

import static org.assertj.core.api.Assertions.assertThat;

import io.s3e.testing.CapturedLog;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class ToldOnceTest {
  @Test
  void whatWasToldIsForTheDebugLog() {
    // Of this run: a run that is repeated has the same JVM.
    String name = "ToldOnceTest" + System.nanoTime();
    String level = "org.slf4j.simpleLogger.log." + name;
    System.setProperty(level, "debug");
    try (CapturedLog log = new CapturedLog()) {
      Logger logger = LoggerFactory.getLogger(name);
      for (int i = 0; i < 2; i++) {
        ToldOnce.warn(logger, "{} is told", name);
        ToldOnce.info(logger, "{} is said", name);
      }
      assertThat(log.lines("WARN")).hasSize(1);
      assertThat(log.lines("INFO")).hasSize(1);
      assertThat(log.lines("DEBUG")).hasSize(2);
      assertThat(log.lines(name + " is told")).hasSize(2);
    } finally {
      System.clearProperty(level);
    }
  }
}
