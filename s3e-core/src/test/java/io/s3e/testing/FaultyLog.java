// SPDX-License-Identifier: Apache-2.0
package io.s3e.testing;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The log of slf4j-simple while this is open: lines with certain words hang or throw, as on a disk
 * that is dead or full, and the others are lost.
 */
public final class FaultyLog implements AutoCloseable {
  private final PrintStream before = System.err;
  private final CountDownLatch met = new CountDownLatch(1);
  private final CountDownLatch end = new CountDownLatch(1);

  /**
   * @param hangs whether it hangs, until this is closed, and does not throw
   */
  public FaultyLog(String words, boolean hangs) {
    System.setErr(
        new PrintStream(OutputStream.nullOutputStream()) {
          @Override
          public void println(String line) {
            if (line.contains(words)) {
              met.countDown();
              if (!hangs) {
                throw new IllegalStateException("a log that fails");
              }
              boolean unused = within(end);
            }
          }
        });
  }

  /** Waits until such a line is logged; false if none is. */
  public boolean awaitMet() {
    return within(met);
  }

  private static boolean within(CountDownLatch latch) {
    try {
      return latch.await(60, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }

  @Override
  public void close() {
    end.countDown();
    System.setErr(before);
  }
}
